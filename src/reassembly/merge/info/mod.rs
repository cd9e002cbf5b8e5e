//! INFO of every shard, as the INFO of one server.
//!
//! What clients and dashboards parse has to mean the whole: memory, keys and operations are sums, states are the
//! worst, ratios are taken again from the sums, and what belongs to the process that clients are connected to (its
//! clients, port, uptime) is onetrip's own. `rules` says which field is which. Sections come as the shards gave
//! them, for they were asked for the same ones; fields of our own stand in them even where no shard has them.
//!
//! What shards say of replication is not shown: to its clients onetrip is one primary without replicas.

mod fields;
mod own;
mod rules;

pub use own::Own;

use super::{Misfit, Part};
use crate::resp::request::Args;
use crate::resp::{Proto, value, write};
use fields::Section;

/// Sections in the order that servers give them; others follow.
const ORDER: &[&str] = &[
    "Server",
    "Clients",
    "Memory",
    "Persistence",
    "Threads",
    "Stats",
    "Replication",
    "CPU",
    "Modules",
    "Commandstats",
    "Errorstats",
    "Latencystats",
    "Cluster",
    "Keyspace",
];

/// Which sections the client asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// Lower case; empty: the default ones.
    named: Vec<Vec<u8>>,
}

impl Sections {
    pub fn of(args: Args<'_>) -> Sections {
        Sections { named: args.iter().skip(1).map(<[u8]>::to_ascii_lowercase).collect() }
    }

    /// Whether a section with fields of our own belongs into the answer, also where no shard has it. They are all
    /// among the default ones.
    fn wants(&self, section: &str) -> bool {
        let section = section.to_ascii_lowercase().into_bytes();
        let sets = [&b"default"[..], b"all", b"everything"];
        self.named.is_empty()
            || self.named.iter().any(|name| *name == section || sets.contains(&name.as_slice()))
    }
}

pub(super) fn write(
    sections: &Sections,
    own: &Own,
    parts: &[Part],
    proto: Proto,
    out: &mut Vec<u8>,
) -> Result<(), Misfit> {
    let texts: Vec<String> = parts.iter().map(text).collect::<Result<_, _>>()?;
    let mut found = fields::collect(&texts);
    for name in ORDER {
        let known = found.iter().any(|section| section.name == *name);
        if !known && sections.wants(name) && own.has(name) {
            found.push(Section::empty(name));
        }
    }
    found.sort_by_key(|section| ORDER.iter().position(|name| *name == section.name).unwrap_or(ORDER.len()));
    let written: Vec<String> = found.iter().map(|section| section.write(own)).collect();
    write::verbatim(out, proto, &written.join("\r\n"));
    Ok(())
}

