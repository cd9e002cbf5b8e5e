//! temporary
use crate::command::FanOut;
use crate::reassembly::merge::Merge;
use crate::resp::request::Args;
use crate::slot::ShardId;
use crate::topology::SlotMap;
pub fn requests(how: FanOut, args: Args<'_>, map: &SlotMap) -> Result<(Merge, Vec<(ShardId, Vec<u8>)>), String> {
    let merge = match how { FanOut::Sum => Merge::Sum, FanOut::AllSucceeded => Merge::AllSucceeded, FanOut::Concat => Merge::Concat, _ => return Err("ERR later".into()) };
    Ok((merge, (0..map.shards()).map(|s| (ShardId(s), args.frame().to_vec())).collect()))
}
