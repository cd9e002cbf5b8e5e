//! Where commands go: slots, splitting, refusals.
//!
//! That a key lives on exactly one shard, that commands over several are split or refused, never half done, and that
//! what a later version brings is refused at once, in words that say what to do instead.

use crate::harness::{Client, Proxy, Reply, beside_others, redis_servers, requests, tags_by_shard};

const CROSSSLOT: &str = "-CROSSSLOT Keys in request don't hash to the same slot\r\n";

#[test]
fn keys_are_spread_and_each_lives_on_one_shard() {
    let _turn = beside_others();
    let servers = redis_servers(4);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    for n in 0..2_000 {
        client.expect(&["SET", &format!("key:{n}"), "v"], "+OK\r\n");
    }
    let sizes: Vec<i64> = servers.iter().map(|s| s.client().command(&["DBSIZE"]).integer()).collect();
    assert_eq!(sizes.iter().sum::<i64>(), 2_000, "{sizes:?}");
    assert!(sizes.iter().all(|&size| (400..600).contains(&size)), "uneven: {sizes:?}");
    client.expect(&["DBSIZE"], ":2000\r\n");
    assert_eq!(client.command(&["KEYS", "*"]).items().len(), 2_000);
    client.expect(&["FLUSHALL"], "+OK\r\n");
    for server in &servers {
        assert_eq!(server.client().command(&["DBSIZE"]).integer(), 0);
    }
}

#[test]
fn keys_of_several_slots_in_one_atomic_command_are_refused_and_nothing_runs() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let tags = tags_by_shard(&proxy, &servers);
    let mut client = proxy.client();
    let (a, b) = (format!("{{{}}}a", tags[0]), format!("{{{}}}b", tags[1]));
    client.expect(&["SET", &a, "1"], "+OK\r\n");
    let refused: [&[&str]; 9] = [
        &["MSETNX", &a, "2", &b, "2"],
        &["RENAME", &a, &b],
        &["COPY", &a, &b],
        &["SUNIONSTORE", &a, &a, &b],
        &["BITOP", "NOT", &b, &a],
        &["PFMERGE", &b, &a],
        &["ZUNIONSTORE", &b, "1", &a],
        &["LMOVE", &a, &b, "LEFT", "LEFT"],
        &["SORT", &a, "STORE", &b],
    ];
    for args in refused {
        client.expect(args, CROSSSLOT);
    }
    // Two slots of one shard are two slots all the same: the answer can't depend on where slots are today.
    let same_shard = (0..).map(|n| format!("other{n}")).find(|tag| {
        let key = format!("{{{tag}}}probe");
        client.expect(&["SET", &key, "x"], "+OK\r\n");
        servers[0].client().command(&["EXISTS", &key]).integer() == 1
    });
    let c = format!("{{{}}}c", same_shard.expect("there is one"));
    client.expect(&["RENAME", &a, &c], CROSSSLOT);
    client.expect(&["GET", &a], "$1\r\n1\r\n");
    client.expect(&["EXISTS", &b, &c], ":0\r\n");
    client.expect(&["RENAME", &a, &format!("{{{}}}d", tags[0])], "+OK\r\n");
}

#[test]
fn split_commands_reach_every_shard_once() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    let names: Vec<String> = (0..30).map(|n| format!("s{n}")).collect();
    let mut set = vec!["MSET"];
    names.iter().for_each(|name| set.extend([name.as_str(), name.as_str()]));
    assert!(client.command(&set).is_simple("OK"));
    for server in &servers {
        assert_eq!(server.calls("mset"), 1, "one part a shard");
    }
    // The values come in the order asked, doubles included.
    let mut get = vec!["MGET", "s7", "nothing", "s7"];
    get.extend(names.iter().map(String::as_str));
    let reply = client.command(&get);
    let wanted: Vec<Reply> = get[1..]
        .iter()
        .map(|name| match *name {
            "nothing" => Reply::Null,
            name => Reply::Bulk(name.into()),
        })
        .collect();
    assert_eq!(reply, Reply::Array(wanted));
    let count = |client: &mut Client, command: &str| {
        let mut args = vec![command, "s0", "s0", "nothing"];
        args.extend(names.iter().map(String::as_str));
        client.command(&args).integer()
    };
    assert_eq!(count(&mut client, "EXISTS"), 32);
    assert_eq!(count(&mut client, "TOUCH"), 32);
    assert_eq!(count(&mut client, "UNLINK"), 30);
    assert_eq!(count(&mut client, "DEL"), 0);
}

