//! COMMAND and its subcommands: the command table, told as a server tells its own.
//!
//! Everything comes from the rows, so what clients read here (arity, flags, where the keys are) is what onetrip
//! itself goes by. COMMAND DOCS says in a command's summary what onetrip does with it. Rows of modules are told
//! only to who asks for them by name: the shards may not have the module.

use super::{SYNTAX, arg, glob};
use crate::command::lookup::{self, Found};
use crate::command::{Begin, Find, Group, Handling, KeySpec, Spec, flag, keys, table};
use crate::command::{ReplyPolicy, RequestPolicy};
use crate::resp::request::{Args, Span};
use crate::resp::{Proto, write};
use bytes::BytesMut;

/// The commands that COMMAND lists: no subcommands, no modules.
fn listed() -> impl Iterator<Item = &'static Spec> {
    let own = |spec: &&Spec| spec.group != Group::Module && spec.container().is_none();
    table::ROWS.iter().filter(own)
}

fn subcommands(spec: &Spec) -> impl Iterator<Item = &'static Spec> {
    let container = spec.name;
    let of = move |row: &&Spec| row.container() == Some(container);
    table::ROWS.iter().filter(of)
}

/// The row of `get` or `client|setname`, in any case.
fn named(name: &[u8]) -> Option<&'static Spec> {
    let id = lookup::by_name(std::str::from_utf8(name).ok()?)?;
    Some(id.spec())
}

pub(super) fn all(proto: Proto, out: &mut BytesMut) {
    write::array(out, listed().count());
    for spec in listed() {
        describe(spec, proto, out);
    }
}

pub(super) fn count(out: &mut BytesMut) {
    write::integer(out, listed().count() as i64);
}

/// COMMAND INFO [name …]: null for a name that is no command's.
pub(super) fn info(args: Args<'_>, proto: Proto, out: &mut BytesMut) {
    if args.len() <= 2 {
        return all(proto, out);
    }
    write::array(out, args.len() - 2);
    for name in args.iter().skip(2) {
        match named(name) {
            Some(spec) => describe(spec, proto, out),
            None => write::null_array(out, proto),
        }
    }
}

/// COMMAND LIST [FILTERBY MODULE name | ACLCAT category | PATTERN pattern]
pub(super) fn list(args: Args<'_>, out: &mut BytesMut) {
    let by = arg(args, 3);
    let wanted = arg(args, 4);
    let filter: &dyn Fn(&Spec) -> bool = match args.len() {
        0..=2 => &|_| true,
        5 if !arg(args, 2).eq_ignore_ascii_case(b"filterby") => return write::error(out, SYNTAX),
        5 if by.eq_ignore_ascii_case(b"module") => &|_| false,
        5 if by.eq_ignore_ascii_case(b"aclcat") => {
            &|spec| categories(spec).any(|name| name.as_bytes().eq_ignore_ascii_case(wanted))
        }
        5 if by.eq_ignore_ascii_case(b"pattern") => &|spec| glob::matches(wanted, spec.name.as_bytes()),
        _ => return write::error(out, SYNTAX),
    };
    let own = |spec: &&Spec| spec.group != Group::Module && filter(spec);
    write::array(out, table::ROWS.iter().filter(own).count());
    for spec in table::ROWS.iter().filter(own) {
        write::bulk(out, spec.name.as_bytes());
    }
}

/// COMMAND DOCS [name …]: names that are no command's are left out.
pub(super) fn docs(args: Args<'_>, proto: Proto, out: &mut BytesMut) {
    let wanted: Vec<_> = match args.len() {
        0..=2 => listed().collect(),
        _ => args.iter().skip(2).filter_map(named).collect(),
    };
    document(&wanted, proto, out);
}

