//! What a configuration means, checked whole: precedence, defaults, and every fault of one run.

use super::*;
use crate::config::REFERENCE;

fn load_text(text: &str, args: &[&str], env: &[(&str, &str)]) -> Result<Config, Faults> {
    let file = tempfile(text);
    let args = args.iter().map(|arg| arg.to_string());
    let argv = ["onetrip".to_owned(), "--config".to_owned(), file.clone()].into_iter().chain(args);
    let args = <crate::config::args::Args as clap::Parser>::parse_from(argv).serve;
    let names: Vec<String> = env.iter().map(|(name, _)| name.to_string()).collect();
    let value = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
    let config = load_from(&args, &value, &names);
    std::fs::remove_file(file).unwrap();
    config
}

fn tempfile(text: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("onetrip-check-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn keys(result: Result<Config, Faults>) -> Vec<String> {
    result.unwrap_err().0.into_iter().map(|fault| fault.key).collect()
}

#[test]
fn the_reference_is_the_defaults() {
    let reference = load_text(REFERENCE, &[], &[]).unwrap();
    assert_eq!(reference, load_text("", &[], &[]).unwrap());
    assert_eq!(reference.timeouts, Timeouts::default());
    assert_eq!(reference.limits, Limits::default());
}

#[test]
fn the_reference_documents_every_key() {
    for key in file::KNOWN {
        let name = key.rsplit('.').next().unwrap();
        let documented = |line: &str| {
            let line = line.trim_start_matches("# ");
            line.starts_with(&format!("{name} = ")) || line == format!("[[{name}]]")
        };
        assert!(REFERENCE.lines().any(documented), "{key} is not in the reference");
    }
}

#[test]
fn flags_override_environment_overrides_file() {
    let text = "[proxy]\nlisten = 'f:1'\nworkers = 1\n[shards]\ncount = 7\n[admin]\nlisten = 'none'\n";
    let env = [("ONETRIP_LISTEN", "e:1, e:2"), ("ONETRIP_WORKERS", "2"), ("ONETRIP_ADMIN", "")];
    let config = load_text(text, &["--workers", "3"], &env).unwrap();
    let listen: Vec<_> = config.proxy.listen.iter().map(Address::to_string).collect();
    assert_eq!(listen, ["e:1", "e:2"]);
    assert_eq!((config.proxy.workers, config.shards.count(), config.admin), (3, 7, None));
}

#[test]
fn typed_addresses_decide_alone() {
    let config =
        load_text("[shards]\nkind = 'embedded'\ncount = 3\n", &["--backend", "a:1,b:2"], &[]).unwrap();
    assert_eq!(config.shards.names(), ["a:1", "b:2"]);
    assert_eq!(keys(load_text("", &["--backend", "a:1", "--shards", "2"], &[])), ["--shards"]);
}

#[test]
fn every_fault_is_told_at_once() {
    let text = "
        [proxy]
        workers = 0
        nonsense = 1
        max_clients = '5'
        [shards]
        kind = 'cluster'
        [timeouts]
        lane_dead_ms = 3
        [[user]]
        name = 'default'
        password = 'hunter2'
        password_file = 'x'
    ";
    let result = load_text(text, &["--listen", "nowhere"], &[("ONETRIP_LOG_FORMAT", "xml")]);
    let printed = result.as_ref().unwrap_err().to_string();
    assert!(!printed.contains("hunter2"), "{printed}");
    let mut keys = keys(result);
    keys.sort();
    let expected = [
        "--listen",
        "ONETRIP_LOG_FORMAT",
        "proxy.max_clients",
        "proxy.nonsense",
        "proxy.workers",
        "shards.kind",
        "timeouts.lane_dead_ms",
        "user.password",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn passwords_come_from_files_and_addresses() {
    let file = tempfile("s3cret\n");
    let text = format!(
        "[shards]\naddresses = ['redis://a:b@h:1', 'h:2']\npassword_file = '{file}'\n\
         [[user]]\nname = 'default'\npassword_file = '{file}'\n"
    );
    let config = load_text(&text, &[], &[]).unwrap();
    std::fs::remove_file(file).unwrap();
    assert_eq!(config.proxy.password.as_ref().map(|p| p.expose()), Some("s3cret"));
    let Kind::Standalone { targets } = &config.shards.kind else { panic!("kind is inferred from addresses") };
    let logins: Vec<_> = targets.iter().map(|t| t.login.as_ref().unwrap().password.expose()).collect();
    assert_eq!(logins, ["b", "s3cret"]);
    assert!(!format!("{config:?}").contains("s3cret"));
    let config = load_text(&text.replace("password_file", "#"), &[], &[("ONETRIP_PASSWORD", "env")]);
    assert_eq!(config.unwrap_err().0.len(), 1, "a user without a password is a fault");
}

#[test]
fn an_address_stands_once() {
    let result = load_text("", &["--listen", "a:1", "--backend", "a:1,b:1,b:1"], &[]);
    assert_eq!(keys(result), ["shards.addresses", "shards.addresses"]);
}

#[test]
fn an_address_under_another_spelling_is_the_same() {
    let backends = load_text("", &["--backend", "h:1,H:1"], &[]);
    assert_eq!(keys(backends), ["shards.addresses"]);
    let faulty = [("127.0.0.1:7", "0.0.0.0:7"), ("[::]:7", "10.0.0.1:7"), ("0.0.0.0:7", "[::]:7")];
    for (one, other) in faulty {
        let result = load_text("", &["--listen", one, "--listen", other], &[]);
        assert_eq!(keys(result), ["proxy.listen"], "{one} {other}");
    }
    for (one, other) in [("0.0.0.0:7", "127.0.0.1:8"), ("0.0.0.0:7", "[::1]:7"), ("h:0", "0.0.0.0:0")] {
        load_text("", &["--listen", one, "--listen", other], &[]).unwrap();
    }
    load_text("", &["--listen", "0.0.0.0:7", "--backend", "10.0.0.1:7"], &[]).unwrap();
}

#[test]
fn a_number_beyond_all_bounds_hides_no_other_fault() {
    for number in ["18446744073709551616", "9223372036854775808", "-99_999_999_999_999_999_999"] {
        let text = format!("[proxy]\nmax_clients = {number} # many\nworkers = 0\nlissten = 1\n");
        assert_eq!(keys(load_text(&text, &[], &[])), ["proxy.max_clients", "proxy.lissten", "proxy.workers"]);
    }
}

#[test]
fn a_variable_that_is_none_of_ours_is_a_fault() {
    let env = [
        ("ONETRIP_LISTENN", "hunter2"),
        ("ONETRIP_LOG", "debug"),
        ("ONETRIP_PORT_6380_TCP_ADDR", "10.0.0.1"),
        ("ONETRIP_ADMIN_SERVICE_HOST", "10.0.0.1"),
        ("ONETRIP_PORT", "tcp://10.0.0.1:6380"),
    ];
    let faults = load_text("", &[], &env).unwrap_err();
    assert_eq!(faults.0.len(), 1, "{faults}");
    assert!(faults.0[0].right.starts_with("perhaps ONETRIP_LISTEN"), "{faults}");
    assert!(!faults.to_string().contains("hunter2"));
}
