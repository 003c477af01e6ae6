//! What changed between two versions of a memory, as pure functions on bytes.
//!
//! Bodies are compared line by line as git does ([`body`]), and [`blame`] says which version each line comes from.

pub mod blame;
pub mod body;
mod lines;
