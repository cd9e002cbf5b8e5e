//! What INFO says of onetrip itself, in place of what a shard says of its own process.

/// The figures of the process that clients are connected to.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The server version that clients are told.
    pub version: String,
    /// 40 hex digits, new with every start.
    pub run_id: String,
    pub port: u16,
    pub executable: String,
    pub config_file: String,
    /// Unix time, microseconds.
    pub now_us: u64,
    pub uptime_s: u64,
    pub shards: usize,
    pub workers: usize,
    pub connected_clients: usize,
    pub max_clients: usize,
    pub connections_received: u64,
    pub connections_rejected: u64,
}

impl Own {
    /// Whether there are fields of ours in this section.
    pub(super) fn has(&self, section: &str) -> bool {
        matches!(
            section,
            "Server" | "Clients" | "Persistence" | "Stats" | "Replication" | "Cluster" | "Keyspace"
        )
    }

    /// Our fields of a section, each to stand in the place of the shards'.
    pub(super) fn fields(&self, section: &str) -> Vec<(&'static str, String)> {
        match section {
            "Server" => self.server(),
            "Clients" => vec![
                ("connected_clients", self.connected_clients.to_string()),
                ("cluster_connections", "0".to_owned()),
                ("maxclients", self.max_clients.to_string()),
            ],
            "Stats" => vec![
                ("total_connections_received", self.connections_received.to_string()),
                ("rejected_connections", self.connections_rejected.to_string()),
            ],
            "Replication" => self.replication(),
            "Cluster" => vec![("cluster_enabled", "0".to_owned())],
            _ => Vec::new(),
        }
    }

    /// Fields that stand where no shard has them.
    pub(super) fn fallbacks(&self, section: &str) -> &'static [(&'static str, &'static str)] {
        match section {
            "Persistence" => &[("loading", "0")],
            _ => &[],
        }
    }

    fn server(&self) -> Vec<(&'static str, String)> {
        vec![
            ("redis_version", self.version.clone()),
            ("redis_mode", "standalone".to_owned()),
            ("process_id", std::process::id().to_string()),
            ("run_id", self.run_id.clone()),
            ("tcp_port", self.port.to_string()),
            ("server_time_usec", self.now_us.to_string()),
            ("uptime_in_seconds", self.uptime_s.to_string()),
            ("uptime_in_days", (self.uptime_s / 86_400).to_string()),
            ("executable", self.executable.clone()),
            ("config_file", self.config_file.clone()),
            ("onetrip_version", env!("CARGO_PKG_VERSION").to_owned()),
            ("onetrip_shards", self.shards.to_string()),
            ("onetrip_workers", self.workers.to_string()),
        ]
    }

    /// A primary without replicas, as ROLE says.
    fn replication(&self) -> Vec<(&'static str, String)> {
        let fields = [
            ("role", "master"),
            ("connected_slaves", "0"),
            ("master_failover_state", "no-failover"),
            ("master_replid", &self.run_id),
            ("master_replid2", "0000000000000000000000000000000000000000"),
            ("master_repl_offset", "0"),
            ("second_repl_offset", "-1"),
            ("repl_backlog_active", "0"),
            ("repl_backlog_size", "0"),
            ("repl_backlog_first_byte_offset", "0"),
            ("repl_backlog_histlen", "0"),
        ];
        fields.map(|(name, value)| (name, value.to_owned())).to_vec()
    }
}
