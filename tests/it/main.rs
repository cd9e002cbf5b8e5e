//! The integration tests: one binary, one harness, every test against real processes.
//!
//! A test starts the servers that it needs (`harness`), drives onetrip over sockets as any client would, and ends
//! them again. Nothing here reaches into the proxy: what a test can't see from outside, it doesn't judge. Random
//! tests print their seed when they fail; `ONETRIP_TEST_SEED` replays it, `ONETRIP_TEST_ALL=1` makes them longer.
//! Tests that measure time or memory run alone (`harness::turn`), the others side by side.

mod bad_input;
mod benchmark_tool;
mod bounds;
mod client_libraries;
mod command_line;
mod command_table;
mod counters;
mod differential;
mod doors;
mod harness;
mod innocent_waits;
mod layers;
mod memory_budget;
mod pipelines;
mod routing;
mod session_input;
mod shard_loss;
