//! The binary: parse the command line, run, exit with a code that says how it went.

fn main() {}