/// A wrong type on one shard: MGET has no such error, but what one shard says must not be lost.
#[test]
fn a_part_that_fails_fails_the_whole_and_names_its_shard() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let tags = tags_by_shard(&proxy, &servers);
    servers[1].client().expect(&["CONFIG", "SET", "maxmemory", "1"], "+OK\r\n");
    let mut client = proxy.client();
    let keys: Vec<String> = tags.iter().map(|tag| format!("{{{tag}}}k")).collect();
    let reply = client.command(&["MSET", &keys[0], "1", &keys[1], "2", &keys[2], "3"]);
    let Reply::Error(text) = &reply else { panic!("MSET drew {reply:?} with a shard out of memory") };
    let text = String::from_utf8_lossy(text).into_owned();
    assert!(text.contains("OOM") && text.contains("shard 1"), "{text}");
    // An error says which shards applied it.
    assert!(text.contains('0') && text.contains('2'), "{text}");
    client.expect(&["MGET", &keys[0], &keys[2]], "*2\r\n$1\r\n1\r\n$1\r\n3\r\n");
}

#[test]
fn reads_of_all_shards_with_one_out_of_reach_may_be_sent_again() {
    let _turn = beside_others();
    let mut servers = redis_servers(3);
    let proxy = Proxy::configured(&servers, "[timeouts]\nconnect_ms = 200\n");
    let tags = tags_by_shard(&proxy, &servers);
    let keys: Vec<String> = tags.iter().map(|tag| format!("{{{tag}}}k")).collect();
    servers[1].kill();
    let mut client = proxy.client();
    let gone = "-TRYAGAIN onetrip: shard 1 is unreachable, not executed\r\n";
    for read in ["EXISTS", "TOUCH", "MGET"] {
        client.expect(&[read, &keys[0], &keys[1], &keys[2]], gone);
    }
    for read in [&["DBSIZE"][..], &["KEYS", "*"]] {
        client.expect(read, gone);
    }
    // What clients ask for before anything else (ioredis waits for it) tells of the shards that are there.
    let info = client.command(&["INFO"]).text();
    assert!(info.contains("\r\nloading:0\r\n"), "{info}");
    // A shard that is known to be gone is not even begun with.
    client.expect(&["DEL", &keys[0], &keys[1], &keys[2]], gone);
}

/// What a client sends as one transaction is not executed in part because this version has no transactions.
#[test]
fn the_body_of_a_refused_transaction_is_not_executed() {
    let _turn = beside_others();
    for proxy in [Proxy::over(&redis_servers(2)), Proxy::embedded(2)] {
        let mut client = proxy.client();
        client.send(&requests(&["MULTI", "INCR n", "SET n 5", "EXEC", "EXISTS n", "PING"]));
        let got = client.raw_replies(6).concat();
        let text = String::from_utf8_lossy(&got);
        assert!(text.starts_with("-ERR onetrip: MULTI") && text.contains("-EXECABORT "), "{text}");
        assert!(got.ends_with(b":0\r\n+PONG\r\n"), "{text}");
    }
}

#[test]
fn what_a_later_version_brings_is_refused_at_once() {
    let _turn = beside_others();
    let servers = redis_servers(3);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    let later: [&[&str]; 15] = [
        &["EXEC"],
        &["MULTI"],
        &["DISCARD"],
        &["WATCH", "a"],
        &["BLPOP", "a", "0"],
        &["XREAD", "BLOCK", "0", "STREAMS", "a", "0"],
        &["SUBSCRIBE", "a"],
        &["PUBLISH", "a", "b"],
        &["EVAL", "return 1", "0"],
        &["SCRIPT", "LOAD", "return 1"],
        &["CONFIG", "SET", "maxmemory", "1"],
        &["SELECT", "1"],
        &["MOVE", "a", "1"],
        &["COPY", "a", "{a}b", "DB", "1"],
        &["SLOWLOG", "GET"],
    ];
    for args in later {
        let reply = client.command(args);
        assert!(reply.is_error("ERR onetrip: "), "{args:?} drew {reply:?}");
        // What is told has to be true of every kind of shards.
        assert!(!reply.text().contains("shard itself") && !reply.text().contains("shards itself"));
    }
    for args in [&["SHUTDOWN"][..], &["REPLICAOF", "NO", "ONE"], &["DEBUG", "SLEEP", "0"], &["SYNC"]] {
        let reply = client.command(args);
        assert!(matches!(reply, Reply::Error(_)), "{args:?} drew {reply:?}");
    }
    client.expect(&["PING"], "+PONG\r\n");
    for server in &servers {
        for command in ["multi", "blpop", "subscribe", "eval", "shutdown", "replicaof", "move", "copy"] {
            assert_eq!(server.calls(command), 0, "{command} reached a shard");
        }
    }
}

