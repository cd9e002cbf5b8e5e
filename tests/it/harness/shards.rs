//! Which keys live on which shard, found by looking: a key is written through onetrip and searched on the servers.
//!
//! So the tests don't judge the slot map by itself. Tags are for keys like `{tag}name`.

use super::proxy::Proxy;
use super::redis_server::RedisServer;

/// For each server a hash tag whose keys live there.
pub fn tags_by_shard(proxy: &Proxy, servers: &[RedisServer]) -> Vec<String> {
    let mut tags = vec![String::new(); servers.len()];
    let mut client = proxy.client();
    for n in 0..1_000 {
        let tag = format!("tag{n}");
        let key = format!("{{{tag}}}probe");
        client.expect(&["SET", &key, "x"], "+OK\r\n");
        let holds = |server: &RedisServer| server.client().command(&["DEL", &key]).integer() == 1;
        let holders: Vec<usize> = (0..servers.len()).filter(|&i| holds(&servers[i])).collect();
        assert_eq!(holders.len(), 1, "{key} is on shards {holders:?}");
        tags[holders[0]] = tag;
        if tags.iter().all(|tag| !tag.is_empty()) {
            return tags;
        }
    }
    panic!("some shard gets no key: {tags:?}");
}