fn text(part: &Part) -> Result<String, Misfit> {
    let misfit = Misfit(part.shard);
    let (value, _) = value::parse(&part.reply).ok().flatten().ok_or(misfit)?;
    let text = value.text().ok_or(misfit)?;
    Ok(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::ShardId;

    fn merged(sections: &[&str], infos: &[&str]) -> String {
        let part = |(i, info): (usize, &&str)| {
            let mut reply = Vec::new();
            write::bulk(&mut reply, info.as_bytes());
            Part { shard: ShardId(i as u16), reply }
        };
        let parts: Vec<Part> = infos.iter().enumerate().map(part).collect();
        let sections = Sections { named: sections.iter().map(|s| s.as_bytes().to_vec()).collect() };
        let own = Own {
            version: "7.4.0".to_owned(),
            port: 6380,
            connected_clients: 7,
            shards: infos.len(),
            ..Own::default()
        };
        let mut out = Vec::new();
        write(&sections, &own, &parts, Proto::Resp2, &mut out).unwrap();
        let (value, _) = value::parse(&out).unwrap().unwrap();
        String::from_utf8(value.text().unwrap().to_vec()).unwrap()
    }

    fn has(info: &str, line: &str) -> bool {
        info.split("\r\n").any(|l| l == line)
    }

    #[test]
    fn memory_and_keys_are_sums_and_ratios_are_taken_from_them() {
        let info = merged(
            &["memory", "keyspace"],
            &[
                "# Memory\r\nused_memory:1048576\r\nused_memory_human:1.00M\r\nused_memory_rss:2097152\r\n\
                 mem_fragmentation_ratio:2.00\r\nmaxmemory_policy:allkeys-lru\r\ntotal_system_memory:9000\r\n\r\n\
                 # Keyspace\r\ndb0:keys=3,expires=1,avg_ttl=100\r\n",
                "# Memory\r\nused_memory:524288\r\nused_memory_human:512.00K\r\nused_memory_rss:1048576\r\n\
                 mem_fragmentation_ratio:2.00\r\nmaxmemory_policy:allkeys-lru\r\ntotal_system_memory:9000\r\n\r\n\
                 # Keyspace\r\ndb0:keys=5,expires=3,avg_ttl=500\r\ndb3:keys=1,expires=0,avg_ttl=0\r\n",
            ],
        );
        assert_eq!(
            info,
            "# Memory\r\nused_memory:1572864\r\nused_memory_human:1.50M\r\nused_memory_rss:3145728\r\n\
             mem_fragmentation_ratio:2.00\r\nmaxmemory_policy:allkeys-lru\r\ntotal_system_memory:9000\r\n\r\n\
             # Keyspace\r\ndb0:keys=8,expires=4,avg_ttl=400\r\n"
        );
    }

    #[test]
    fn states_are_the_worst_and_our_own_fields_stand_for_the_process() {
        let server = "# Server\r\nredis_version:7.0.15\r\ntcp_port:7001\r\nhz:10\r\nlistener0:name=tcp,port=7001\r\n\r\n";
        let info = merged(
            &[],
            &[
                &format!("{server}# Persistence\r\nloading:0\r\nrdb_last_bgsave_status:ok\r\n"),
                &format!(
                    "{server}# Persistence\r\nloading:1\r\nrdb_last_bgsave_status:err\r\nloading_eta_seconds:3\r\n"
                ),
            ],
        );
        for line in [
            "redis_version:7.4.0",
            "redis_mode:standalone",
            "tcp_port:6380",
            "hz:10",
            "connected_clients:7",
            "loading:1",
            "loading_eta_seconds:3",
            "rdb_last_bgsave_status:err",
            "role:master",
            "connected_slaves:0",
            "cluster_enabled:0",
        ] {
            assert!(has(&info, line), "{line} is missing in\n{info}");
        }
        assert!(!info.contains("listener0") && !info.contains("7001"), "{info}");
    }

    #[test]
    fn a_replica_among_the_shards_does_not_show() {
        let info = merged(
            &["replication"],
            &["# Replication\r\nrole:slave\r\nmaster_host:10.0.0.1\r\nmaster_link_status:up\r\n"],
        );
        assert!(has(&info, "role:master") && !info.contains("10.0.0.1"), "{info}");
    }

    #[test]
    fn statistics_of_commands_and_errors_are_added_up() {
        let info = merged(
            &["commandstats", "errorstats"],
            &[
                "# Commandstats\r\ncmdstat_get:calls=2,usec=10,usec_per_call=5.00,rejected_calls=0,failed_calls=0\r\n\r\n\
                 # Errorstats\r\nerrorstat_ERR:count=1\r\n",
                "# Commandstats\r\ncmdstat_get:calls=2,usec=30,usec_per_call=15.00,rejected_calls=1,failed_calls=0\r\n\r\n\
                 # Errorstats\r\nerrorstat_ERR:count=2\r\nerrorstat_OOM:count=4\r\n",
            ],
        );
        assert_eq!(
            info,
            "# Commandstats\r\ncmdstat_get:calls=4,usec=40,usec_per_call=10.00,rejected_calls=1,failed_calls=0\r\n\r\n\
             # Errorstats\r\nerrorstat_ERR:count=3\r\nerrorstat_OOM:count=4\r\n"
        );
    }

    #[test]
    fn an_unknown_section_is_empty() {
        assert_eq!(merged(&["nosuch"], &["", ""]), "");
    }
}
