//! The admin address as a scraper sees it: plain HTTP/1.1 and the Prometheus text format.
//!
//! A sample is looked up by family and by labels that must all be there; sums over the remaining labels are the
//! caller's wish (`sum`), never made silently.

use super::client::Address;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

pub struct Http {
    pub status: u16,
    pub body: String,
}

/// GET of a path at a local HTTP port.
#[track_caller]
pub fn http_get(address: &Address, path: &str) -> Http {
    let Address::Tcp(host) = address else { panic!("HTTP is spoken over TCP") };
    let mut stream = TcpStream::connect(host).unwrap_or_else(|e| panic!("admin at {host}: {e}"));
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout can be set");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        .expect("the request can be sent");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap_or_else(|e| panic!("GET {path}: {e}"));
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
    Http { status: status.expect("a status line"), body: body.to_owned() }
}

pub struct Sample {
    family: String,
    labels: Vec<(String, String)>,
    value: f64,
}

pub struct Metrics {
    samples: Vec<Sample>,
}

impl Metrics {
    #[track_caller]
    pub fn read(admin: &Address) -> Metrics {
        let answer = http_get(admin, "/metrics");
        assert_eq!(answer.status, 200, "/metrics says {}", answer.body);
        Metrics::parse(&answer.body)
    }

    fn parse(text: &str) -> Metrics {
        let lines = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
        Metrics { samples: lines.map(sample).collect() }
    }

    /// The sum of a family's samples that carry these labels; 0 where there are none.
    pub fn sum(&self, family: &str, labels: &[(&str, &str)]) -> f64 {
        let carries = |sample: &Sample, (name, value): &(&str, &str)| {
            sample.labels.iter().any(|(n, v)| n == name && v == value)
        };
        self.samples
            .iter()
            .filter(|s| s.family == family && labels.iter().all(|label| carries(s, label)))
            .map(|s| s.value)
            .sum()
    }

    pub fn has(&self, family: &str) -> bool {
        self.samples.iter().any(|s| s.family == family)
    }
}

fn sample(line: &str) -> Sample {
    let (head, value) = line.rsplit_once(' ').expect("name and value");
    let (family, labels) = head.split_once('{').unwrap_or((head, "}"));
    let labels = labels.strip_suffix('}').expect("labels end with a brace");
    let labels = labels.split(',').filter(|l| !l.is_empty()).map(|label| {
        let (name, value) = label.split_once('=').expect("label=\"value\"");
        (name.to_owned(), value.trim_matches('"').to_owned())
    });
    Sample { family: family.to_owned(), labels: labels.collect(), value: value.parse().expect("a number") }
}

#[test]
fn samples_are_found_by_family_and_labels() {
    let text = "# HELP a b\na{x=\"1\",y=\"2\"} 3\na{x=\"2\",y=\"2\"} 4\nb 1e3\n";
    let metrics = Metrics::parse(text);
    assert_eq!(metrics.sum("a", &[("x", "1")]), 3.0);
    assert_eq!(metrics.sum("a", &[("y", "2")]), 7.0);
    assert_eq!(metrics.sum("b", &[]), 1000.0);
    assert!(!metrics.has("c"));
}