fn document(specs: &[&Spec], proto: Proto, out: &mut BytesMut) {
    write::map(out, proto, specs.len());
    for spec in specs {
        let subcommands: Vec<_> = subcommands(spec).collect();
        write::bulk(out, spec.name.as_bytes());
        write::map(out, proto, 2 + usize::from(!subcommands.is_empty()));
        write::bulk(out, b"summary");
        write::bulk(out, summary(spec.handling).as_bytes());
        write::bulk(out, b"group");
        write::bulk(out, group(spec.group).as_bytes());
        if !subcommands.is_empty() {
            write::bulk(out, b"subcommands");
            document(&subcommands, proto, out);
        }
    }
}

/// What onetrip does with a command, for people.
fn summary(handling: Handling) -> &'static str {
    match handling {
        Handling::Forward => "Runs on the shard that owns its keys.",
        Handling::Split(_) => "Cut by its keys: every shard concerned runs its part.",
        Handling::FanOut(_) => "Runs on every shard and gives one answer.",
        Handling::AnyShard => "Runs on one of the shards, which all answer alike.",
        Handling::Container => "Has subcommands.",
        Handling::Local(_) => "Answered by onetrip itself.",
        Handling::Missing(_) => "Not in this version of onetrip.",
        Handling::Refuse(_) => "Not passed on by onetrip.",
    }
}

fn group(group: Group) -> &'static str {
    match group {
        Group::String => "string",
        Group::Bitmap => "bitmap",
        Group::List => "list",
        Group::Set => "set",
        Group::Hash => "hash",
        Group::SortedSet => "sorted-set",
        Group::Geo => "geo",
        Group::HyperLogLog => "hyperloglog",
        Group::Stream => "stream",
        Group::Array => "array",
        Group::VectorSet | Group::Module => "module",
        Group::Generic => "generic",
        Group::Transactions => "transactions",
        Group::Scripting => "scripting",
        Group::PubSub => "pubsub",
        Group::Connection => "connection",
        Group::Cluster => "cluster",
        Group::Server => "server",
    }
}

/// The ACL categories, in the order of a server's replies.
const CATEGORIES: &[&str] = &[
    "keyspace",
    "read",
    "write",
    "set",
    "sortedset",
    "list",
    "hash",
    "string",
    "bitmap",
    "hyperloglog",
    "geo",
    "stream",
    "pubsub",
    "admin",
    "fast",
    "slow",
    "blocking",
    "dangerous",
    "connection",
    "transaction",
    "scripting",
];

/// Categories that servers add to those that follow from a row.
const BESIDES: &[(&str, &[&str])] = &[
    ("asking", &["connection"]),
    ("command", &["connection"]),
    ("dbsize", &["keyspace"]),
    ("flushall", &["keyspace", "dangerous"]),
    ("flushdb", &["keyspace", "dangerous"]),
    ("info", &["dangerous"]),
    ("keys", &["dangerous"]),
    ("lastsave", &["admin", "dangerous"]),
    ("migrate", &["dangerous"]),
    ("readonly", &["connection"]),
    ("readwrite", &["connection"]),
    ("restore", &["dangerous"]),
    ("restore-asking", &["keyspace", "dangerous"]),
    ("role", &["admin", "dangerous"]),
    ("sort", &["set", "sortedset", "list", "dangerous"]),
    ("sort_ro", &["set", "sortedset", "list", "dangerous"]),
    ("swapdb", &["keyspace", "dangerous"]),
];

fn categories(spec: &Spec) -> impl Iterator<Item = &'static str> {
    CATEGORIES.iter().copied().filter(|category| is_in(spec, category))
}

/// Whether a server puts the command into an ACL category: by its flags, its group, or by name.
fn is_in(spec: &Spec, category: &str) -> bool {
    let has = |flag: u32| spec.flags.has(flag);
    let by_flag = match category {
        "read" => has(flag::READONLY) && spec.group != Group::Scripting,
        "write" => has(flag::WRITE),
        "pubsub" => has(flag::PUBSUB),
        "admin" | "dangerous" => has(flag::ADMIN),
        "fast" => has(flag::FAST),
        "slow" => !has(flag::FAST),
        "blocking" => has(flag::BLOCKING),
        _ => !spec.is_container() && category == group_category(spec.group),
    };
    let name = spec.container().unwrap_or(spec.name);
    by_flag || BESIDES.iter().any(|(of, more)| *of == name && more.contains(&category))
}

