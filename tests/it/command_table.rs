//! The command table against real servers: what COMMAND says of each command and subcommand, what COMMAND GETKEYS
//! finds in requests, and the texts for requests that fit no row.
//!
//! The server on the path is always asked; `ONETRIP_TEST_SERVERS` names others (server binaries, colons between).
//! Rows are those of the newest server, so an older one differs in places: `KNOWN` lists them with the reason, and an
//! entry that no longer holds is a failure too. All differences are told at once.

use onetrip::command::lookup::{self, Found};
use onetrip::command::{
    Begin, Find, KeySpec, ReplyPolicy, RequestPolicy, Spec, acl, errors, flag, keys, table,
};
use onetrip::resp::request::{Args, Span};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Differences by version: servers (by the beginning of "name version"), what differs, commands, reason.
const KNOWN: &[(&[&str], &str, &str, &str)] = &[
    (
        &["redis 7.0"],
        "arity",
        "command|getkeys command|getkeysandflags zrank zrevrank",
        "7.2: GETKEYS of a command without arguments, ZRANK WITHSCORE",
    ),
    (
        &["redis 7.0"],
        "flags",
        "blmove blpop brpop brpoplpush bzpopmax bzpopmin wait cluster|shards cluster|slots",
        "7.2: blocking commands in scripts, more of CLUSTER while loading",
    ),
    (
        &["redis 7.0"],
        "policy",
        "acl|deluser acl|save acl|setuser client|setname config|resetstat config|rewrite \
         latency|reset msetnx randomkey scan",
        "7.2 and later corrected the policies",
    ),
    (&["redis 7.0"], "categories", "wait", "7.2: WAIT is flagged as blocking"),
    (&["redis 7.0"], "keys", "sinterstore", "7.2: it overwrites its destination"),
    (
        &["valkey 8"],
        "flags",
        "cluster|info cluster|myid cluster|myshardid cluster|nodes memory|malloc-stats \
         memory|purge multi watch",
        "Valkey answers more while loading, and marks what MULTI refuses",
    ),
    (
        &["redis 8.2"],
        "arity",
        "vadd vcard vdim vemb vgetattr vinfo vismember vlinks vrandmember vrem vsetattr vsim",
        "8.2 leaves the arity of vector sets to the commands",
    ),
    (
        &["redis 8.2"],
        "categories",
        "vadd vcard vdim vemb vgetattr vinfo vismember vlinks vrandmember vrem vsetattr vsim",
        "8.2 gives vector sets no categories",
    ),
];

#[test]
fn rows_are_what_servers_say() {
    for mut server in servers() {
        let commands = server.call(&["COMMAND"]);
        let mut told = Vec::new();
        for command in commands.items() {
            compare(command, &server.version, &mut told);
            for sub in command.items()[9].items() {
                compare(sub, &server.version, &mut told);
            }
        }
        let unexplained = without_known(told, &server.version);
        assert!(commands.items().len() > 200);
        assert!(unexplained.is_empty(), "{}:\n{}", server.version, unexplained.join("\n"));
    }
}

#[test]
fn keys_are_found_where_servers_find_them() {
    for mut server in servers() {
        let mut told = Vec::new();
        for line in REQUESTS {
            let request: Vec<&str> = line.split(' ').map(|w| if w == "''" { "" } else { w }).collect();
            compare_keys(&mut server, &request, &mut told);
        }
        let mut random = fastrand::Rng::with_seed(7);
        for spec in table::ROWS.iter().filter(|s| s.lone_key == 0 && s.has_keys()) {
            for _ in 0..60 {
                let mut request: Vec<&str> = spec.name.split('|').collect();
                request.extend((0..random.usize(..10)).map(|_| WORDS[random.usize(..WORDS.len())]));
                compare_keys(&mut server, &request, &mut told);
            }
        }
        assert!(told.is_empty(), "{}:\n{}", server.version, told.join("\n"));
    }
}

/// What random requests are made of.
const WORDS: [&str; 24] = [
    "a",
    "b",
    "c",
    "",
    "0",
    "1",
    "2",
    "3",
    "9",
    "-1",
    "x1",
    "store",
    "STOREDIST",
    "Streams",
    "KEYS",
    "auth",
    "AUTH2",
    "copy",
    "by",
    "LIMIT",
    "get",
    "count",
    "GROUP",
    "block",
];

