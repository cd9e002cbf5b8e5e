//! A few requests decoded ahead of their execution, so that their keys' memory is on its way when they are run.
//!
//! With more keys than the processor's caches hold, a command is mostly waiting: for the page, for the entry, for
//! the key and value, one after the other. Looking at the keys of many requests in a row lets those waits overlap.
//! It is only a look: nothing is decided by it, for the requests before may change everything.

use super::Engine;
use super::table::Depth;
use crate::resp::request::{Args, Decoded, Decoder, Fault};

/// Requests decoded ahead: enough to keep the memory busy, few enough to be still in the nearest cache.
const AHEAD: usize = 16;
/// Databases with fewer keys are in the caches anyway.
const KEYS_WORTH_IT: usize = 2048;

/// Whole requests at the front of some bytes.
pub struct Group {
    decoders: [Decoder; AHEAD],
    starts: [usize; AHEAD],
    len: usize,
}

impl Default for Group {
    fn default() -> Group {
        Group { decoders: std::array::from_fn(|_| Decoder::default()), starts: [0; AHEAD], len: 0 }
    }
}

impl Group {
    /// Decodes requests at the front of `bytes`, which must hold whole ones only; how many bytes they take.
    pub fn decode(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut at = 0;
        self.len = 0;
        while at < bytes.len() && self.len < AHEAD {
            match self.decoders[self.len].next(&bytes[at..], true)? {
                Decoded::Request { consumed } => {
                    self.starts[self.len] = at;
                    self.len += 1;
                    at += consumed;
                }
                Decoded::Nothing { consumed } => at += consumed,
                Decoded::Incomplete { .. } => unreachable!("only whole requests are handed over"),
            }
        }
        Ok(at)
    }

    /// The decoded requests; `bytes` are those that were decoded.
    #[inline]
    pub fn requests<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = Args<'a>> {
        let decoders = self.decoders[..self.len].iter();
        decoders.zip(&self.starts).map(|(decoder, &start)| decoder.args(&bytes[start..]))
    }
}

impl Engine {
    /// Looks at the keys of requests that are about to be executed on database `db`.
    pub fn look_ahead(&self, db: u16, group: &Group, bytes: &[u8]) {
        let table = self.dbs[usize::from(db)].table();
        if table.len() < KEYS_WORTH_IT {
            return;
        }
        let mut hashes = [0; AHEAD];
        for (hash, args) in hashes.iter_mut().zip(group.requests(bytes)) {
            // Nearly every command has its key there; for the others this is a look in vain.
            *hash = table.hash(args.get(1).unwrap_or_default());
        }
        let hashes = &hashes[..group.len];
        // In three rounds, because each address is known only when the one before was read.
        let mut seen = 0;
        for depth in [Depth::Page, Depth::Entry, Depth::Block] {
            seen ^= hashes.iter().fold(0, |seen, &hash| seen ^ table.glance(hash, depth));
        }
        std::hint::black_box(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::write;

    #[test]
    fn groups_take_all_requests_in_order() {
        let mut bytes = Vec::new();
        for i in 0..40 {
            write::request(&mut bytes, &["GET".to_string(), format!("key:{i}")]);
        }
        let mut group = Group::default();
        let (mut at, mut keys) = (0, Vec::new());
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += group.decode(rest).unwrap();
            keys.extend(group.requests(rest).map(|args| args.at(1).to_vec()));
        }
        assert_eq!(keys, (0..40).map(|i| format!("key:{i}").into_bytes()).collect::<Vec<_>>());
    }
}
