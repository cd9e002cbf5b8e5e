//! What the HELP subcommands answer: an array of lines, as servers give it, of what is to be had here.

use crate::resp::write;
use bytes::BytesMut;

pub(super) fn write(out: &mut BytesMut, lines: &[&str]) {
    write::array(out, lines.len());
    for line in lines {
        write::simple(out, line);
    }
}

pub(super) const CLIENT: &[&str] = &[
    "CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "GETNAME",
    "    The name of this connection.",
    "GETREDIR",
    "    Where invalidation messages go: -1, as there is no tracking.",
    "ID",
    "    The number of this connection.",
    "INFO",
    "    What is known of this connection.",
    "KILL <address>",
    "    Close the connection from <address>.",
    "KILL <filter> <value> [<filter> <value> ...]",
    "    Close the connections that all filters match: ID, ADDR, LADDR, TYPE,",
    "    USER, MAXAGE (seconds); SKIPME (yes, no) spares this one.",
    "LIST [TYPE <type> | ID <id> ...]",
    "    What is known of all connections, or of these.",
    "NO-EVICT (ON|OFF)",
    "    Accepted and shown in LIST.",
    "NO-TOUCH (ON|OFF)",
    "    Accepted and shown in LIST.",
    "REPLY (ON|OFF|SKIP)",
    "    Which replies this connection wants.",
    "SETINFO (LIB-NAME|LIB-VER) <value>",
    "    Say which library this is.",
    "SETNAME <name>",
    "    Name this connection.",
    "TRACKING OFF",
    "    No client-side caching, which is what every connection starts with.",
    "TRACKINGINFO",
    "    The state of client-side caching.",
    "HELP",
    "    This text.",
];

pub(super) const CONFIG: &[&str] = &[
    "CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "GET <pattern> [<pattern> ...]",
    "    Settings whose name matches one of the patterns.",
    "HELP",
    "    This text.",
];

pub(super) const COMMAND: &[&str] = &[
    "COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "(no subcommand)",
    "    What is known of every command.",
    "COUNT",
    "    The number of commands.",
    "DOCS [<command> ...]",
    "    Documentation of these commands, or of all.",
    "GETKEYS <command with its arguments>",
    "    The keys of a command.",
    "GETKEYSANDFLAGS <command with its arguments>",
    "    The keys of a command and what it does with them.",
    "INFO [<command> ...]",
    "    What is known of these commands, or of all.",
    "LIST [FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <pattern>)]",
    "    The names of all commands, or of some.",
    "HELP",
    "    This text.",
];