/// Requests of every shape, right and wrong.
const REQUESTS: &[&str] = &[
    "get a",
    "SET a 1 EX 5",
    "del a b c",
    "mset a 1 b 2",
    "mset a 1 b",
    "msetnx a 1 b 2",
    "msetex 2 a 1 b 2 EX 5",
    "ping",
    "publish c m",
    "spublish c m",
    "copy a b REPLACE",
    "rename a b",
    "lcs a b LEN",
    "smove a b x",
    "bitop AND d a b",
    "pfmerge d a b",
    "object encoding a",
    "memory usage a SAMPLES 5",
    "xinfo stream a",
    "xgroup create a g $",
    "eval s 0",
    "eval s 0 x",
    "eval s 2 a b x",
    "eval s 3 a b",
    "eval s -1 a",
    "eval s x a",
    "fcall_ro f 1 a b",
    "zunionstore d 2 a b WEIGHTS 1 2",
    "zunionstore d 0 a",
    "zinter 2 a b WITHSCORES",
    "zdiff 3 a b",
    "sintercard 1 a LIMIT 3",
    "lmpop 2 a b LEFT",
    "blmpop 0 2 a b LEFT",
    "blpop a b 0",
    "xread COUNT 2 STREAMS a b 0 0",
    "xread STREAMS a b 0",
    "xread STREAMS streams 0",
    "xread COUNT 2 a b",
    "xreadgroup GROUP streams c STREAMS a b > >",
    "xreadgroup GROUP g c COUNT 1 NOACK STREAMS a >",
    "sort a",
    "sort a BY w_* GET # STORE d",
    "sort a LIMIT 0 STORE d",
    "sort a LIMIT 0 5 STORE d STORE e",
    "sort a GET STORE x",
    "sort a STORE",
    "sort_ro a BY w_*",
    "georadius a 1 2 3 m STORE d",
    "georadius a 1 2 3 m STORE d STOREDIST e",
    "georadius a 1 2 3 m STORE",
    "georadiusbymember a m 3 km COUNT 3 STOREDIST d",
    "georadius_ro a 1 2 3 m",
    "migrate h 1 a 0 5",
    "migrate h 1 '' 0 5 COPY AUTH keys KEYS a b",
    "migrate h 1 '' 0 5 AUTH2 u p REPLACE KEYS a b",
    "migrate h 1 k 0 5 KEYS a b",
    "migrate h 1 '' 0 5",
];

#[test]
fn texts_for_what_fits_no_row_are_the_servers() {
    let long = "y".repeat(300);
    let requests: [&[&str]; 9] = [
        &["FOO", "bar"],
        &["foo"],
        &[&long, "a\r\nb", &long, "z"],
        &["fo\r\no", "a\0b", "c"],
        &["client", "no\nne"],
        &["Config", &long],
        &["get"],
        &["client", "setname"],
        &["object"],
    ];
    for mut server in servers() {
        for request in requests {
            let ours = with_args(request, |args| match lookup::find(args) {
                Found::UnknownCommand => errors::unknown_command(args),
                Found::UnknownSubcommand(container) => errors::unknown_subcommand(container, args),
                Found::Command(spec, _) => {
                    assert!(!spec.arity_ok(args.len()));
                    errors::wrong_arity(spec).into_bytes()
                }
            });
            let ours = Reply::Error(String::from_utf8_lossy(&ours).into_owned());
            assert_eq!(ours, server.call(request), "{}: {request:?}", server.version);
        }
    }
}

