//! The client side: accepting, reading, answering.
//!
//! `accept` brings connections to workers; `connection` is one client's socket; `conversation` is the straight line
//! from its bytes to its shards; `local` is what onetrip answers itself, `fanout` what is asked of every shard.

pub mod accept;
pub mod budget;
pub mod connection;
pub mod conversation;
pub mod directory;
mod fanout;
pub mod local;
pub mod world;
