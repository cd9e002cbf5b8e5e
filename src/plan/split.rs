//! Cutting a request with many keys into one request per shard.
//!
//! DEL, EXISTS, TOUCH, UNLINK, MGET and MSET need no common slot: each shard gets one request with the keys (or
//! pairs) that are its own, in the order asked. A request whose keys all live on one shard is not cut, so that it
//! passes as the bytes that it is.

use super::shard_of;
use crate::command::Split;
use crate::resp::request::Args;
use crate::resp::write;
use crate::slot::ShardId;
use crate::topology::SlotMap;

/// How a request was cut.
#[derive(Debug, PartialEq, Eq)]
pub enum Cut {
    /// All of it belongs to this shard.
    Whole(ShardId),
    Parts(Parts),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Parts {
    /// The shards concerned, ascending, each with its request.
    pub requests: Vec<(ShardId, Vec<u8>)>,
    /// For each key, in the order asked, the index of the part that it went to.
    pub order: Vec<u16>,
}

/// Cuts a request with the keys `args[1..]`, or pairs where `kind` is [`Split::Pairs`]. A pair without its value is
/// left whole: the shard says what is wrong with it.
pub fn split(kind: Split, args: Args<'_>, map: &SlotMap) -> Cut {
    let step = if kind == Split::Pairs { 2 } else { 1 };
    let first = shard_of(args.at(1), map);
    let shards: Vec<ShardId> = (1..args.len()).step_by(step).map(|at| shard_of(args.at(at), map)).collect();
    if !(args.len() - 1).is_multiple_of(step) || shards.iter().all(|&shard| shard == first) {
        return Cut::Whole(first);
    }
    let mut counts = vec![0usize; map.shards() as usize];
    for shard in &shards {
        counts[shard.index()] += 1;
    }
    let (mut part_of, mut requests) = (vec![0u16; counts.len()], Vec::new());
    for (shard, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        part_of[shard] = requests.len() as u16;
        let mut request = Vec::with_capacity(args.frame().len() * count / shards.len() + 64);
        write::array(&mut request, 1 + count * step);
        write::bulk(&mut request, args.at(0));
        requests.push((ShardId(shard as u16), request));
    }
    for (i, shard) in shards.iter().enumerate() {
        let request = &mut requests[part_of[shard.index()] as usize].1;
        for at in 0..step {
            write::bulk(request, args.at(1 + i * step + at));
        }
    }
    let order = shards.iter().map(|shard| part_of[shard.index()]).collect();
    Cut::Parts(Parts { requests, order })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::request::{Decoded, Decoder};
    use crate::slot::Slot;

    fn cut(words: &[&str], kind: Split, shards: u16) -> Cut {
        let mut frame = Vec::new();
        write::request(&mut frame, words);
        let mut decoder = Decoder::default();
        assert_eq!(decoder.next(&frame, true), Ok(Decoded::Request { consumed: frame.len() }));
        split(kind, decoder.args(&frame), &SlotMap::even(shards))
    }

    #[test]
    fn every_key_goes_to_its_own_shard_in_the_order_asked() {
        let keys: Vec<String> = (0..50).map(|i| format!("key:{i}")).collect();
        let words: Vec<&str> = std::iter::once("MGET").chain(keys.iter().map(String::as_str)).collect();
        let Cut::Parts(parts) = cut(&words, Split::Values, 3) else { panic!("keys of several shards") };
        let map = SlotMap::even(3);
        for (i, key) in keys.iter().enumerate() {
            let shard = parts.requests[parts.order[i] as usize].0;
            assert_eq!(shard, map.owner(Slot::of(key.as_bytes())));
        }
        let mut decoder = Decoder::default();
        let mut found = 0;
        for (part, (_, request)) in parts.requests.iter().enumerate() {
            assert_eq!(decoder.next(request, true), Ok(Decoded::Request { consumed: request.len() }));
            let expected =
                keys.iter().zip(&parts.order).filter(|(_, p)| **p as usize == part).map(|(key, _)| key);
            let args = decoder.args(request);
            assert!(args.iter().skip(1).eq(expected.map(|key| key.as_bytes())));
            found += args.len() - 1;
        }
        assert_eq!(found, keys.len());
    }

    #[test]
    fn what_belongs_to_one_shard_stays_whole() {
        assert!(matches!(cut(&["DEL", "{a}1", "{a}2"], Split::Sum, 5), Cut::Whole(_)));
        assert!(matches!(cut(&["MSET", "a", "1", "b"], Split::Pairs, 5), Cut::Whole(_)));
        assert!(matches!(cut(&["MGET", "a", "b", "c"], Split::Values, 1), Cut::Whole(ShardId(0))));
    }
}
