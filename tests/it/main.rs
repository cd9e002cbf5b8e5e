//! The integration tests, as one binary: onetrip against real servers.

mod command_table;