fn group_category(of: Group) -> &'static str {
    match of {
        Group::SortedSet => "sortedset",
        Group::Generic => "keyspace",
        Group::Transactions => "transaction",
        other => group(other),
    }
}

/// One command's entry in COMMAND.
fn describe(spec: &Spec, proto: Proto, out: &mut BytesMut) {
    let (first, last, step) = spec.legacy_range();
    write::array(out, 10);
    write::bulk(out, spec.name.as_bytes());
    write::integer(out, i64::from(spec.arity));
    simple_set(out, proto, spec.flags.names().map(str::to_owned));
    write::integer(out, i64::from(first));
    write::integer(out, i64::from(last));
    write::integer(out, i64::from(step));
    simple_set(out, proto, categories(spec).map(|name| format!("@{name}")));
    let tips = tips(spec);
    write::set(out, proto, tips.len());
    for tip in tips {
        write::bulk(out, tip.as_bytes());
    }
    write::set(out, proto, spec.keys.len());
    for keys in spec.keys {
        key_spec(keys, proto, out);
    }
    write::set(out, proto, subcommands(spec).count());
    for subcommand in subcommands(spec) {
        describe(subcommand, proto, out);
    }
}

fn simple_set(out: &mut BytesMut, proto: Proto, words: impl Iterator<Item = String>) {
    let words: Vec<_> = words.collect();
    write::set(out, proto, words.len());
    for word in words {
        write::simple(out, &word);
    }
}

