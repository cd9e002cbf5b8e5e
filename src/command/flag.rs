//! The server's words for what a command is and what it does with its keys, as bits.
//!
//! Owns the names that COMMAND reports and their order. The bits are plain numbers, so that a row of the table can
//! join them in a constant; [`Flags`] is what the rest of the program asks.

/// What a command is: the flags of COMMAND, two of its tips, and whether it has subcommands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u32);

pub const WRITE: u32 = 1 << 0;
pub const READONLY: u32 = 1 << 1;
pub const DENYOOM: u32 = 1 << 2;
pub const MODULE: u32 = 1 << 3;
pub const ADMIN: u32 = 1 << 4;
pub const PUBSUB: u32 = 1 << 5;
pub const NOSCRIPT: u32 = 1 << 6;
pub const BLOCKING: u32 = 1 << 7;
pub const LOADING: u32 = 1 << 8;
pub const STALE: u32 = 1 << 9;
pub const SKIP_MONITOR: u32 = 1 << 10;
pub const SKIP_SLOWLOG: u32 = 1 << 11;
pub const ASKING: u32 = 1 << 12;
pub const FAST: u32 = 1 << 13;
pub const NO_AUTH: u32 = 1 << 14;
pub const NO_ASYNC_LOADING: u32 = 1 << 15;
pub const NO_MULTI: u32 = 1 << 16;
pub const ALLOW_BUSY: u32 = 1 << 17;
pub const NO_MANDATORY_KEYS: u32 = 1 << 18;
/// The legacy key range does not tell all keys; set from the key specs.
pub const MOVABLEKEYS: u32 = 1 << 19;
/// Has subcommands; not a flag of the server's.
pub const CONTAINER: u32 = 1 << 20;
/// A tip: two servers with the same data may answer differently.
pub const NONDETERMINISTIC_OUTPUT: u32 = 1 << 21;
/// A tip: the same elements, in no certain order.
pub const NONDETERMINISTIC_OUTPUT_ORDER: u32 = 1 << 22;

/// The server's names of the flags, in the order of its replies.
const NAMES: [(u32, &str); 20] = [
    (WRITE, "write"),
    (READONLY, "readonly"),
    (DENYOOM, "denyoom"),
    (MODULE, "module"),
    (ADMIN, "admin"),
    (PUBSUB, "pubsub"),
    (NOSCRIPT, "noscript"),
    (BLOCKING, "blocking"),
    (LOADING, "loading"),
    (STALE, "stale"),
    (SKIP_MONITOR, "skip_monitor"),
    (SKIP_SLOWLOG, "skip_slowlog"),
    (ASKING, "asking"),
    (FAST, "fast"),
    (NO_AUTH, "no_auth"),
    (NO_ASYNC_LOADING, "no_async_loading"),
    (NO_MULTI, "no_multi"),
    (ALLOW_BUSY, "allow_busy"),
    (NO_MANDATORY_KEYS, "no_mandatory_keys"),
    (MOVABLEKEYS, "movablekeys"),
];

impl Flags {
    #[inline]
    pub const fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }

    /// As COMMAND writes them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(move |(bit, _)| self.has(*bit)).map(|&(_, name)| name)
    }
}

/// Reads the key's value or metadata only.
pub const RO: u16 = 1 << 0;
/// Changes the value.
pub const RW: u16 = 1 << 1;
/// Writes it whatever it was.
pub const OW: u16 = 1 << 2;
/// Removes the key.
pub const RM: u16 = 1 << 3;
/// Returns or copies the user's data.
pub const ACCESS: u16 = 1 << 4;
pub const UPDATE: u16 = 1 << 5;
pub const INSERT: u16 = 1 << 6;
pub const DELETE: u16 = 1 << 7;
/// Routed like a key, but it is a channel or a cursor.
pub const NOT_KEY: u16 = 1 << 8;
/// The spec may miss keys: a [`super::Finder`] knows them.
pub const INCOMPLETE: u16 = 1 << 9;
/// What happens to the key depends on the other arguments.
pub const VARIABLE: u16 = 1 << 10;

const ACCESS_NAMES: [(u16, &str); 11] = [
    (RO, "RO"),
    (RW, "RW"),
    (OW, "OW"),
    (RM, "RM"),
    (ACCESS, "access"),
    (UPDATE, "update"),
    (INSERT, "insert"),
    (DELETE, "delete"),
    (NOT_KEY, "not_key"),
    (INCOMPLETE, "incomplete"),
    (VARIABLE, "variable_flags"),
];

/// As COMMAND writes the flags of a key spec.
pub fn access_names(access: u16) -> impl Iterator<Item = &'static str> {
    ACCESS_NAMES.iter().filter(move |(bit, _)| access & bit != 0).map(|&(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_in_the_order_of_the_server() {
        let get = Flags(FAST | READONLY | CONTAINER);
        assert_eq!(get.names().collect::<Vec<_>>(), ["readonly", "fast"]);
        let set = VARIABLE | UPDATE | ACCESS | RW;
        let names: Vec<_> = access_names(set).collect();
        assert_eq!(names, ["RW", "access", "update", "variable_flags"]);
    }
}
