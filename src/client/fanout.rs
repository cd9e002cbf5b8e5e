//! Commands over all shards: which shard is sent what, and how the replies become one.
//!
//! Plain functions from a request to one request per shard and a [`Merge`]. SCAN is the odd one: it goes to one shard
//! after the other, by a cursor that names the shard.

use super::world::World;
use crate::command::FanOut;
use crate::reassembly::merge::Merge;
use crate::reassembly::merge::info::Sections;
use crate::reassembly::merge::scan_cursor::{Cursor, INVALID};
use crate::resp::request::Args;
use crate::resp::write;
use crate::slot::ShardId;

/// What is sent where, and how the replies are put together.
pub struct FannedOut {
    pub how: Merge,
    pub requests: Vec<(ShardId, Vec<u8>)>,
}

/// `Err` is an error line without its `-`: nothing is sent.
pub fn plan(how: FanOut, args: Args<'_>, world: &World) -> Result<FannedOut, &'static str> {
    let shards = world.map.shards();
    let to_all = |how| Ok(FannedOut { how, requests: each(shards, args.frame()) });
    match how {
        FanOut::Sum => to_all(Merge::Sum { writes: false }),
        FanOut::AllSucceeded => to_all(Merge::AllSucceeded),
        FanOut::Concat => to_all(Merge::Concat),
        FanOut::Info => to_all(Merge::Info { sections: Sections::of(args), own: Box::new(world.own_now()) }),
        FanOut::Config => to_all(Merge::Config { table: world.facts.settings.asked(args) }),
        FanOut::Scan => scan(args, shards),
        FanOut::RandomKey => Ok(random_key(args, shards)),
    }
}

fn each(shards: u16, request: &[u8]) -> Vec<(ShardId, Vec<u8>)> {
    (0..shards).map(|shard| (ShardId(shard), request.to_vec())).collect()
}

/// One step of a scan, at the shard that the cursor names.
fn scan(args: Args<'_>, shards: u16) -> Result<FannedOut, &'static str> {
    let cursor = Cursor::decode(args.at(1), shards).ok_or(INVALID)?;
    let server = cursor.server.to_string();
    let mut request = Vec::with_capacity(args.frame().len() + 20);
    write::array(&mut request, args.len());
    for (i, arg) in args.iter().enumerate() {
        write::bulk(&mut request, if i == 1 { server.as_bytes() } else { arg });
    }
    Ok(FannedOut { how: Merge::Scan { shards }, requests: vec![(cursor.shard, request)] })
}

/// Asks every shard for its number of keys and for a key, so that one of all keys can be chosen in one trip.
fn random_key(args: Args<'_>, shards: u16) -> FannedOut {
    let mut count = Vec::new();
    write::request(&mut count, &["DBSIZE"]);
    let both = |shard| [(ShardId(shard), count.clone()), (ShardId(shard), args.frame().to_vec())];
    FannedOut {
        how: Merge::RandomKey { random: fastrand::u64(..) },
        requests: (0..shards).flat_map(both).collect(),
    }
}
