//! What the configuration says of the shards: which kind, which servers, and how to log in to them.
//!
//! Addresses that were typed (`--backend`) decide alone, whatever kind and count a file names: a trial against other
//! servers must not need an edited file. Everything else that contradicts itself is a fault.

use super::check::{Check, of_one, stand_in};
use super::sources::{Given, Origin};
use super::{Kind, Shards};
use crate::address::{Address, Login, Target};
use crate::limits;

const ADDRESS: &str = "host:port, redis://[user:password@]host:port or unix:/path";

impl Check<'_> {
    pub(super) fn shards(&mut self) -> Shards {
        let login = self.shard_login();
        let kind = self.kind(login);
        let right = "a version such as \"7.4.0\"";
        let version = self.sources.text("shards.report_version", right).map(|(given, text)| {
            let numbers: Vec<_> = text.split('.').map(str::parse::<u32>).collect();
            if numbers.len() != 3 || numbers.iter().any(Result::is_err) {
                self.sources.report(given.fault("is not a version", right));
            }
            text
        });
        Shards { kind, report_version: version }
    }

    fn kind(&mut self, login: Option<Login>) -> Kind {
        // Addresses that were typed decide alone; what a file says of shards stands behind them.
        let typed = self.sources.option("shards.addresses").is_some();
        let kind = self.sources.text("shards.kind", "embedded or standalone").filter(|_| !typed);
        let count = self.sources.take("shards.count").filter(|count| !typed || count.origin != Origin::File);
        let addresses = self.sources.list("shards.addresses", "a list of addresses, in shard order");
        let (kind_given, kind) = match kind {
            Some((given, kind)) => (given, kind),
            None if addresses.is_some() => (stand_in("shards.kind", "standalone"), "standalone".to_owned()),
            None => (stand_in("shards.kind", "embedded"), "embedded".to_owned()),
        };
        match kind.as_str() {
            "embedded" => self.embedded(count, addresses),
            "standalone" => self.standalone(&kind_given, count, addresses, login),
            other => {
                let later = matches!(other, "managed" | "cluster");
                let reason = if later { "is not in this version" } else { "is not a kind of shards" };
                self.sources.report(kind_given.fault(reason, "embedded or standalone"));
                Kind::Embedded { count: 1 }
            }
        }
    }

    fn embedded(&mut self, count: Option<Given>, addresses: Option<(Given, Vec<String>)>) -> Kind {
        if let Some((given, _)) = addresses {
            let fault = given
                .secret_fault("embedded shards have no addresses", "kind = \"standalone\", or no addresses");
            self.sources.report(fault);
        }
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let default = cores.clamp(2, limits::SHARDS_MAX);
        let count = count
            .and_then(|given| self.sources.number_of(&given, 1..=limits::SHARDS_MAX as u64, default as u64));
        Kind::Embedded { count: count.map_or(default, |count| count as usize) }
    }

    fn standalone(
        &mut self,
        kind: &Given,
        count: Option<Given>,
        addresses: Option<(Given, Vec<String>)>,
        login: Option<Login>,
    ) -> Kind {
        if let Some(given) = count {
            self.sources.report(
                given.fault("counts embedded shards; here the addresses are counted", "leave it out"),
            );
        }
        let Some((given, texts)) = addresses else {
            self.sources
                .report(kind.fault("needs addresses", "shards.addresses = [\"host:port\", …] or --backend"));
            return Kind::Standalone { targets: Vec::new() };
        };
        if texts.len() > limits::SHARDS_MAX {
            let right = format!("1 to {} addresses", limits::SHARDS_MAX);
            self.sources.report(given.secret_fault(format!("names {} shards", texts.len()), right));
        }
        let targets = texts.iter().filter_map(|text| self.target(&given, text, &login)).collect();
        Kind::Standalone { targets }
    }

    fn target(&mut self, given: &Given, text: &str, login: &Option<Login>) -> Option<Target> {
        let reason = match Target::parse(text) {
            Ok(Target { address: Address::Tcp { port: 0, .. }, .. }) => "has port 0, where no server is",
            Ok(target) => return Some(Target { login: target.login.or_else(|| login.clone()), ..target }),
            Err(reason) => reason,
        };
        self.sources.report(of_one(given, text).fault(reason, ADDRESS));
        None
    }

    fn shard_login(&mut self) -> Option<Login> {
        let user = self.sources.text("shards.user", "a user name of the shards");
        let value = self.sources.take("shards.password");
        let file = self.sources.take("shards.password_file").filter(|_| !is_typed(&value));
        let password = self.secret(value, file);
        match (user, password) {
            (user, Some(password)) => Some(Login { user: user.map(|(_, user)| user), password }),
            (Some((given, _)), None) => {
                self.sources
                    .report(given.fault("has no password", "shards.password or shards.password_file"));
                None
            }
            (None, None) => None,
        }
    }
}

fn is_typed(given: &Option<Given>) -> bool {
    given.as_ref().is_some_and(|given| given.origin != Origin::File)
}
