//! The admin address: metrics, health and the live page, over HTTP, on a thread of its own.
//!
//! ```text
//!   workers ──counters──► Metrics ◄── /metrics  /api/shards  / (page)
//!   proxy ────state─────► Health  ◄── /livez  /readyz
//! ```
//!
//! It only reads. It must never slow a worker down or wait for one, so it has its own runtime and shares nothing with
//! the data path but the counters. Who may ask is `guard`'s; how many at a time and how long is `listener`'s.

mod api;
mod guard;
mod health;
mod listener;
mod page;

pub use health::{Health, State};

use crate::address::Address;
use crate::metrics::{self, Metrics};
use axum::Router;
use axum::extract::State as Extract;
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus::Registry;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Instant;

/// What the admin address tells about.
pub struct Facts {
    pub metrics: Arc<Metrics>,
    pub health: Arc<Health>,
    /// What people call the shards, in order.
    pub shard_names: Vec<String>,
    pub started: Instant,
}

struct Shared {
    facts: Facts,
    registry: Registry,
    guard: guard::Guard,
}

/// Binds the address. Done before anything is started, so that a taken port is a clean failure.
pub fn bind(address: &Address) -> io::Result<TcpListener> {
    let Address::Tcp { host, port } = address else {
        return Err(io::Error::other("the admin address is not host:port"));
    };
    let candidates: Vec<SocketAddr> = (host.as_str(), *port).to_socket_addrs()?.collect();
    let listener = TcpListener::bind(candidates.as_slice())?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Serves on a thread of its own until the process ends.
pub fn spawn(listener: TcpListener, address: &Address, facts: Facts) -> io::Result<()> {
    let registry = facts.metrics.registry().map_err(io::Error::other)?;
    let shared = Arc::new(Shared { facts, registry, guard: guard::Guard::new(address) });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name("admin".to_owned());
    thread.spawn(move || {
        if let Err(error) = runtime.block_on(serve(listener, shared)) {
            tracing::error!(%error, "the admin address is no longer served");
        }
    })?;
    Ok(())
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) -> io::Result<()> {
    let listener = listener::Bounded::new(tokio::net::TcpListener::from_std(listener)?);
    let sampler = Arc::clone(&shared);
    tokio::spawn(async move { sample(&sampler.facts.metrics).await });
    let service = router(shared).into_make_service_with_connect_info::<listener::Peer>();
    axum::serve(listener, service).await
}

/// Keeps the last minute's load at hand when nobody scrapes.
async fn sample(metrics: &Metrics) {
    let mut ticks = tokio::time::interval(metrics::SAMPLE_EVERY);
    loop {
        ticks.tick().await;
        metrics.sample(Instant::now());
    }
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page::html))
        .route("/page.css", get(page::css))
        .route("/page.js", get(page::js))
        .route("/api/shards", get(api::shards))
        .route("/metrics", get(text_metrics))
        .route("/livez", get(live))
        .route("/readyz", get(ready))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::check))
        .with_state(shared)
}

async fn text_metrics(Extract(shared): Extract<Arc<Shared>>) -> Response {
    match metrics::render(&shared.registry) {
        Ok(text) => ([(header::CONTENT_TYPE, prometheus::TEXT_FORMAT)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

/// Alive means that this thread answers; a stuck worker shows in the age of its oldest command in flight.
async fn live() -> &'static str {
    "ok\n"
}

async fn ready(Extract(shared): Extract<Arc<Shared>>) -> Response {
    match shared.facts.health.state() {
        State::Serving => "ready\n".into_response(),
        State::Starting => {
            (StatusCode::SERVICE_UNAVAILABLE, "not ready: shards have not answered yet\n").into_response()
        }
        State::Draining => (StatusCode::SERVICE_UNAVAILABLE, "not ready: draining\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Target;
    use crate::metrics::{ShardGauge, WorkerMetrics};
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn serve() -> (u16, Arc<Health>) {
        let worker = Arc::new(WorkerMetrics::new(1, 1));
        worker.client_trip(5);
        worker.shards[0].trip(5, 100);
        let address = Target::parse("127.0.0.1:0").unwrap().address;
        let listener = bind(&address).unwrap();
        let port = listener.local_addr().unwrap().port();
        let health = Arc::new(Health::default());
        let gauges: Arc<[ShardGauge]> = Arc::new([ShardGauge::default()]);
        let facts = Facts {
            metrics: Metrics::new(vec![worker], gauges, vec!["get"]),
            health: Arc::clone(&health),
            shard_names: vec!["embedded".to_owned()],
            started: Instant::now(),
        };
        spawn(listener, &address, facts).unwrap();
        (port, health)
    }

    fn get_with(port: u16, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(port: u16, path: &str) -> String {
        get_with(port, path, "localhost")
    }

    #[test]
    fn readiness_follows_the_state() {
        let (port, health) = serve();
        assert!(get(port, "/livez").starts_with("HTTP/1.1 200"));
        assert!(get(port, "/readyz").starts_with("HTTP/1.1 503"));
        health.advance(State::Serving);
        assert!(get(port, "/readyz").starts_with("HTTP/1.1 200"));
        health.advance(State::Draining);
        assert!(get(port, "/readyz").ends_with("not ready: draining\n"));
    }

    #[test]
    fn the_page_and_a_scrape_show_the_same_figures() {
        let (port, _) = serve();
        assert!(get(port, "/metrics").contains("onetrip_round_trips_saved_total{side=\"shard\"} 4\n"));
        let json = get(port, "/api/shards");
        let body = json.split_once("\r\n\r\n").unwrap().1;
        let answer: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(answer["shard"]["round_trips_saved"], 4);
        assert_eq!(answer["shards"][0]["name"], "embedded");
        assert_eq!(answer["shards"][0]["keys"], serde_json::Value::Null);
        assert!(get(port, "/").contains("<title>onetrip</title>"));
        assert!(get_with(port, "/metrics", "evil.example").starts_with("HTTP/1.1 403"));
    }
}
