//! Backends that onetrip itself runs.
//!
//! `engines` is the embedded kind: one thread a shard in this process. What serves clients never reaches in here:
//! it holds a lane to a shard, whoever runs it.

pub mod engines;
