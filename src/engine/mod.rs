//! The embedded shard: a data engine that runs one request at a time on its own data.
//!
//! It is synchronous, has no lock and no clock (each request brings the time), and answers byte for byte what
//! redis-server 7.0 answers, in the protocol version that the request came in. Commands are rows of `commands`;
//! `db` and `table` hold the data; one file for each kind of command around them.
//!
//! What it never does: connection state (HELLO, AUTH, SELECT, MULTI are the proxy's), I/O, or work without a bound
//! between two requests: growth is a page at a time, and the sweep for expired keys is given a budget.

mod args;
mod big;
mod bits;
mod commands;
mod counters;
mod db;
mod entry;
mod expiry;
mod float;
pub mod glob;
mod group;
mod info;
mod keys;
mod lcs;
mod object;
mod page;
mod scan;
mod server;
mod set;
mod strings;
mod table;

use crate::command::lookup::{self, Found};
use crate::command::{Spec, errors};
use crate::resp::request::Args;
use crate::resp::{Proto, write};
use commands::Commands;
use db::{Budget, Db};
use entry::Entry;
pub use group::Group;

/// Number of databases, Redis's default.
pub const DATABASES: u16 = 16;

/// One request as a command sees it. The name is argument 0.
#[derive(Clone, Copy)]
struct Request<'a> {
    proto: Proto,
    db: usize,
    args: Args<'a>,
    /// Unix milliseconds.
    now: i64,
}

/// Why a command was not run; written as an error reply. Nothing was written or changed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Text(&'static str),
    /// `wrong number of arguments`, naming the command.
    Arity,
    /// `invalid expire time`, naming the command.
    ExpireTime,
}

type Outcome = Result<(), Refusal>;
type Run = fn(&mut Engine, &Request<'_>, &mut Vec<u8>) -> Outcome;

#[derive(Default)]
struct Stats {
    commands: u64,
    hits: u64,
    misses: u64,
}

/// One shard's data and what its commands need.
pub struct Engine {
    dbs: Vec<Db>,
    commands: Commands,
    stats: Stats,
    rng: fastrand::Rng,
    seed: u64,
}

impl Engine {
    /// `seed` keys the hash tables: it must be one that clients can't guess.
    pub fn new(seed: u64) -> Engine {
        Engine {
            dbs: (0..DATABASES).map(|_| Db::new(seed)).collect(),
            commands: Commands::new(),
            stats: Stats::default(),
            rng: fastrand::Rng::with_seed(seed),
            seed,
        }
    }

    /// Runs one request on database `db` and appends its reply to `out`.
    #[inline]
    pub fn execute(&mut self, proto: Proto, db: u16, args: Args<'_>, now_ms: u64, out: &mut Vec<u8>) {
        assert!(db < DATABASES, "the proxy checks SELECT's argument");
        self.stats.commands += 1;
        let (spec, id) = match lookup::find(args) {
            Found::Command(spec, id) => (spec, id),
            unknown => return write_unknown(out, unknown, args),
        };
        if !spec.arity_ok(args.len()) {
            return write_refusal(out, Refusal::Arity, spec);
        }
        let Some(run) = self.commands.run(id) else {
            return commands::refuse(spec, out);
        };
        let request = Request { proto, db: usize::from(db), args, now: now_ms as i64 };
        if let Err(refusal) = run(self, &request, out) {
            write_refusal(out, refusal, spec);
        }
    }

    /// Removes keys whose time is over, within a budget of pages looked at (a key removed counts as eight); how many.
    /// Goes on where the last call stopped.
    pub fn expire_some(&mut self, now_ms: u64, budget: usize) -> usize {
        let mut budget = Budget(budget);
        let sweep = |db: &mut Db| db.expire_some(now_ms as i64, &mut budget);
        self.dbs.iter_mut().map(sweep).sum()
    }

    /// Whether any key has a deadline, and so whether the sweep has anything to look for.
    pub fn any_volatile(&self) -> bool {
        self.dbs.iter().any(|db| db.volatile() > 0)
    }

    /// Keys in all databases, expired ones that were not yet removed included.
    pub fn keys(&self) -> usize {
        self.dbs.iter().map(Db::len).sum()
    }

    /// Bytes that the data takes.
    pub fn memory_bytes(&self) -> usize {
        self.dbs.iter().map(Db::memory_bytes).sum()
    }

    /// Requests executed so far.
    pub fn commands(&self) -> u64 {
        self.stats.commands
    }

    /// A key for reading, counted as a hit or a miss.
    #[inline]
    fn read(&mut self, request: &Request<'_>, key: &[u8]) -> Option<&Entry> {
        let found = self.dbs[request.db].read(key, request.now);
        match found {
            Some(_) => self.stats.hits += 1,
            None => self.stats.misses += 1,
        }
        found
    }

    #[inline]
    fn db(&mut self, request: &Request<'_>) -> &mut Db {
        &mut self.dbs[request.db]
    }
}

#[cold]
fn write_unknown(out: &mut Vec<u8>, found: Found, args: Args<'_>) {
    let text = match found {
        Found::UnknownSubcommand(container) => errors::unknown_subcommand(container, args),
        _ => errors::unknown_command(args),
    };
    write::error_bytes(out, &text);
}

#[cold]
fn write_refusal(out: &mut Vec<u8>, refusal: Refusal, spec: &Spec) {
    match refusal {
        Refusal::Text(text) => write::error(out, text),
        Refusal::Arity => write::error(out, &errors::wrong_arity(spec)),
        Refusal::ExpireTime => {
            write::error(out, &format!("ERR invalid expire time in '{}' command", spec.name));
        }
    }
}

/// Runs requests in tests: words in, reply out.
#[cfg(test)]
mod testing {
    use super::Engine;
    use crate::resp::Proto;
    use crate::resp::request::{Decoded, Decoder};
    use crate::resp::write;

    pub struct Shard {
        pub engine: Engine,
        pub now_ms: u64,
        pub proto: Proto,
    }

    impl Shard {
        pub fn new() -> Shard {
            Shard { engine: Engine::new(1), now_ms: 1_700_000_000_000, proto: Proto::Resp2 }
        }

        pub fn words(&mut self, words: &[&[u8]]) -> String {
            let mut frame = Vec::new();
            write::request(&mut frame, words);
            let mut decoder = Decoder::default();
            let found = decoder.next(&frame, true);
            assert!(matches!(found, Ok(Decoded::Request { .. })));
            let mut out = Vec::new();
            let args = decoder.args(&frame);
            self.engine.execute(self.proto, 0, args, self.now_ms, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }

        /// A request written as words between blanks.
        pub fn run(&mut self, line: &str) -> String {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            self.words(&words)
        }
    }
}
