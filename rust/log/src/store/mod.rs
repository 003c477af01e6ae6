//! Memories: putting, moving and deleting them, and keeping the working files as the chain says.
//!
//! A group of waiting submissions becomes one commit: bodies to the packs and synced, rows to the log and synced, the tip
//! written and synced. From there on the rows are acknowledged; working files, erasures, peaks and indexes follow, and a
//! watermark in the tip says how far they are known to have got.

mod current;
mod group;
mod lock;
mod plan;
mod purge;
mod repair;
mod request;
mod roll_forward;
mod view;
mod writer;

pub use lock::{Lock, LockGuard};
pub use repair::Repair;
pub use request::{DeleteMode, Expected, Op, Outcome, Request};
pub use writer::{Options, Writer};