/// Adds `what name: ours, theirs` for each difference.
fn compare(theirs: &Reply, version: &str, told: &mut Vec<(&'static str, String, String)>) {
    let fields = theirs.items();
    let name = fields[0].text().to_lowercase();
    let Some(ours) = lookup::by_name(&name).map(|id| id.spec()) else {
        return told.push(("row", name, format!("{version} has it")));
    };
    let mut hold = |what, ours: String, theirs: String| {
        if ours != theirs {
            told.push((what, name.clone(), format!("{ours} here, {theirs} there")));
        }
    };
    hold("arity", ours.arity.to_string(), fields[1].number().to_string());
    let flags: Vec<&str> = ours.flags.names().collect();
    hold("flags", sorted(flags), sorted(fields[2].texts()));
    let (first, last, step) = ours.legacy_range();
    let legacy = fields[3..6].iter().map(|f| f.number().to_string());
    hold("range", format!("{first} {last} {step}"), legacy.collect::<Vec<_>>().join(" "));
    let categories = acl::categories(ours).into_iter().map(|c| format!("@{c}"));
    let categories = categories.collect::<Vec<_>>().join(" ");
    hold("categories", categories, fields[6].texts().join(" "));
    let (policies, other): (Vec<_>, Vec<_>) =
        fields[7].texts().into_iter().partition(|t| t.contains("_policy:"));
    hold("policy", sorted(tips(ours)), sorted(policies));
    hold("tips", sorted(plain_tips(ours)), sorted(other));
    let specs = ours.keys.iter().map(our_key_spec).collect::<Vec<_>>();
    let theirs = fields[8].items().iter().map(their_key_spec).collect::<Vec<_>>();
    hold("keys", specs.join("; "), theirs.join("; "));
    hold("container", ours.is_container().to_string(), (!fields[9].items().is_empty()).to_string());
}

/// What is left when the known differences are taken away; known ones that do not show are told as well.
fn without_known(told: Vec<(&'static str, String, String)>, version: &str) -> Vec<String> {
    let mut known = BTreeMap::new();
    for (servers, what, names, _) in KNOWN {
        if servers.iter().any(|s| version.starts_with(s)) {
            known.extend(names.split_whitespace().map(|name| ((*what, name), false)));
        }
    }
    let mut left = Vec::new();
    for (what, name, difference) in &told {
        match known.get_mut(&(*what, name.as_str())) {
            Some(seen) => *seen = true,
            None => left.push(format!("{what} of {name}: {difference}")),
        }
    }
    let stale = known.iter().filter(|(_, seen)| !**seen);
    left.extend(stale.map(|((what, name), _)| format!("{what} of {name} is known to differ, and does not")));
    left
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
        ReplyPolicy::Default => None,
        ReplyPolicy::Sum => Some("response_policy:agg_sum"),
        ReplyPolicy::Min => Some("response_policy:agg_min"),
        ReplyPolicy::LogicalAnd => Some("response_policy:agg_logical_and"),
        ReplyPolicy::AllSucceeded => Some("response_policy:all_succeeded"),
        ReplyPolicy::OneSucceeded => Some("response_policy:one_succeeded"),
        ReplyPolicy::Special => Some("response_policy:special"),
    };
    request.into_iter().chain(reply).collect()
}

fn plain_tips(spec: &Spec) -> Vec<&'static str> {
    let tips = [
        (flag::NONDETERMINISTIC_OUTPUT, "nondeterministic_output"),
        (flag::NONDETERMINISTIC_OUTPUT_ORDER, "nondeterministic_output_order"),
    ];
    tips.into_iter().filter(|(bit, _)| spec.flags.has(*bit)).map(|(_, tip)| tip).collect()
}

fn our_key_spec(spec: &KeySpec) -> String {
    let begin = match spec.begin {
        Begin::Index(at) => format!("index {at}"),
        Begin::Keyword(word, from) => format!("keyword {word} {from}"),
        Begin::Unknown => "unknown".to_string(),
    };
    let find = match spec.find {
        Find::Range { last, step, limit } => format!("range {last} {step} {limit}"),
        Find::KeyNum { at, first, step } => format!("keynum {at} {first} {step}"),
        Find::Unknown => "unknown".to_string(),
    };
    let access = sorted(flag::access_names(spec.access).collect());
    format!("{begin}, {find}, {access}")
}

fn their_key_spec(spec: &Reply) -> String {
    let half = |name: &str| {
        let half = spec.field(name);
        let values: Vec<String> =
            half.field("spec").items().iter().skip(1).step_by(2).map(Reply::shown).collect();
        format!("{} {}", half.field("type").text(), values.join(" ")).trim().to_string()
    };
    let access = sorted(spec.field("flags").texts());
    format!("{}, {}, {access}", half("begin_search"), half("find_keys"))
}

/// Valkey's word for a flag that Redis has too.
fn sorted(mut words: Vec<&str>) -> String {
    for word in &mut words {
        if *word == "skip_commandlog" {
            *word = "skip_slowlog";
        }
    }
    words.sort_unstable();
    words.join(" ")
}

/// Tells where the server names other keys of a request than we do. A refusal and no keys are one answer here: what
/// matters is that a request is not sent by keys that the server would not see.
fn compare_keys(server: &mut Server, request: &[&str], told: &mut Vec<String>) {
    let mut call = vec!["COMMAND", "GETKEYS"];
    call.extend(request);
    let theirs = match server.call(&call) {
        Reply::Array(keys) => keys.iter().map(Reply::shown).collect(),
        Reply::Error(text) if text.starts_with("ERR Invalid command") => return,
        Reply::Error(_) => Vec::new(),
        other => panic!("{request:?}: {other:?}"),
    };
    let ours = with_args(request, |args| match lookup::find(args) {
        Found::Command(spec, _) if spec.arity_ok(args.len()) && spec.has_keys() => our_keys(spec, args),
        _ => Vec::new(),
    });
    if ours != theirs {
        told.push(format!("{request:?}: {ours:?} here, {theirs:?} there"));
    }
}

