//! A store's memories: put, moved, deleted, edited by hand; crashes and faults at every point; purges.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod crash;
mod faults;
mod memories;
mod purges;
mod refused;
mod returned;
mod stores;
mod working_files;
