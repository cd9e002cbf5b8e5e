//! Passwords: those that clients must give and those that shards ask for, by value or by file.
//!
//! No fault of this file quotes a value.

use super::check::Check;
use super::file;
use super::sources::{Given, Origin};
use crate::address::Secret;
use toml::Value;

impl Check<'_> {
    /// What clients must give: the environment's, or that of the one user.
    pub(super) fn client_password(&mut self) -> Option<Secret> {
        let typed = self.sources.option("user.password");
        let users = self.sources.take("user");
        let (value, file) = users.map_or((None, None), |given| self.user(&given));
        match typed {
            Some(typed) => self.secret(Some(typed), None),
            None => self.secret(value, file),
        }
    }

    /// Password and password file of the one `[[user]]`.
    fn user(&mut self, users: &Given) -> (Option<Given>, Option<Given>) {
        let right = "one [[user]] with name = \"default\" and a password or password_file";
        let tables: Option<Vec<_>> =
            users.value.as_array().and_then(|a| a.iter().map(Value::as_table).collect());
        let Some([table]) = tables.as_deref() else {
            let many = tables.as_ref().is_some_and(|tables| tables.len() > 1);
            let reason =
                if many { "several users are not in this version" } else { "is not a list of users" };
            self.sources.report(users.secret_fault(reason, right));
            return (None, None);
        };
        let of = |key: &str| {
            let value = table.get(key)?.clone();
            Some(Given { key: format!("user.{key}"), value, origin: Origin::File })
        };
        match of("name") {
            Some(name) if name.value.as_str() == Some("default") => {}
            Some(name) => {
                self.sources.report(name.fault("other users are not in this version", "\"default\""))
            }
            None => self.sources.report(users.secret_fault("a user without a name", right)),
        }
        for (key, value) in
            table.iter().filter(|(key, _)| !["name", "password", "password_file"].contains(&key.as_str()))
        {
            self.sources.report(file::unknown_key(&format!("user.{key}"), value));
        }
        let (value, file) = (of("password"), of("password_file"));
        if value.is_none() && file.is_none() {
            self.sources.report(users.secret_fault("a user without a password", right));
        }
        (value, file)
    }

    /// A password, given as it is or by the file that holds it.
    pub(super) fn secret(&mut self, value: Option<Given>, file: Option<Given>) -> Option<Secret> {
        let fault = match (value, file) {
            (None, None) => return None,
            (Some(value), None) => match value.value.as_str() {
                Some(text) if !text.is_empty() => return Some(Secret::new(text.to_owned())),
                _ => value.secret_fault("is not a text", "a password"),
            },
            (None, Some(file)) => match self.secret_file(&file) {
                Ok(secret) => return Some(secret),
                Err(reason) => file.fault(reason, "a file whose first line is the password"),
            },
            (Some(value), Some(_)) => value.secret_fault("stands beside a password file", "one of the two"),
        };
        self.sources.report(fault);
        None
    }

    fn secret_file(&self, given: &Given) -> Result<Secret, String> {
        let name = given.value.as_str().ok_or("is not a path")?;
        let text =
            std::fs::read_to_string(self.directory.join(name)).map_err(|e| format!("can't be read: {e}"))?;
        let line = text.lines().next().unwrap_or_default();
        if line.is_empty() { Err("is empty".to_owned()) } else { Ok(Secret::new(line.to_owned())) }
    }
}
