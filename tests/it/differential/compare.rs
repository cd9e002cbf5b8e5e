//! Whether two replies are the same, as far as they can be.
//!
//! Byte for byte is the rule. Exceptions are named at the template: an order that each server chooses for itself, and
//! a remaining time that may have ticked in between.

use crate::harness::Reply;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Bytes,
    /// As sets: KEYS, SMEMBERS and their like.
    AnyOrder,
    /// Integers one apart at most.
    WithinOne,
    /// Counts of references to small integers: a server shares them, though not those that were copied, and the
    /// embedded shards answer as for a shared one always.
    Shared,
}

impl Compare {
    pub fn same(self, a: &[u8], b: &[u8]) -> bool {
        a == b
            || match self {
                Compare::Bytes => false,
                Compare::AnyOrder => Reply::parse(a).sorted() == Reply::parse(b).sorted(),
                Compare::WithinOne => match (Reply::parse(a), Reply::parse(b)) {
                    (Reply::Integer(a), Reply::Integer(b)) => a.abs_diff(b) <= 1,
                    _ => false,
                },
                Compare::Shared => {
                    let counts: [&[u8]; 2] = [b":1\r\n", b":2147483647\r\n"];
                    counts.contains(&a) && counts.contains(&b)
                }
            }
    }
}

#[test]
fn only_the_named_exceptions_are_made() {
    let (ab, ba) = (&b"*2\r\n+a\r\n+b\r\n"[..], &b"*2\r\n+b\r\n+a\r\n"[..]);
    assert!(Compare::AnyOrder.same(ab, ba) && !Compare::Bytes.same(ab, ba));
    assert!(!Compare::AnyOrder.same(ab, b"*2\r\n+a\r\n+a\r\n"));
    assert!(Compare::WithinOne.same(b":7\r\n", b":8\r\n"));
    assert!(!Compare::WithinOne.same(b":7\r\n", b":9\r\n"));
    assert!(Compare::Shared.same(b":1\r\n", b":2147483647\r\n"));
    assert!(!Compare::Shared.same(b":1\r\n", b"$-1\r\n"));
}
