//! The control side of standalone shards: what they are, asked now and then on connections of its own.
//!
//! It runs on the control thread, never on a worker's: a shard that is slow to say how many keys it has must not delay
//! a client. It only looks: reachable, version, keys, memory. Who is served and how is the lanes' business.

use crate::address::Target;
use crate::lane::dial::dial;
use crate::limits::Timeouts;
use crate::metrics::ShardGauge;
use crate::resp::reply::Scanner;
use crate::resp::{Proto, write};
use crate::socket::Socket;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

/// How often a shard is asked, and how soon again while it does not answer.
const ASK_EVERY: Duration = Duration::from_secs(2);
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// Called with the lowest version of the shards, once all of them have answered and whenever it changes.
type OnVersion = Box<dyn Fn(&str) + Send + Sync>;

/// The version that clients are told of a shard that does not say: the oldest that is supported.
const VERSION_UNTOLD: &str = "7.0.0";

/// What is known of all shards.
pub struct Overview {
    gauges: Arc<[ShardGauge]>,
    known: Mutex<Vec<Known>>,
    on_version: OnVersion,
}

/// What is known of one shard.
#[derive(Clone, Default)]
struct Known {
    /// `None` until it can be served from.
    version: Option<String>,
    run_id: Option<String>,
    /// What was said of it last, so that it is said once.
    said: Option<&'static str>,
}

impl Overview {
    pub fn new(gauges: Arc<[ShardGauge]>, on_version: OnVersion) -> Overview {
        let known = Mutex::new(vec![Known::default(); gauges.len()]);
        Overview { gauges, known, on_version }
    }

    /// Asks one shard again and again; does not end.
    pub async fn watch(self: Arc<Overview>, shard: usize, target: Target, timeouts: Timeouts) {
        let mut complaint = None;
        loop {
            match dial(&target, Proto::Resp2, &timeouts).await {
                Ok(mut socket) => {
                    if complaint.take().is_some() {
                        tracing::info!(shard, address = %target.address, "the shard answers now");
                    }
                    while let Ok(Ok(info)) = timeout(timeouts.handshake, info(&mut socket)).await {
                        self.learn(shard, &info);
                        sleep(ASK_EVERY).await;
                    }
                }
                Err(error) if complaint.as_ref() != Some(&error) => {
                    tracing::warn!(shard, address = %target.address, error = error.advice(), "the shard does not answer, trying on");
                    complaint = Some(error);
                }
                Err(_) => {}
            }
            sleep(ASK_AGAIN).await;
        }
    }

    fn learn(&self, shard: usize, info: &str) {
        let gauge = &self.gauges[shard];
        gauge.keys.set(keys(info) as f64);
        if let Some(bytes) = field(info, "used_memory").and_then(|bytes| bytes.parse().ok()) {
            gauge.memory_bytes.set(bytes);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known[shard].run_id = field(info, "run_id").map(str::to_owned);
        let objection = objection(&known, shard, info);
        let version = field(info, "redis_version").unwrap_or(VERSION_UNTOLD).to_owned();
        known[shard].version = objection.is_none().then_some(version);
        let untold = info.starts_with('-').then_some("its INFO is refused to this user, so its version, keys and memory are not known; shards.report_version says what clients are told");
        let say = objection.or(untold);
        if say != std::mem::replace(&mut known[shard].said, say)
            && let Some(say) = say
        {
            tracing::error!(shard, "{say}");
        }
        let all: Option<Vec<&str>> = known.iter().map(|known| known.version.as_deref()).collect();
        if let Some(lowest) = all.and_then(|all| all.into_iter().min_by_key(|version| numbers(version))) {
            (self.on_version)(lowest);
        }
    }
}

/// Why a server can't be this shard, however well it answers.
fn objection(known: &[Known], shard: usize, info: &str) -> Option<&'static str> {
    let own = &known[shard].run_id;
    if field(info, "cluster_enabled") == Some("1") {
        return Some("it is a node of a real cluster, which this version can't serve: name plain servers");
    }
    let twice =
        own.is_some() && known.iter().enumerate().any(|(i, other)| i != shard && other.run_id == *own);
    twice.then_some("it is the same server as another shard: name each server once")
}

async fn info(socket: &mut Socket) -> io::Result<String> {
    let mut request = Vec::new();
    write::request(&mut request, &["INFO"]);
    socket.write_all(&request).await?;
    let (mut scanner, mut reply, mut seen) = (Scanner::default(), Vec::new(), 0);
    loop {
        if socket.read_buf(&mut reply).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match scanner.scan(&reply[seen..]) {
            Ok(Some(_)) => return Ok(String::from_utf8_lossy(&reply).into_owned()),
            Ok(None) => seen = reply.len(),
            Err(fault) => return Err(io::Error::other(fault.to_string())),
        }
    }
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// Keys of all databases.
fn keys(info: &str) -> u64 {
    let count =
        |line: &str| line.strip_prefix("db")?.split_once(":keys=")?.1.split(',').next()?.parse::<u64>().ok();
    info.lines().filter_map(count).sum()
}

fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "$99\r\n# Server\r\nredis_version:7.0.15\r\n# Memory\r\nused_memory:1024\r\n\
        # Keyspace\r\ndb0:keys=3,expires=0,avg_ttl=0\r\ndb5:keys=4,expires=1,avg_ttl=9\r\n";

    #[test]
    fn the_lowest_version_is_told_once_all_are_known() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = Arc::clone(&told);
        let gauges: Arc<[ShardGauge]> = Arc::new([ShardGauge::default(), ShardGauge::default()]);
        let note = Box::new(move |version: &str| tell.lock().expect("told").push(version.to_owned()));
        let overview = Overview::new(Arc::clone(&gauges), note);
        overview.learn(0, &INFO.replace("7.0.15", "7.2.10"));
        assert!(told.lock().expect("told").is_empty());
        overview.learn(1, &INFO.replace("7.0.15", "7.2.9"));
        assert_eq!(*told.lock().expect("told"), ["7.2.9"]);
        assert_eq!(gauges[0].keys.get(), Some(7.0));
        assert_eq!(gauges[1].memory_bytes.get(), Some(1024.0));
    }

    #[test]
    fn what_can_not_be_a_shard_keeps_the_whole_from_being_ready() {
        let told = Arc::new(Mutex::new(0));
        let tell = Arc::clone(&told);
        let gauges: Arc<[ShardGauge]> = Arc::new([ShardGauge::default(), ShardGauge::default()]);
        let overview = Overview::new(gauges, Box::new(move |_| *tell.lock().expect("told") += 1));
        let server = |run_id: &str| format!("redis_version:7.0.15\r\nrun_id:{run_id}\r\n");
        overview.learn(0, &server("a"));
        overview.learn(1, &server("a"));
        overview.learn(1, &format!("{}cluster_enabled:1\r\n", server("b")));
        assert_eq!(*told.lock().expect("told"), 0);
        overview.learn(1, &server("b"));
        assert_eq!(*told.lock().expect("told"), 1);
        overview.learn(1, "-NOPERM no INFO\r\n");
        assert_eq!(*told.lock().expect("told"), 2);
    }
}
