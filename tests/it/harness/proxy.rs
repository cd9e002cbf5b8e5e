//! onetrip itself: the built binary, started on free ports, ended with its handle.
//!
//! `ONETRIP_TEST_TARGET=direct` puts one plain redis-server in its place: a way to judge the tests by the server
//! whose behaviour they ask for. Tests of what only a proxy has (metrics, shards, limits) fail then, as they should.

use super::client::{Address, Client};
use super::metrics::{Http, Metrics, http_get};
use super::process::{Memory, Process, free_port};
use super::redis_server::{RedisOptions, RedisServer};
use super::wait_until;
use nix::sys::signal::Signal;
use std::process::ExitStatus;
use std::time::Duration;
use tempfile::TempDir;

/// The binary under test, run to its end with `args`: exit code and everything that it printed.
pub fn onetrip(args: &[&str]) -> (i32, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_onetrip"))
        .args(args)
        .output()
        .expect("the binary runs");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text += &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap_or(-1), text)
}

/// Plain redis-servers, one a shard.
pub fn redis_servers(count: usize) -> Vec<RedisServer> {
    (0..count).map(|_| RedisServer::start()).collect()
}

/// How to start onetrip; every field left out is its default.
#[derive(Clone, Debug, Default)]
pub struct ProxyOptions {
    /// Addresses of standalone shards; none for embedded ones.
    pub backends: Vec<String>,
    /// Number of embedded shards.
    pub shards: usize,
    pub workers: usize,
    /// Further lines of a configuration file.
    pub config: String,
    /// The password that clients must give.
    pub password: Option<&'static str>,
    /// Listen on a unix socket too.
    pub unix: bool,
    /// Further addresses to listen on.
    pub listen: Vec<String>,
}

pub struct Proxy {
    process: Process,
    address: Address,
    admin: Address,
    unix: Option<Address>,
    password: Option<&'static str>,
    stand_in: Option<RedisServer>,
    _dir: TempDir,
}

impl Proxy {
    /// In front of these servers, in this order.
    pub fn over(servers: &[RedisServer]) -> Proxy {
        Proxy::with(ProxyOptions { backends: addresses(servers), ..ProxyOptions::default() })
    }

    /// With embedded shards.
    pub fn embedded(shards: usize) -> Proxy {
        Proxy::with(ProxyOptions { shards, ..ProxyOptions::default() })
    }

    /// In front of these servers, with further lines of configuration.
    pub fn configured(servers: &[RedisServer], config: &str) -> Proxy {
        Proxy::with(ProxyOptions {
            backends: addresses(servers),
            config: config.to_owned(),
            ..ProxyOptions::default()
        })
    }

    pub fn with(options: ProxyOptions) -> Proxy {
        let mut proxy = Proxy::spawn(options);
        proxy.wait_until_ready();
        proxy
    }

    /// Serving, but not waited for until its shards answer.
    pub fn unready(options: ProxyOptions) -> Proxy {
        let mut proxy = Proxy::spawn(options);
        proxy.wait_until_serving();
        proxy
    }

    fn spawn(options: ProxyOptions) -> Proxy {
        let dir = TempDir::new().expect("a temporary directory");
        let direct = std::env::var_os("ONETRIP_TEST_TARGET").is_some_and(|v| v == "direct");
        let stand_in = direct.then(|| {
            RedisServer::with(&RedisOptions { password: options.password, ..RedisOptions::default() })
        });
        let (address, admin) = match &stand_in {
            Some(server) => (server.address().clone(), server.address().clone()),
            None => (Address::local(free_port()), Address::local(free_port())),
        };
        let socket = dir.path().join("s");
        let unix = (options.unix && !direct)
            .then(|| Address::Unix(socket.to_str().expect("a plain path").to_owned()));
        let args = flags(&options, &address, &admin, unix.as_ref(), &dir);
        let process = if direct {
            Process::start("nothing", "true", &[], dir.path())
        } else {
            Process::start("onetrip", env!("CARGO_BIN_EXE_onetrip"), &args, dir.path())
        };
        Proxy { process, address, admin, unix, password: options.password, stand_in, _dir: dir }
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    pub fn unix(&self) -> &Address {
        self.unix.as_ref().expect("asked for with the options")
    }

    #[track_caller]
    pub fn client(&self) -> Client {
        Client::connect(&self.address)
    }

    #[track_caller]
    pub fn client_speaking(&self, version: u8) -> Client {
        Client::speaking(&self.address, version)
    }

    #[track_caller]
    pub fn metrics(&self) -> Metrics {
        Metrics::read(&self.admin)
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Http {
        http_get(&self.admin, path)
    }

    pub fn memory(&self) -> Memory {
        self.process.memory()
    }

    pub fn forget_peak(&self) {
        self.process.forget_peak();
    }

    pub fn terminate(&self) {
        self.process.signal(Signal::SIGTERM);
    }

    /// Ends it as no one can prepare for (SIGKILL).
    pub fn kill(&mut self) {
        self.process.kill();
    }

    pub fn running(&mut self) -> bool {
        self.stand_in.is_some() || self.process.ended().is_none()
    }

    #[track_caller]
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        self.process.wait(limit)
    }

    pub fn output(&self) -> String {
        self.process.output()
    }

    fn wait_until_ready(&mut self) {
        self.wait_until_serving();
        if self.stand_in.is_none() {
            wait_until("onetrip is ready", Duration::from_secs(20), || self.get("/readyz").status == 200);
        }
    }

    fn wait_until_serving(&mut self) {
        let expected = if self.password.is_some() { "NOAUTH" } else { "PONG" };
        wait_until("onetrip answers PING", Duration::from_secs(20), || {
            assert!(self.running(), "onetrip ended at start");
            let Ok(mut client) = Client::try_connect(&self.address) else { return false };
            let reply = client.command(&["PING"]);
            reply.is_simple(expected) || reply.is_error(expected)
        });
    }
}

pub fn addresses(servers: &[RedisServer]) -> Vec<String> {
    servers.iter().map(|s| s.address().flag()).collect()
}

fn flags(
    options: &ProxyOptions,
    address: &Address,
    admin: &Address,
    unix: Option<&Address>,
    dir: &TempDir,
) -> Vec<String> {
    let mut args = vec!["--listen".to_owned(), address.flag()];
    if let Some(unix) = unix {
        args.extend(["--listen".to_owned(), unix.flag()]);
    }
    for further in &options.listen {
        args.extend(["--listen".to_owned(), further.clone()]);
    }
    args.extend(["--admin".to_owned(), admin.flag()]);
    if !options.backends.is_empty() {
        args.extend(["--backend".to_owned(), options.backends.join(",")]);
    } else if options.shards > 0 {
        args.extend(["--shards".to_owned(), options.shards.to_string()]);
    }
    if options.workers > 0 {
        args.extend(["--workers".to_owned(), options.workers.to_string()]);
    }
    let mut config = options.config.clone();
    if let Some(password) = options.password {
        config += &format!("\n[[user]]\nname = \"default\"\npassword = \"{password}\"\n");
    }
    if !config.is_empty() {
        let path = dir.path().join("onetrip.toml");
        std::fs::write(&path, config).expect("the configuration can be written");
        args.extend(["--config".to_owned(), path.display().to_string()]);
    }
    args
}
