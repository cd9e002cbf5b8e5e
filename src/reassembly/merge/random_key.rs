//! RANDOMKEY over all shards: every key as likely as on one server.
//!
//! A shard is chosen by its number of keys, and its own RANDOMKEY is the answer. A shard whose keys have all expired
//! since it counted them has none to give: it is left out, so null means that no shard has a key.

use super::{Misfit, Part, integer};
use crate::resp::{Proto, value, write};
use crate::slot::ShardId;

pub(super) fn choose(random: u64, parts: &[Part], proto: Proto, out: &mut Vec<u8>) -> Result<(), Misfit> {
    let keys: Vec<(u64, &[u8])> = candidates(parts)?;
    let total: u64 = keys.iter().map(|(count, _)| count).sum();
    let Some(mut left) = random.checked_rem(total) else {
        write::null(out, proto);
        return Ok(());
    };
    for (count, key) in keys {
        if left < count {
            out.extend_from_slice(key);
            break;
        }
        left -= count;
    }
    Ok(())
}

/// How many keys each shard has, and one of them; shards without are left out.
fn candidates(parts: &[Part]) -> Result<Vec<(u64, &[u8])>, Misfit> {
    let mut sizes: Vec<(ShardId, u64)> = Vec::new();
    let mut found: Vec<(ShardId, &[u8])> = Vec::new();
    for part in parts {
        match part.reply.as_slice() {
            b"$-1\r\n" | b"_\r\n" => {}
            reply if integer(reply).is_some_and(|n| n >= 0) => {
                sizes.push((part.shard, integer(reply).map_or(0, i64::unsigned_abs)));
            }
            reply if reply.starts_with(b"$") && value::skip(reply) == Ok(Some(reply.len())) => {
                found.push((part.shard, reply));
            }
            _ => return Err(Misfit(part.shard)),
        }
    }
    // A key that came after its shard had counted none still counts as one.
    let size =
        |shard| sizes.iter().find(|(of, _)| *of == shard).map_or(1, |(_, n)| (*n).clamp(1, u32::MAX.into()));
    Ok(found.into_iter().map(|(shard, key)| (size(shard), key)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<Part> {
        [(0, ":1\r\n"), (0, "$1\r\na\r\n"), (1, ":0\r\n"), (1, "$-1\r\n"), (2, ":3\r\n"), (2, "$1\r\nc\r\n")]
            .iter()
            .map(|&(shard, reply)| Part { shard: ShardId(shard), reply: reply.into() })
            .collect()
    }

    #[test]
    fn shards_are_chosen_by_their_number_of_keys() {
        let mut got = String::new();
        for random in 0..8 {
            let mut out = Vec::new();
            choose(random, &parts(), Proto::Resp2, &mut out).unwrap();
            got.push(out[4] as char);
        }
        assert_eq!(got, "acccaccc");
    }

    #[test]
    fn no_keys_anywhere_is_null() {
        let mut out = Vec::new();
        choose(7, &parts()[2..4], Proto::Resp3, &mut out).unwrap();
        assert_eq!(out, b"_\r\n");
    }
}
