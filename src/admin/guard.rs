//! Who may ask, by Host and Origin.
//!
//! A web page anywhere can make a visitor's browser send requests to 127.0.0.1, and can make its own host name resolve
//! there (DNS rebinding). So Host must name this machine's loopback or the address listened on, and an Origin, where
//! one is sent, must be the page's own. Everything else is 403.
//!
//! Off loopback scrapers and probes come by names that nobody told us, so /metrics, /livez and /readyz, which are
//! open to whoever reaches the port anyway, take any Host there; everything else is for this machine alone.

use super::Shared;
use super::listener::Peer;
use crate::address::{Address, is_loopback};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

const OPEN: &[&str] = &["/metrics", "/livez", "/readyz"];

pub struct Guard {
    /// The host listened on.
    host: String,
    local: bool,
}

impl Guard {
    pub fn new(address: &Address) -> Guard {
        let host = match address {
            Address::Tcp { host, .. } => host.clone(),
            Address::Unix(_) => String::new(),
        };
        Guard { host, local: address.is_local() }
    }

    /// Why a request is refused.
    fn refusal(&self, path: &str, from_here: bool, headers: &HeaderMap) -> Option<&'static str> {
        let authority = text(headers.get(header::HOST)).unwrap_or_default();
        if let Some(origin) = headers.get(header::ORIGIN)
            && text(Some(origin)).and_then(|o| o.strip_prefix("http://")) != Some(authority)
        {
            return Some("another site's page may not ask this\n");
        }
        if !self.local && OPEN.contains(&path) {
            return None;
        }
        if !self.local && !from_here {
            return Some("in this version only /metrics, /livez and /readyz are served to other machines\n");
        }
        let host = host_of(authority);
        let named = is_loopback(host) || (!self.host.is_empty() && host.eq_ignore_ascii_case(&self.host));
        (!named).then_some("Host is not this machine's loopback nor the address listened on\n")
    }
}

pub async fn check(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let here = peer.ip().to_canonical().is_loopback();
    match shared.guard.refusal(request.uri().path(), here, request.headers()) {
        Some(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
        None => with_headers(next.run(request).await),
    }
}

/// The page runs its own script and nobody else's, in nobody else's frame; figures are never cached.
fn with_headers(mut response: Response) -> Response {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                          img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value.and_then(|value| value.to_str().ok())
}

/// The host of `host:port`, without the brackets of an IPv6 address.
fn host_of(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split_once(']').map_or("", |(host, _)| host);
    }
    authority.rsplit_once(':').map_or(authority, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Target;

    fn allowed(listen: &str, path: &str, here: bool, host: &str, origin: Option<&str>) -> bool {
        let guard = Guard::new(&Target::parse(listen).unwrap().address);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        guard.refusal(path, here, &headers).is_none()
    }

    #[test]
    fn on_loopback_only_its_names_pass() {
        let ask = |host: &str, origin| allowed("127.0.0.1:9380", "/metrics", true, host, origin);
        for host in ["127.0.0.1:9380", "localhost:9380", "[::1]:9380", "localhost"] {
            assert!(ask(host, None), "{host}");
        }
        for host in ["evil.example:9380", "127.0.0.1.evil.example", "10.0.0.1:9380", "", "[::1"] {
            assert!(!ask(host, None), "{host}");
        }
        assert!(ask("localhost:9380", Some("http://localhost:9380")));
        for origin in ["http://evil.example", "null", "http://localhost:1", "https://localhost:9380"] {
            assert!(!ask("localhost:9380", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn off_loopback_others_get_only_what_is_open() {
        let listen = "0.0.0.0:9380";
        assert!(allowed(listen, "/metrics", false, "onetrip:9380", None));
        assert!(!allowed(listen, "/", false, "onetrip:9380", None));
        assert!(!allowed(listen, "/api/shards", false, "localhost:9380", None));
        assert!(allowed(listen, "/", true, "localhost:9380", None));
        assert!(!allowed(listen, "/", true, "evil.example", None));
        assert!(!allowed(listen, "/metrics", false, "h", Some("http://evil.example")));
    }
}
