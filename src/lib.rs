//! onetrip: many single-threaded Redis instances behind one address, with the fewest round trips.
//!
//! The modules, read downwards, are the life of a command: `client` reads bytes, `resp` finds requests in them,
//! `command` says what each is, `session` what this client may send, `plan` where it goes, `lane` takes it to a
//! shard and brings the reply, `reassembly` hands replies on in the order asked. ARCHITECTURE.md has the whole picture.

pub mod address;
pub mod admin;
pub mod banner;
pub mod buffers;
pub mod cli;
pub mod client;
pub mod clock;
pub mod command;
pub mod config;
pub mod control;
pub mod engine;
pub mod instances;
pub mod lane;
pub mod limits;
pub mod mailbox;
pub mod metrics;
pub mod plan;
pub mod proxy;
pub mod reassembly;
pub mod resp;
pub mod session;
pub mod slot;
pub mod socket;
pub mod topology;
pub mod trip;
pub mod turn;
pub mod worker;
