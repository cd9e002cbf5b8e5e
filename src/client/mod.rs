//! The client side: accepting, reading, answering.

pub mod directory;
pub mod local;
