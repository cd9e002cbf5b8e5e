//! A real redis-server for one test.
//!
//! Owns its process, its port or unix socket and its directory. It saves nothing unless asked to (`append_only`),
//! so that a killed one comes back empty; with the append-only file, what it acknowledged survives SIGKILL, because
//! the file is written before the reply. `ONETRIP_TEST_REDIS_SERVER` names another binary (redis or valkey).

use super::client::{Address, Client};
use super::process::{Process, free_port};
use super::wait_until;
use nix::sys::signal::Signal;
use std::time::Duration;
use tempfile::TempDir;

#[derive(Clone, Default)]
pub struct RedisOptions {
    pub unix: bool,
    pub append_only: bool,
    /// A node of a real cluster.
    pub cluster: bool,
    pub password: Option<&'static str>,
}

pub struct RedisServer {
    dir: TempDir,
    args: Vec<String>,
    address: Address,
    password: Option<&'static str>,
    process: Process,
}

impl RedisServer {
    pub fn start() -> RedisServer {
        RedisServer::with(&RedisOptions::default())
    }

    pub fn with(options: &RedisOptions) -> RedisServer {
        let dir = TempDir::new().expect("a temporary directory");
        let (address, port, socket) = if options.unix {
            let path = dir.path().join("s");
            let path = path.to_str().expect("a plain path").to_owned();
            (Address::Unix(path.clone()), 0, path)
        } else {
            let port = free_port();
            (Address::local(port), port, String::new())
        };
        let append_only = if options.append_only { "yes" } else { "no" };
        let mut text = format!(
            "--port {port} --bind 127.0.0.1 --save '' --appendonly {append_only} --appendfsync no --loglevel warning \
             --maxclients 12000"
        );
        if options.unix {
            text += &format!(" --unixsocket {socket}");
        }
        if options.cluster {
            // Else it takes its port and 10,000, which may be no port at all.
            text += &format!(" --cluster-enabled yes --cluster-port {}", free_port());
        }
        if let Some(password) = options.password {
            text += &format!(" --requirepass {password}");
        }
        let args: Vec<String> =
            text.split(' ').map(|word| if word == "''" { "" } else { word }).map(str::to_owned).collect();
        let process = spawn(&args, &dir);
        let server = RedisServer { dir, args, address, password: options.password, process };
        server.wait_until_ready();
        server
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// A connection straight to this server, authenticated where it asks for a password.
    pub fn client(&self) -> Client {
        let mut client = Client::connect(&self.address);
        if let Some(password) = self.password {
            client.expect(&["AUTH", password], "+OK\r\n");
        }
        client
    }

    /// A field of its INFO.
    pub fn info(&self, field: &str) -> Option<String> {
        let text = self.client().command(&["INFO", "everything"]).text();
        let line = text.lines().find(|l| l.strip_prefix(field).is_some_and(|r| r.starts_with(':')))?;
        Some(line[field.len() + 1..].to_owned())
    }

    /// How often it has run `command`, by its own count.
    pub fn calls(&self, command: &str) -> u64 {
        let Some(stats) = self.info(&format!("cmdstat_{command}")) else {
            return 0;
        };
        let calls = stats.strip_prefix("calls=").unwrap_or_default();
        calls.split(',').next().and_then(|n| n.parse().ok()).expect("calls=N")
    }

    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again at the same address, in the same directory.
    pub fn restart(&mut self) {
        self.process.kill();
        self.process = spawn(&self.args, &self.dir);
        self.wait_until_ready();
    }

    /// Stops it from running without closing anything (SIGSTOP).
    pub fn freeze(&self) {
        self.process.signal(Signal::SIGSTOP);
    }

    pub fn thaw(&self) {
        self.process.signal(Signal::SIGCONT);
    }

    fn wait_until_ready(&self) {
        wait_until("redis-server answers PING", Duration::from_secs(20), || {
            let Ok(mut client) = Client::try_connect(&self.address) else {
                return false;
            };
            let reply = client.command(&["PING"]);
            reply.is_simple("PONG") || reply.is_error("NOAUTH")
        });
    }
}

fn spawn(args: &[String], dir: &TempDir) -> Process {
    let program = std::env::var("ONETRIP_TEST_REDIS_SERVER");
    let program = program.as_deref().unwrap_or("redis-server");
    Process::start("redis-server", program, args, dir.path())
}
