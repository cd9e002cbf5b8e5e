//! The only writer of CRLF: every reply and request that onetrip itself makes goes through here.
//!
//! Errors and simple strings can't carry a line break, so text from outside is made safe at this door: a CR or LF
//! in it would let a client forge the reply after it.

use super::Proto;
use bytes::BufMut;

/// `+text`; line breaks in it become spaces.
pub fn simple(out: &mut impl BufMut, text: &str) {
    line(out, b'+', text.as_bytes());
}

/// `-text`, where text starts with the error code (`ERR …`); line breaks in it become spaces.
pub fn error(out: &mut impl BufMut, text: &str) {
    line(out, b'-', text.as_bytes());
}

/// As [`error`], for text that need not be UTF-8 (a client's own arguments echoed).
pub fn error_bytes(out: &mut impl BufMut, text: &[u8]) {
    line(out, b'-', text);
}

pub fn integer(out: &mut impl BufMut, n: i64) {
    number(out, b':', n);
}

pub fn bulk(out: &mut impl BufMut, bytes: &[u8]) {
    number(out, b'$', bytes.len() as i64);
    out.put_slice(bytes);
    out.put_slice(b"\r\n");
}

/// The header of an array of `n` elements; the elements follow.
pub fn array(out: &mut impl BufMut, n: usize) {
    number(out, b'*', n as i64);
}

/// The header of a map of `n` pairs: a map in RESP3, a flat array in RESP2.
pub fn map(out: &mut impl BufMut, proto: Proto, n: usize) {
    match proto {
        Proto::Resp2 => number(out, b'*', 2 * n as i64),
        Proto::Resp3 => number(out, b'%', n as i64),
    }
}

/// The header of a set of `n` members: a set in RESP3, an array in RESP2.
pub fn set(out: &mut impl BufMut, proto: Proto, n: usize) {
    let kind = if proto == Proto::Resp3 { b'~' } else { b'*' };
    number(out, kind, n as i64);
}

/// The null that stands for an absent string.
pub fn null(out: &mut impl BufMut, proto: Proto) {
    out.put_slice(if proto == Proto::Resp3 { b"_\r\n" } else { b"$-1\r\n" });
}

/// The null that stands for an absent array.
pub fn null_array(out: &mut impl BufMut, proto: Proto) {
    out.put_slice(if proto == Proto::Resp3 { b"_\r\n" } else { b"*-1\r\n" });
}

/// Text for people: a verbatim string in RESP3, a bulk string in RESP2.
pub fn verbatim(out: &mut impl BufMut, proto: Proto, text: &str) {
    match proto {
        Proto::Resp2 => bulk(out, text.as_bytes()),
        Proto::Resp3 => {
            number(out, b'=', text.len() as i64 + 4);
            out.put_slice(b"txt:");
            out.put_slice(text.as_bytes());
            out.put_slice(b"\r\n");
        }
    }
}

/// A double: `,1.5` in RESP3, a bulk string in RESP2.
pub fn double(out: &mut impl BufMut, proto: Proto, text: &str) {
    match proto {
        Proto::Resp2 => bulk(out, text.as_bytes()),
        Proto::Resp3 => line(out, b',', text.as_bytes()),
    }
}

/// A whole request: an array of bulk strings.
pub fn request<A: AsRef<[u8]>>(out: &mut impl BufMut, args: &[A]) {
    array(out, args.len());
    for arg in args {
        bulk(out, arg.as_ref());
    }
}

/// A type byte, a decimal number and CRLF.
#[inline]
pub fn number(out: &mut impl BufMut, kind: u8, n: i64) {
    let mut digits = [0u8; 24];
    let mut at = digits.len() - 2;
    digits[at] = b'\r';
    digits[at + 1] = b'\n';
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if n < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    at -= 1;
    digits[at] = kind;
    out.put_slice(&digits[at..]);
}

fn line(out: &mut impl BufMut, kind: u8, text: &[u8]) {
    out.put_u8(kind);
    if text.iter().any(|&b| b == b'\r' || b == b'\n') {
        for &b in text {
            out.put_u8(if b == b'\r' || b == b'\n' { b' ' } else { b });
        }
    } else {
        out.put_slice(text);
    }
    out.put_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(f: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        f(&mut out);
        out
    }

    #[test]
    fn numbers_at_their_limits() {
        assert_eq!(written(|o| integer(o, i64::MIN)), b":-9223372036854775808\r\n");
        assert_eq!(written(|o| integer(o, i64::MAX)), b":9223372036854775807\r\n");
        assert_eq!(written(|o| integer(o, 0)), b":0\r\n");
    }

    #[test]
    fn an_error_can_not_carry_a_second_reply() {
        assert_eq!(written(|o| error(o, "ERR a\r\n+OK")), b"-ERR a  +OK\r\n");
    }
}
