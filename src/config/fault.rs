//! What is wrong with a configuration, in the words that its author needs: which key, which value, why, and what
//! would be right.

use std::fmt;

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// As its author wrote it: `timeouts.request_ms`, `--listen` or `ONETRIP_LISTEN`.
    pub key: String,
    /// Empty where there is none or where it is a secret.
    pub value: String,
    pub reason: String,
    pub right: String,
}

/// One or more faults, in the order found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}", self.key)?;
        if !self.value.is_empty() {
            write!(f, " = {}", self.value)?;
        }
        write!(f, "\n      {}", self.reason)?;
        write!(f, "\n      right: {}", self.right)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0.len() == 1 { "" } else { "s" };
        write!(f, "onetrip: {} fault{plural} in the configuration", self.0.len())?;
        for fault in &self.0 {
            write!(f, "\n{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
