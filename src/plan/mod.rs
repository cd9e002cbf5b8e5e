//! Where a request goes: one shard, several with the request cut up, or nowhere.
//!
//! Plain functions from a row, a request and a slot map to a decision. They never touch a lane or a window, and the
//! commonest request, one key at a known place, never comes here: the conversation asks [`shard_of`] and is done.

pub mod split;

use crate::command::{Begin, Spec, keys};
use crate::resp::request::Args;
use crate::slot::{ShardId, Slot};
use crate::topology::SlotMap;

/// The server's words for keys of several slots in one atomic command.
pub const CROSSSLOT: &str = "CROSSSLOT Keys in request don't hash to the same slot";

/// What becomes of a request that has to run on one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Shard(ShardId),
    CrossSlot,
    /// No key could be found in it: whatever a shard says to it is right, so any shard will do.
    Any,
}

/// The shard of one key.
#[inline]
pub fn shard_of(key: &[u8], map: &SlotMap) -> ShardId {
    map.owner(Slot::of(key))
}

/// The one shard of all keys of a request. `positions` is scratch space. With one shard there is nothing to decide:
/// what it says to a request is what a server says.
pub fn route(spec: &Spec, args: Args<'_>, map: &SlotMap, positions: &mut Vec<u32>) -> Route {
    if map.shards() == 1 {
        return Route::Any;
    }
    if keys::find(spec, args, positions).is_err() {
        return first_key(spec, args).map_or(Route::Any, |key| Route::Shard(shard_of(key, map)));
    }
    let mut slots = positions.iter().map(|&at| Slot::of(args.at(at as usize)));
    let Some(first) = slots.next() else { return Route::Any };
    match slots.all(|slot| slot == first) {
        true => Route::Shard(map.owner(first)),
        false => Route::CrossSlot,
    }
}

/// The key at a fixed place, for a request whose other keys are missing: nearly all such requests are refused
/// wherever they go, but PFMERGE with no source writes its one key.
fn first_key<'a>(spec: &Spec, args: Args<'a>) -> Option<&'a [u8]> {
    match spec.keys.first()?.begin {
        Begin::Index(at) => args.get(usize::try_from(at).ok()?),
        _ => None,
    }
}
