//! The configuration: a `Config` that exists is valid.
//!
//! ```text
//!   args (what was typed) ─┐
//!   environment ───────────┼─► sources (one value per key) ─► check (what it means) ─► Config, or every fault
//!   file (what was written)┘
//! ```
//!
//! Nothing behind this door checks a value again, and nothing here opens a socket or starts anything. Passwords are
//! `Secret`s from the moment they are read: no fault, log or debug print shows them.

pub mod args;
mod check;
mod fault;
mod file;
mod secrets;
mod shards;
mod sources;

pub use check::load;
pub use fault::{Fault, Faults};

use crate::address::{Address, Secret, Target};
use crate::limits::{Limits, Timeouts};
use std::time::Duration;

/// Exit code for a configuration with faults (EX_USAGE of sysexits.h).
pub const EXIT_FAULTS: u8 = 64;

/// The reference configuration: every key of this version with its default.
pub const REFERENCE: &str = include_str!("../../config/onetrip.toml");

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub proxy: Proxy,
    pub shards: Shards,
    pub timeouts: Timeouts,
    pub limits: Limits,
    pub log_format: LogFormat,
    /// Where metrics, health and the page are; `None` where they were turned off.
    pub admin: Option<Address>,
}

/// The clients' side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// One or more, all different.
    pub listen: Vec<Address>,
    /// One or more.
    pub workers: usize,
    /// `None`: no keep-alive probes.
    pub tcp_keepalive: Option<Duration>,
    /// `None`: idle clients are kept.
    pub idle_timeout: Option<Duration>,
    /// What clients must give before anything else; `None`: nothing.
    pub password: Option<Secret>,
}

/// The shards' side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    pub kind: Kind,
    /// The server version told to clients; `None`: the lowest of the shards'.
    pub report_version: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Engine threads of this process, one or more.
    Embedded { count: usize },
    /// Servers that somebody else runs, in shard order; one or more, all different.
    Standalone { targets: Vec<Target> },
}

impl Shards {
    pub fn count(&self) -> usize {
        match &self.kind {
            Kind::Embedded { count } => *count,
            Kind::Standalone { targets } => targets.len(),
        }
    }

    /// What people call the shards, in order. No password is in it.
    pub fn names(&self) -> Vec<String> {
        match &self.kind {
            Kind::Embedded { count } => vec!["embedded".to_owned(); *count],
            Kind::Standalone { targets } => targets.iter().map(|t| t.address.to_string()).collect(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

impl Config {
    /// What is allowed, and worth a second thought.
    pub fn warnings(&self) -> Vec<String> {
        let open = |address: &&Address| self.proxy.password.is_none() && !address.is_local();
        let open = self.proxy.listen.iter().find(open).map(|address| {
            format!(
                "{address} is reachable from other machines and asks for no password: set one in [[user]]"
            )
        });
        open.into_iter().collect()
    }
}
