//! Replies on their way back.

pub mod merge;
