//! What a row of the command table says.
//!
//! Commands are rows: nothing else in the program matches on a command's name. A row carries what the server's own
//! COMMAND says (arity, flags, key specs, request and response policy) and what onetrip does with it (`handling`). `table` is the rows, data only; `lookup` goes from a name to its row without allocation; `keys` goes
//! from a row and a request to the request's keys, `options` to what only its options tell; `acl` names the
//! server's categories of commands; `errors` writes the texts for requests that fit no row.
//!
//! On the path of a request: `lookup::find`, `Spec::arity_ok`, `Spec::handling`, and for a single-key command only
//! `Spec::lone_key`, everything else by `keys::find`.

pub mod acl;
pub mod errors;
pub mod flag;
pub mod handling;
pub mod keys;
pub mod lookup;
pub mod options;
pub mod table;

pub use flag::Flags;
pub use handling::{FanOut, Handling, InMulti, Local, Missing, Refusal, ReplyPolicy, RequestPolicy, Split};

/// Position of a row in the table: small enough to travel with every reply that is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpecId(pub u16);

impl SpecId {
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The row; panics on a number that no lookup gave.
    #[inline]
    pub fn spec(self) -> &'static Spec {
        &table::ROWS[self.index()]
    }
}

/// One command or subcommand.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Lower case; a subcommand as `container|sub`.
    pub name: &'static str,
    pub group: Group,
    /// Arguments with the name (for a subcommand with both names); negative: at least as many.
    pub arity: i16,
    pub flags: Flags,
    pub keys: &'static [KeySpec],
    /// Index of the key where the command has exactly one, always at the same place; 0 where it is not so.
    pub lone_key: u8,
    pub request: RequestPolicy,
    pub reply: ReplyPolicy,
    pub in_multi: InMulti,
    pub handling: Handling,
    /// The rule for requests whose keys the specs do not tell (SORT's STORE).
    pub finder: Finder,
    /// ACL categories in place of those that [`acl::categories`] derives.
    pub acl: Option<&'static str>,
}

impl Spec {
    /// Whether a request of `n` arguments, names counted, is long enough and not too long.
    #[inline]
    pub fn arity_ok(&self, n: usize) -> bool {
        let arity = self.arity.unsigned_abs() as usize;
        n == arity || (self.arity < 0 && n > arity)
    }

    /// May be sent twice without harm: the server only reads.
    #[inline]
    pub fn is_readonly(&self) -> bool {
        self.flags.has(flag::READONLY)
    }

    #[inline]
    pub fn is_write(&self) -> bool {
        self.flags.has(flag::WRITE)
    }

    /// Has subcommands: the second argument names the row that is meant.
    #[inline]
    pub fn is_container(&self) -> bool {
        self.flags.has(flag::CONTAINER)
    }

    /// The container's name where this is a subcommand.
    pub fn container(&self) -> Option<&'static str> {
        self.name.split_once('|').map(|(container, _)| container)
    }

    /// Whether a request of this row can name keys at all (a channel is not one).
    pub fn has_keys(&self) -> bool {
        self.keys.iter().any(|k| k.access & flag::NOT_KEY == 0)
    }

    /// first key, last key and step as COMMAND reports them for servers older than key specs.
    pub fn legacy_range(&self) -> (i16, i16, i16) {
        keys::legacy_range(self.keys)
    }
}

/// The server's own grouping of commands, as COMMAND DOCS gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    String,
    Bitmap,
    List,
    Set,
    Hash,
    SortedSet,
    Geo,
    HyperLogLog,
    Stream,
    Array,
    VectorSet,
    Generic,
    Transactions,
    Scripting,
    PubSub,
    Connection,
    Cluster,
    Server,
    /// Of a module that a server may have loaded.
    Module,
}

/// Key finders for the few commands whose key specs the server itself calls incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// The key specs tell all.
    Specs,
    /// The key specs tell all; a DB among the options names another database for the second key.
    Copy,
    /// The key, and what follows the last STORE among the options.
    Sort,
    /// The key alone: SORT_RO has no STORE.
    SortRo,
    /// One key, or an empty one and the keys after KEYS.
    Migrate,
}

/// How a server tells where keys are: begin_search and find_keys of COMMAND's key specifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    pub begin: Begin,
    pub find: Find,
    /// What the command does with these keys: bits of [`flag`], from `RO` on.
    pub access: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    Index(i16),
    /// The first argument equal to the word, from `from` on (negative: searched backwards from the end).
    Keyword(&'static str, i16),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// From the beginning to `last` (relative; negative: from the end of the arguments), every `step`-th;
    /// `limit` 2 or more: only the first 1/limit of what remains (XREAD), where `last` is −1.
    Range {
        last: i16,
        step: i16,
        limit: i16,
    },
    /// A count of keys at `at`, the first key at `first`, every `step`-th (both relative to the beginning).
    KeyNum {
        at: i16,
        first: i16,
        step: i16,
    },
    Unknown,
}
