//! The server's words for a request that fits no row, without the `-` and CRLF of the wire.
//!
//! They echo what the client sent, at most 128 bytes of it, and as bytes: a name need not be text. Whoever writes
//! them to a client goes through `resp::write`, which makes line breaks harmless; they are made spaces here already,
//! as the server does, so that a log line can't be forged either.

use super::Spec;
use crate::resp::request::Args;

/// To whoever names another database than 0 (SELECT, MOVE, COPY … DB).
pub const ONE_DATABASE: &str = "ERR onetrip: numbered databases are not in this version; database 0 is the one that is spread over the shards";

/// Bytes of a name, and of all arguments together, that an error echoes.
const ECHO_MAX: usize = 128;

pub fn unknown_command(args: Args<'_>) -> Vec<u8> {
    let mut text = b"ERR unknown command '".to_vec();
    text.extend(echo(args.at(0), ECHO_MAX));
    text.extend_from_slice(b"', with args beginning with: ");
    let begin = text.len();
    for arg in args.iter().skip(1) {
        let said = text.len() - begin;
        if said >= ECHO_MAX {
            break;
        }
        text.push(b'\'');
        text.extend(echo(arg, ECHO_MAX - said));
        text.extend_from_slice(b"' ");
    }
    text
}

/// `container` is the row that the first argument found.
pub fn unknown_subcommand(container: &Spec, args: Args<'_>) -> Vec<u8> {
    let mut text = b"ERR unknown subcommand '".to_vec();
    text.extend(echo(args.get(1).unwrap_or_default(), ECHO_MAX));
    text.extend_from_slice(b"'. Try ");
    text.extend(container.name.bytes().map(|b| b.to_ascii_uppercase()));
    text.extend_from_slice(b" HELP.");
    text
}

pub fn wrong_arity(spec: &Spec) -> String {
    format!("ERR wrong number of arguments for '{}' command", spec.name)
}

/// At most `max` bytes, to the first NUL as a server that prints C strings, line breaks as spaces.
fn echo(arg: &[u8], max: usize) -> impl Iterator<Item = u8> {
    arg.iter().take(max).take_while(|&&b| b != 0).map(|&b| if b == b'\r' || b == b'\n' { b' ' } else { b })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::lookup::{Found, find};
    use crate::resp::request::Decoder;

    fn said(bytes: &[u8]) -> Vec<u8> {
        let mut decoder = Decoder::default();
        assert!(decoder.next(bytes, true).is_ok());
        let args = decoder.args(bytes);
        match find(args) {
            Found::UnknownCommand => unknown_command(args),
            Found::UnknownSubcommand(container) => unknown_subcommand(container, args),
            Found::Command(spec, _) => wrong_arity(spec).into_bytes(),
        }
    }

    #[test]
    fn texts_of_the_server() {
        assert_eq!(said(b"FOO bar\r\n"), b"ERR unknown command 'FOO', with args beginning with: 'bar' ");
        assert_eq!(said(b"cLiEnt X\r\n"), b"ERR unknown subcommand 'X'. Try CLIENT HELP.");
        assert_eq!(
            said(b"client setname\r\n"),
            b"ERR wrong number of arguments for 'client|setname' command"
        );
    }

    #[test]
    fn what_is_echoed_is_short_and_one_line() {
        let long = "y".repeat(300);
        let text = said(format!("{long} \"a\\r\\nb\" {long} z\r\n").as_bytes());
        let args = format!("'a  b' '{}' ", &long[..128 - "'a  b' ".len()]);
        let want = format!("ERR unknown command '{}', with args beginning with: {args}", &long[..128]);
        assert_eq!(String::from_utf8_lossy(&text), want);
    }
}
