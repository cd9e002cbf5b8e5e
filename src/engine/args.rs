//! Reading arguments: numbers and option words, with Redis's error texts.
//!
//! These are the texts that several commands share; what only one command says stands with that command. Options
//! are compared without regard to case, as Redis does.

use super::{Refusal, Request};
use crate::resp::request::parse_integer;

pub const SYNTAX: Refusal = Refusal::Text("ERR syntax error");
pub const NOT_INTEGER: Refusal = Refusal::Text("ERR value is not an integer or out of range");
pub const NO_SUCH_KEY: Refusal = Refusal::Text("ERR no such key");
pub const TOO_LONG: Refusal = Refusal::Text("ERR string exceeds maximum allowed size (proto-max-bulk-len)");

impl<'a> Request<'a> {
    /// Argument `i` as a 64-bit integer.
    #[inline]
    pub fn integer(&self, i: usize) -> Result<i64, Refusal> {
        parse_integer(self.args.at(i)).ok_or(NOT_INTEGER)
    }

    /// The first key, where every command here has it.
    #[inline]
    pub fn key(&self) -> &'a [u8] {
        self.args.at(1)
    }

    /// Whether argument `i` is there and is the word.
    pub fn is(&self, i: usize, word: &str) -> bool {
        self.args.get(i).is_some_and(|arg| arg.eq_ignore_ascii_case(word.as_bytes()))
    }
}
