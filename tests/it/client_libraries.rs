//! Real client libraries with their defaults: what they send at connect, and what applications do with them.
//!
//! redis-rs runs in this process; Python and Node clients are small scripts under tests/clients, run against an
//! onetrip over real servers, each told the URL. `tests/setup` installs them.

use crate::harness::{Proxy, ProxyOptions, beside_others, redis_servers};
use redis::Commands;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn clients_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

fn url(proxy: &Proxy) -> String {
    format!("redis://{}", proxy.address().flag())
}

/// Runs a script over three real servers; its exit code is the verdict, its output the reason.
fn run_script(program: PathBuf, script: &str) {
    assert!(program.exists(), "{} is missing: tests/setup installs it", program.display());
    let servers = redis_servers(3);
    let open = Proxy::over(&servers);
    let locked = ProxyOptions { shards: 2, password: Some("secret"), ..ProxyOptions::default() };
    let locked = Proxy::with(locked);
    let output = Command::new(program)
        .arg(clients_dir().join(script))
        .env("ONETRIP_URL", url(&open))
        .env("ONETRIP_LOCKED_URL", format!("redis://:secret@{}", locked.address().flag()))
        .output()
        .expect("the script runs");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{script}: {}\n{said}", output.status);
}

fn python() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/.venv/bin/python")
}

fn node() -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|dir| dir.join("node")).find(|path| path.exists());
    found.expect("node is on the path")
}

#[test]
fn redis_py() {
    let _turn = beside_others();
    run_script(python(), "python/with_redis_py.py");
}

#[test]
fn valkey_py() {
    let _turn = beside_others();
    run_script(python(), "python/with_valkey_py.py");
}

#[test]
fn node_redis() {
    let _turn = beside_others();
    run_script(node(), "node/with_node_redis.mjs");
}

#[test]
fn ioredis() {
    let _turn = beside_others();
    run_script(node(), "node/with_ioredis.mjs");
}

fn use_redis_rs(url: &str) -> redis::RedisResult<()> {
    let mut connection = redis::Client::open(url)?.get_connection()?;
    let names: Vec<String> = (0..60).map(|n| format!("rs:{n}")).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let _: () = connection.mset(&pairs)?;
    let values: Vec<String> = connection.mget(&names)?;
    assert_eq!(values, names);
    let mut pipeline = redis::pipe();
    for name in &names {
        pipeline.get(name);
    }
    pipeline.incr("rs:counter", 1).get("rs:nothing");
    let mut values: Vec<redis::Value> = pipeline.query(&mut connection)?;
    assert_eq!(values.pop(), Some(redis::Value::Nil));
    assert_eq!(values.pop(), Some(redis::Value::Int(1)));
    assert_eq!(values.len(), 60);
    let found: BTreeSet<String> =
        connection.scan_match("rs:*")?.collect::<redis::RedisResult<BTreeSet<String>>>()?;
    assert_eq!(found.len(), 61);
    let _: () = redis::cmd("PING").exec(&mut connection)?;
    let gone: i64 = connection.del(found.iter().collect::<Vec<_>>())?;
    assert_eq!(gone, 61);
    Ok(())
}

#[test]
fn redis_rs() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    for options in ["", "/?protocol=resp3"] {
        use_redis_rs(&(url(&proxy) + options)).expect("redis-rs is content");
    }
    let embedded = Proxy::embedded(2);
    use_redis_rs(&url(&embedded)).expect("redis-rs is content");
}

/// Runs redis-cli with `options`; `input` is typed into it.
fn redis_cli(proxy: &Proxy, options: &[&str], input: &str) -> String {
    let port = proxy.address().port().to_string();
    let mut child = Command::new("redis-cli")
        .args(["-p", &port])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("redis-cli runs");
    let mut stdin = child.stdin.take().expect("its input is a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads its input");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "redis-cli {options:?}: {}\n{said}", output.status);
    said
}

#[test]
fn redis_cli_in_its_modes() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    assert_eq!(redis_cli(&proxy, &["SET", "a", "1"], ""), "OK\n");
    assert_eq!(redis_cli(&proxy, &["-3", "INCR", "a"], ""), "2\n");
    assert_eq!(redis_cli(&proxy, &[], "get a\nmset b 1 c 2\nmget a b c\n"), "2\nOK\n2\n1\n2\n");
    let lines: String = (0..5_000).map(|n| format!("SET pipe:{n} {n}\r\n")).collect();
    let said = redis_cli(&proxy, &["--pipe"], &lines);
    assert!(said.contains("errors: 0, replies: 5000"), "{said}");
    let said = redis_cli(&proxy, &["--scan", "--pattern", "pipe:*"], "");
    let found: BTreeSet<&str> = said.lines().collect();
    assert_eq!(found.len(), 5_000);
    let said = redis_cli(&proxy, &["--bigkeys"], "");
    assert!(said.contains("Sampled 5003 keys"), "{said}");
    let said = redis_cli(&proxy, &["INFO", "keyspace"], "");
    assert!(said.contains("db0:keys=5003,"), "{said}");
    let said = redis_cli(&proxy, &["COMMAND", "DOCS", "get"], "");
    assert!(said.contains("get"), "{said}");
}
