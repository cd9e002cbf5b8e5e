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

/// ACL categories, as a server derives them from a command's flags and group.
fn categories(spec: &Spec) -> impl Iterator<Item = &'static str> {
    let of = |yes: bool, name: &'static str| yes.then_some(name);
    let has = |flag: u32| spec.flags.has(flag);
    let by_group = match spec.group {
        Group::SortedSet => "sortedset",
        Group::Generic => "keyspace",
        Group::Transactions => "transaction",
        Group::PubSub | Group::Cluster | Group::Server => "",
        other => group(other),
    };
    let scripting = spec.group == Group::Scripting;
    [
        of(has(flag::READONLY) && !scripting, "read"),
        of(has(flag::WRITE) && !scripting, "write"),
        of(!by_group.is_empty(), by_group),
        of(has(flag::PUBSUB), "pubsub"),
        of(has(flag::ADMIN), "admin"),
        of(has(flag::FAST), "fast"),
        of(!has(flag::FAST), "slow"),
        of(has(flag::BLOCKING), "blocking"),
        of(has(flag::ADMIN), "dangerous"),
    ]
    .into_iter()
    .flatten()
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
