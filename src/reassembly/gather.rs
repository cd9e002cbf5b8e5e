//! One reply that several requests to shards make together.
//!
//! Collects the parts, each in its shard's own order, and merges them when the last is complete. A part may come in
//! pieces, be taken back (its lane was lost and it is sent again) or be an error; what that means for the whole is
//! the merge's business.

use super::merge::{Merge, Part, merge};
use crate::resp::{Proto, write};
use crate::slot::ShardId;

pub struct Gather {
    how: Merge,
    proto: Proto,
    parts: Vec<Part>,
    complete: Vec<bool>,
    due: usize,
    outcome_unknown: bool,
    /// There was no room for what came, so it is not kept: the bound, bytes.
    oversize: Option<usize>,
}

impl Gather {
    /// Waits for one part from each of `shards`, in this order.
    pub fn new(how: Merge, proto: Proto, shards: impl IntoIterator<Item = ShardId>) -> Gather {
        let parts: Vec<Part> = shards.into_iter().map(|shard| Part { shard, reply: Vec::new() }).collect();
        assert!(
            !parts.is_empty() && parts.len() <= u16::MAX as usize,
            "a gather has parts, and a ticket can name them"
        );
        Gather {
            how,
            proto,
            complete: vec![false; parts.len()],
            due: parts.len(),
            parts,
            outcome_unknown: false,
            oversize: None,
        }
    }

    /// Bytes of a part, its last ones if `end`. True: that was the last part.
    pub(super) fn fill(&mut self, part: u16, bytes: &[u8], end: bool) -> bool {
        let part = part as usize;
        assert!(!self.complete[part], "a second reply to one part");
        if self.oversize.is_none() {
            self.parts[part].reply.extend_from_slice(bytes);
        }
        if end {
            self.complete[part] = true;
            self.due -= 1;
        }
        self.due == 0
    }

    /// Takes back what has come of a part; returns how many bytes that was.
    pub(super) fn retract(&mut self, part: u16) -> usize {
        assert!(!self.complete[part as usize], "a complete part stands");
        std::mem::take(&mut self.parts[part as usize].reply).len()
    }

    /// Drops what has come and what will: there is no room for it within `bound`. Returns how many bytes that frees.
    pub(super) fn give_up(&mut self, bound: usize) -> usize {
        let held = self.held();
        self.parts.iter_mut().for_each(|part| part.reply = Vec::new());
        self.oversize = Some(bound);
        held
    }

    /// Whether nothing was changed for it, so that an error in its place hides nothing that happened.
    pub(super) fn only_reads(&self) -> bool {
        !self.how.changes()
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.oversize.is_some()
    }

    pub(super) fn set_outcome_unknown(&mut self) {
        self.outcome_unknown = true;
    }

    pub(super) fn outcome_unknown(&self) -> bool {
        self.outcome_unknown
    }

    /// Bytes collected.
    pub(super) fn held(&self) -> usize {
        self.parts.iter().map(|part| part.reply.len()).sum()
    }

    pub(super) fn merged(self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(bound) = self.oversize {
            let text = format!(
                "ERR onetrip: no room for the parts of this reply within limits.output_hard_bytes ({bound}); ask for less at a time"
            );
            write::error(&mut out, &text);
            return out;
        }
        merge(self.how, &self.parts, self.proto, &mut out);
        out
    }
}
