//! redis-benchmark, as people run it: its default tests, unpipelined and pipelined, over real servers.
//!
//! An error reply makes it stop; so does a connection that is closed. Tests of commands that a later version brings
//! are left out. Speed isn't judged here.

use crate::harness::{Proxy, alone, redis_servers};
use std::process::Command;

/// Its default tests, less those that embedded shards or this version don't have.
const REAL: &str =
    "ping_inline,ping_mbulk,set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange,mset";
const EMBEDDED: &str = "ping_inline,ping_mbulk,set,get,incr,mset";

fn benchmark(proxy: &Proxy, tests: &str, options: &[&str]) {
    let port = proxy.address().port().to_string();
    let output = Command::new("redis-benchmark")
        .args(["-p", &port, "-t", tests, "-q", "-c", "50"])
        .args(options)
        .output()
        .expect("redis-benchmark runs");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).replace('\r', "\n");
    assert!(output.status.success(), "{options:?}: {}\n{said}", output.status);
    for word in ["ERR", "rror", "WARN", "losed"] {
        assert!(!said.contains(word), "{options:?}: {said}");
    }
    let results = said.lines().filter(|line| line.contains("requests per second")).count();
    assert!(results >= tests.split(',').count(), "{results} results of {tests}:\n{said}");
}

#[test]
fn its_default_tests_over_real_servers() {
    let _turn = alone();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    benchmark(&proxy, REAL, &["-n", "10000", "-r", "100000"]);
    benchmark(&proxy, REAL, &["-n", "50000", "-r", "100000", "-P", "16"]);
    // Without -r all requests name one key.
    benchmark(&proxy, "set,get,incr,mset", &["-n", "10000"]);
    benchmark(&proxy, "set,get", &["-n", "10000", "-3", "-d", "3000"]);
}

#[test]
fn its_tests_over_embedded_shards() {
    let _turn = alone();
    let proxy = Proxy::embedded(2);
    benchmark(&proxy, EMBEDDED, &["-n", "10000", "-r", "100000"]);
    benchmark(&proxy, EMBEDDED, &["-n", "50000", "-r", "100000", "-P", "16"]);
}