fn our_keys(spec: &Spec, args: Args<'_>) -> Vec<String> {
    let mut at = Vec::new();
    let _ = keys::find(spec, args, &mut at);
    at.iter().map(|&i| String::from_utf8_lossy(args.at(i as usize)).into_owned()).collect()
}

fn with_args<T>(request: &[&str], f: impl FnOnce(Args<'_>) -> T) -> T {
    let mut frame = Vec::new();
    let mut spans = Vec::new();
    for arg in request {
        let start = frame.len() as u32;
        frame.extend_from_slice(arg.as_bytes());
        spans.push(Span { start, end: frame.len() as u32 });
    }
    f(Args::new(&frame, &spans))
}

/// A server of this test's own, on a socket in its own directory; killed when dropped.
struct Server {
    child: Child,
    dir: PathBuf,
    connection: BufReader<UnixStream>,
    /// As in `redis 7.0.15`.
    version: String,
}

fn servers() -> Vec<Server> {
    let others = std::env::var("ONETRIP_TEST_SERVERS").unwrap_or_default();
    let others = others.split(':').filter(|path| !path.is_empty());
    ["redis-server"].into_iter().chain(others).map(Server::start).collect()
}

impl Server {
    fn start(binary: &str) -> Server {
        let unique = format!("onetrip-table-{}-{:x}", std::process::id(), fastrand::u64(..));
        let dir = std::env::temp_dir().join(unique);
        std::fs::create_dir(&dir).expect("a directory for the server");
        let socket = dir.join("s");
        let child = Command::new(binary)
            .args(["--port", "0", "--save", "", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(&dir)
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("{binary}: {e}"));
        let started = Instant::now();
        let connection = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break BufReader::new(stream),
                Err(e) => assert!(started.elapsed() < Duration::from_secs(20), "{binary}: {e}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut server = Server { child, dir, connection, version: String::new() };
        server.version = server.named();
        server
    }

    fn named(&mut self) -> String {
        let hello = self.call(&["HELLO"]);
        format!("{} {}", hello.field("server").text(), hello.field("version").text())
    }

    fn call(&mut self, args: &[&str]) -> Reply {
        let mut request = format!("*{}\r\n", args.len());
        for arg in args {
            request += &format!("${}\r\n{arg}\r\n", arg.len());
        }
        self.connection.get_mut().write_all(request.as_bytes()).expect("written");
        Reply::read(&mut self.connection)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A reply in RESP2.
#[derive(Debug, PartialEq)]
enum Reply {
    Text(String),
    Error(String),
    Number(i64),
    Null,
    Array(Vec<Reply>),
}

impl Reply {
    fn read(from: &mut impl BufRead) -> Reply {
        let mut line = Vec::new();
        from.read_until(b'\n', &mut line).expect("a reply");
        let line = String::from_utf8_lossy(&line);
        let (kind, rest) = line.trim_end_matches("\r\n").split_at(1);
        match kind {
            "+" => Reply::Text(rest.to_string()),
            "-" => Reply::Error(rest.to_string()),
            _ => Reply::counted(kind, rest.parse().expect("a number"), from),
        }
    }

    fn counted(kind: &str, n: i64, from: &mut impl BufRead) -> Reply {
        match kind {
            ":" => Reply::Number(n),
            _ if n < 0 => Reply::Null,
            "$" => {
                let mut bytes = vec![0; n as usize + 2];
                from.read_exact(&mut bytes).expect("the whole string");
                bytes.truncate(n as usize);
                Reply::Text(String::from_utf8_lossy(&bytes).into_owned())
            }
            "*" => Reply::Array((0..n).map(|_| Reply::read(from)).collect()),
            other => panic!("reply of kind {other}"),
        }
    }

    fn items(&self) -> &[Reply] {
        match self {
            Reply::Array(items) => items,
            other => panic!("not an array: {other:?}"),
        }
    }

    fn text(&self) -> &str {
        match self {
            Reply::Text(text) => text,
            other => panic!("not text: {other:?}"),
        }
    }

    fn texts(&self) -> Vec<&str> {
        self.items().iter().map(Reply::text).collect()
    }

    fn number(&self) -> i64 {
        match self {
            Reply::Number(n) => *n,
            other => panic!("not a number: {other:?}"),
        }
    }

    fn shown(&self) -> String {
        match self {
            Reply::Number(n) => n.to_string(),
            other => other.text().to_string(),
        }
    }

    /// The value of a name in a flat array of names and values.
    fn field(&self, name: &str) -> &Reply {
        let mut pairs = self.items().chunks_exact(2);
        let pair = pairs.find(|pair| pair[0].text() == name);
        &pair.unwrap_or_else(|| panic!("no {name} in {self:?}"))[1]
    }
}