fn tips(spec: &Spec) -> Vec<&'static str> {
    let request = match spec.request {
        RequestPolicy::Keyed => None,
        RequestPolicy::MultiShard => Some("request_policy:multi_shard"),
        RequestPolicy::AllShards => Some("request_policy:all_shards"),
        RequestPolicy::AllNodes => Some("request_policy:all_nodes"),
        RequestPolicy::Special => Some("request_policy:special"),
    };
    let reply = match spec.reply {
        ReplyPolicy::Default | ReplyPolicy::Concat => None,
        ReplyPolicy::Sum => Some("response_policy:agg_sum"),
        ReplyPolicy::Min => Some("response_policy:agg_min"),
        ReplyPolicy::LogicalAnd => Some("response_policy:agg_logical_and"),
        ReplyPolicy::AllSucceeded => Some("response_policy:all_succeeded"),
        ReplyPolicy::OneSucceeded => Some("response_policy:one_succeeded"),
        ReplyPolicy::Special => Some("response_policy:special"),
    };
    let random = spec.flags.has(flag::NONDETERMINISTIC_OUTPUT);
    let unordered = spec.flags.has(flag::NONDETERMINISTIC_OUTPUT_ORDER);
    [
        random.then_some("nondeterministic_output"),
        unordered.then_some("nondeterministic_output_order"),
        request,
        reply,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn key_spec(keys: &KeySpec, proto: Proto, out: &mut BytesMut) {
    write::map(out, proto, 3);
    write::bulk(out, b"flags");
    access(keys.access, proto, out);
    write::bulk(out, b"begin_search");
    match keys.begin {
        Begin::Index(index) => search(out, proto, "index", &[("index", index)]),
        Begin::Keyword(word, from) => {
            typed(out, proto, "keyword", 2);
            write::bulk(out, b"keyword");
            write::bulk(out, word.as_bytes());
            number(out, "startfrom", from);
        }
        Begin::Unknown => search(out, proto, "unknown", &[]),
    }
    write::bulk(out, b"find_keys");
    match keys.find {
        Find::Range { last, step, limit } => {
            let fields = [("lastkey", last), ("keystep", step), ("limit", limit)];
            search(out, proto, "range", &fields);
        }
        Find::KeyNum { at, first, step } => {
            let fields = [("keynumidx", at), ("firstkey", first), ("keystep", step)];
            search(out, proto, "keynum", &fields);
        }
        Find::Unknown => search(out, proto, "unknown", &[]),
    }
}

fn access(bits: u16, proto: Proto, out: &mut BytesMut) {
    simple_set(out, proto, flag::access_names(bits).map(str::to_owned));
}

fn search(out: &mut BytesMut, proto: Proto, kind: &str, fields: &[(&str, i16)]) {
    typed(out, proto, kind, fields.len());
    for &(name, value) in fields {
        number(out, name, value);
    }
}

/// The head of one step of a key spec; its fields follow.
fn typed(out: &mut BytesMut, proto: Proto, kind: &str, fields: usize) {
    write::map(out, proto, 2);
    write::bulk(out, b"type");
    write::bulk(out, kind.as_bytes());
    write::bulk(out, b"spec");
    write::map(out, proto, fields);
}

fn number(out: &mut BytesMut, name: &str, value: i16) {
    write::bulk(out, name.as_bytes());
    write::integer(out, i64::from(value));
}

pub(super) fn get_keys(args: Args<'_>, out: &mut BytesMut) {
    let inner = Inner::new(args);
    match inner.keys() {
        Err(text) => write::error(out, text),
        Ok((_, positions)) => {
            write::array(out, positions.len());
            for at in positions {
                write::bulk(out, inner.args().at(at as usize));
            }
        }
    }
}

pub(super) fn get_keys_and_flags(args: Args<'_>, proto: Proto, out: &mut BytesMut) {
    let inner = Inner::new(args);
    match inner.keys() {
        Err(text) => write::error(out, text),
        Ok((spec, positions)) => {
            write::array(out, positions.len());
            for at in positions {
                let at = at as usize;
                write::array(out, 2);
                write::bulk(out, inner.args().at(at));
                access(access_of(spec, inner.args(), at), proto, out);
            }
        }
    }
}

/// What a command does with the key at a position: the key spec that names the position or the word before it,
/// else the last one that begins before it.
fn access_of(spec: &Spec, args: Args<'_>, at: usize) -> u16 {
    let after = |word: &str| at > 0 && args.at(at - 1).eq_ignore_ascii_case(word.as_bytes());
    let exact = spec.keys.iter().find(|keys| match keys.begin {
        Begin::Index(index) => usize::try_from(index) == Ok(at),
        Begin::Keyword(word, _) => after(word),
        Begin::Unknown => false,
    });
    let before = spec.keys.iter().rev().find(|keys| match keys.begin {
        Begin::Index(index) => usize::try_from(index).is_ok_and(|index| index < at),
        Begin::Keyword(..) | Begin::Unknown => false,
    });
    let keys = exact.or(before).or(spec.keys.first());
    keys.map_or(0, |keys| keys.access & !flag::INCOMPLETE & !flag::VARIABLE)
}

/// The request that COMMAND GETKEYS is asked about: its own, from the third argument on.
struct Inner {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Inner {
    fn new(args: Args<'_>) -> Inner {
        let mut inner = Inner { bytes: Vec::new(), spans: Vec::new() };
        for arg in args.iter().skip(2) {
            let start = inner.bytes.len() as u32;
            inner.bytes.extend_from_slice(arg);
            let end = inner.bytes.len() as u32;
            inner.spans.push(Span { start, end });
        }
        inner
    }

    fn args(&self) -> Args<'_> {
        Args::new(&self.bytes, &self.spans)
    }

    /// The row and the positions of the keys, or the error line.
    fn keys(&self) -> Result<(&'static Spec, Vec<u32>), &'static str> {
        let args = self.args();
        if args.is_empty() {
            return Err("ERR Invalid command specified");
        }
        let Found::Command(spec, _) = lookup::find(args) else {
            return Err("ERR Invalid command specified");
        };
        if !spec.has_keys() {
            return Err("ERR The command has no key arguments");
        }
        if !spec.arity_ok(args.len()) {
            return Err("ERR Invalid number of arguments specified for command");
        }
        let mut positions = Vec::new();
        let found = keys::find(spec, args, &mut positions);
        if found.is_err() || positions.is_empty() {
            if !spec.flags.has(flag::NO_MANDATORY_KEYS) {
                return Err("ERR Invalid arguments specified for command");
            }
            positions.clear();
        }
        Ok((spec, positions))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Client;
    use crate::resp::value::{self, Value};

    #[test]
    fn a_command_is_described_as_a_server_does() {
        let mut client = Client::new();
        assert_eq!(
            client.says("COMMAND INFO nosuch GET"),
            "*2\r\n*-1\r\n*10\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n\
             *3\r\n+@read\r\n+@string\r\n+@fast\r\n*0\r\n*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n+access\r\n\
             $12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n*2\r\n$5\r\nindex\r\n:1\r\n\
             $9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n$4\r\nspec\r\n*6\r\n$7\r\nlastkey\r\n:0\r\n\
             $7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n*0\r\n"
        );
        assert!(client.says("COMMAND INFO client|id").starts_with("*1\r\n*10\r\n$9\r\nclient|id\r\n:2\r\n"));
    }

    /// Whole replies of both versions, each as long as it says.
    #[test]
    fn the_whole_table_is_well_formed() {
        for mut client in [Client::new(), Client::new().resp3()] {
            let count = client.says("COMMAND COUNT");
            for line in ["COMMAND", "COMMAND INFO", "COMMAND DOCS", "COMMAND LIST", "COMMAND HELP"] {
                let reply = client.says(line);
                let (_, used) = value::parse(reply.as_bytes()).unwrap().unwrap();
                assert_eq!(used, reply.len(), "{line}");
            }
            let reply = client.says("COMMAND");
            let (Value::Array(all), _) = value::parse(reply.as_bytes()).unwrap().unwrap() else { panic!() };
            assert_eq!(format!(":{}\r\n", all.len()), count);
        }
    }

    #[test]
    fn lists_are_filtered() {
        let mut client = Client::new();
        let some = client.says("COMMAND LIST FILTERBY PATTERN MSETN*");
        assert_eq!(some, "*1\r\n$6\r\nmsetnx\r\n");
        assert!(client.says("COMMAND LIST FILTERBY ACLCAT scripting").contains("$7\r\nevalsha\r\n"));
        assert_eq!(client.says("COMMAND LIST FILTERBY ACLCAT foo"), "*0\r\n");
        assert_eq!(client.says("COMMAND LIST FILTERBY MODULE x"), "*0\r\n");
        assert_eq!(client.says("COMMAND LIST foo"), "-ERR syntax error\r\n");
        assert_eq!(client.says("COMMAND LIST FILTERBY foo bar"), "-ERR syntax error\r\n");
    }

    #[test]
    fn keys_are_told_with_what_is_done_to_them() {
        let mut client = Client::new();
        for (line, reply) in [
            ("mset a 1 b 2", "*2\r\n$1\r\na\r\n$1\r\nb\r\n"),
            ("eval x 0", "*0\r\n"),
            ("eval x 99 a", "*0\r\n"),
            ("get", "-ERR Invalid number of arguments specified for command\r\n"),
            ("foo", "-ERR Invalid command specified\r\n"),
            ("client foo", "-ERR Invalid command specified\r\n"),
            ("ping", "-ERR The command has no key arguments\r\n"),
        ] {
            assert_eq!(client.says(&format!("COMMAND GETKEYS {line}")), reply, "{line}");
        }
        assert_eq!(
            client.says("COMMAND GETKEYSANDFLAGS lmove a b left left"),
            "*2\r\n*2\r\n$1\r\na\r\n*3\r\n+RW\r\n+access\r\n+delete\r\n*2\r\n$1\r\nb\r\n*2\r\n+RW\r\n+insert\r\n"
        );
    }
}
