//! What the client is told when a part is an error, or no reply to this command at all.
//!
//! Owns the wording. The one rule that must hold: when a shard has done its part, or may have, the line begins with
//! `ERR`, whatever the other shard's code was. `TRYAGAIN` and `LOADING` make clients send the whole again.

use super::{Merge, Part};
use crate::resp::write;
use crate::slot::ShardId;

/// A reply that the command can't have given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Misfit(pub ShardId);

impl Misfit {
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let shard = self.0;
        write::error(out, &format!("ERR onetrip: shard {shard}: its reply is not one to this command"));
    }
}

/// The error line of a part that is one, without its `-`.
pub(super) fn text(reply: &[u8]) -> Option<&[u8]> {
    let line = reply.strip_prefix(b"-")?;
    Some(line.strip_suffix(b"\r\n").unwrap_or(line))
}

/// The one error for parts of which at least one is an error.
pub(super) fn write(how: &Merge, parts: &[Part], out: &mut Vec<u8>) {
    let failed: Vec<_> = parts.iter().filter_map(|part| Some((part, text(&part.reply)?))).collect();
    let done = failed.len() < parts.len();
    let unknown = failed.iter().any(|(_, text)| is_unknown(text));
    if !done && !unknown && same(&failed) {
        // What every shard says alike is what one server would have said.
        return write::error_bytes(out, failed[0].1);
    }
    let Some((part, first)) = failed.iter().find(|(_, text)| is_unknown(text)).or(failed.first()) else {
        return;
    };
    if how.changes() && parts.len() > 1 && (done || unknown) {
        write::error_bytes(out, &partly(parts, first));
    } else {
        write::error_bytes(out, &named(part.shard, first));
    }
}

fn same(failed: &[(&Part, &[u8])]) -> bool {
    failed.windows(2).all(|pair| pair[0].1 == pair[1].1)
}

fn is_unknown(text: &[u8]) -> bool {
    text.starts_with(b"ERR onetrip: outcome unknown")
}

/// A shard's error with the shard named behind its code; our own texts name it already.
fn named(shard: ShardId, text: &[u8]) -> Vec<u8> {
    let (code, rest) = split_code(text);
    if rest.starts_with(b"onetrip: ") {
        return text.to_vec();
    }
    [code, format!(" onetrip: shard {shard}: ").as_bytes(), rest].concat()
}

/// Which shards have done their part and which have not, and one of the reasons.
fn partly(parts: &[Part], reason: &[u8]) -> Vec<u8> {
    let mut groups: [(&str, Vec<String>); 3] =
        [("done by", Vec::new()), ("not by", Vec::new()), ("unknown of", Vec::new())];
    for part in parts {
        let group = match text(&part.reply) {
            None => 0,
            Some(text) if is_unknown(text) => 2,
            Some(_) => 1,
        };
        groups[group].1.push(part.shard.to_string());
    }
    let lists: Vec<_> = groups
        .iter()
        .filter(|(_, shards)| !shards.is_empty())
        .map(|(what, shards)| {
            let plural = if shards.len() > 1 { "s" } else { "" };
            format!("{what} shard{plural} {}", shards.join(", "))
        })
        .collect();
    let (code, rest) = split_code(reason);
    let reason = if code == b"ERR" { rest } else { reason };
    [b"ERR onetrip: ", lists.join(", ").as_bytes(), b": ", reason].concat()
}

/// The code in capitals that an error begins with, `ERR` where it has none, and the rest.
fn split_code(text: &[u8]) -> (&[u8], &[u8]) {
    let len = text.iter().take_while(|b| b.is_ascii_uppercase()).count();
    match text.get(len) {
        Some(b' ') if len > 0 => (&text[..len], &text[len + 1..]),
        _ => (b"ERR", text),
    }
}