#[test]
fn embedded_shards_name_what_to_use_instead() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let mut client = proxy.client();
    for args in [&["LPUSH", "l", "a"][..], &["HSET", "h", "f", "v"], &["ZADD", "z", "1", "a"]] {
        let reply = client.command(args);
        assert!(reply.is_error("ERR onetrip: "), "{args:?} drew {reply:?}");
        assert!(reply.text().contains("--backend"), "{args:?} drew {reply:?}");
    }
}

#[test]
fn settings_are_those_of_the_shards_and_of_onetrip_itself() {
    let _turn = beside_others();
    for shards in [1, 3] {
        let servers = redis_servers(shards);
        for server in &servers {
            let mut admin = server.client();
            admin.expect(
                &["CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru"],
                "+OK\r\n",
            );
        }
        let proxy = Proxy::over(&servers);
        let mut client = proxy.client();
        let total = (shards * 100 * 1024 * 1024).to_string();
        let sum = format!("${}\r\n{total}\r\n", total.len());
        client.expect(&["CONFIG", "GET", "MaxMemory"], &format!("*2\r\n$9\r\nMaxMemory\r\n{sum}"));
        let policy = "*2\r\n$16\r\nmaxmemory-policy\r\n$11\r\nallkeys-lru\r\n";
        client.expect(&["CONFIG", "GET", "maxmemory-policy"], policy);
        client.expect(&["CONFIG", "GET", "databases"], "*2\r\n$9\r\ndatabases\r\n$1\r\n1\r\n");
        client.expect(&["CONFIG", "GET", "requirepass"], "*0\r\n");
        client.command(&["HELLO", "3"]);
        client.expect(&["CONFIG", "GET", "maxmemory"], &format!("%1\r\n$9\r\nmaxmemory\r\n{sum}"));
        // A shard that does not let us ask: what onetrip knows by itself.
        servers[0].client().expect(&["ACL", "SETUSER", "default", "-config"], "+OK\r\n");
        client.expect(&["CONFIG", "GET", "maxmemory"], "%1\r\n$9\r\nmaxmemory\r\n$1\r\n0\r\n");
    }
}

#[test]
fn embedded_shards_answer_settings_and_memory_and_refuse_without_false_advice() {
    let _turn = beside_others();
    let proxy = Proxy::embedded(2);
    let mut client = proxy.client();
    client.expect(&["CONFIG", "GET", "MAXMEMORY"], "*2\r\n$9\r\nMAXMEMORY\r\n$1\r\n0\r\n");
    let info = client.command(&["INFO", "memory"]).text();
    for line in
        ["\r\nused_memory_human:", "\r\nmaxmemory_human:0B\r\n", "\r\nmaxmemory_policy:noeviction\r\n"]
    {
        assert!(info.contains(line), "{line} is missing in {info}");
    }
    for args in [
        &["SCRIPT", "HELP"][..],
        &["XINFO", "HELP"],
        &["ACL", "CAT"],
        &["CONFIG", "SET", "a", "b"],
        &["EVAL", "x", "0"],
    ] {
        let reply = client.command(args);
        assert!(
            reply.is_error("ERR onetrip: ") && !reply.text().contains("--backend"),
            "{args:?} drew {reply:?}"
        );
    }
}

/// With one shard there is nothing to split: what names keys of several slots is passed on as it is.
#[test]
fn one_shard_is_transparent() {
    let _turn = beside_others();
    let servers = redis_servers(1);
    let proxy = Proxy::over(&servers);
    let mut client = proxy.client();
    client.expect(&["MSETNX", "a", "1", "b", "2", "c", "3"], ":1\r\n");
    client.expect(&["RENAME", "a", "z"], "+OK\r\n");
    client.expect(&["MGET", "z", "b", "c"], "*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
    assert_eq!(servers[0].calls("mget"), 1);
}
