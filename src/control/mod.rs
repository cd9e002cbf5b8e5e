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

/// What is known of all shards.
pub struct Overview {
    gauges: Arc<[ShardGauge]>,
    versions: Mutex<Vec<Option<String>>>,
    on_version: OnVersion,
}

impl Overview {
    pub fn new(gauges: Arc<[ShardGauge]>, on_version: OnVersion) -> Overview {
        let versions = Mutex::new(vec![None; gauges.len()]);
        Overview { gauges, versions, on_version }
    }

    /// Asks one shard again and again; does not end.
    pub async fn watch(self: Arc<Overview>, shard: usize, target: Target, timeouts: Timeouts) {
        loop {
            if let Ok(mut socket) = dial(&target, Proto::Resp2, &timeouts).await {
                while let Ok(Ok(info)) = timeout(timeouts.handshake, info(&mut socket)).await {
                    self.learn(shard, &info);
                    sleep(ASK_EVERY).await;
                }
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
        let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        versions[shard] = Some(field(info, "redis_version").unwrap_or("0.0.0").to_owned());
        let all: Option<Vec<&str>> = versions.iter().map(Option::as_deref).collect();
        if let Some(lowest) = all.and_then(|all| all.into_iter().min_by_key(|version| numbers(version))) {
            (self.on_version)(lowest);
        }
    }
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
}
