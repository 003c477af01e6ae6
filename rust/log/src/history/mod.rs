//! What happened to a memory: the rows that touch a path, newest first, across moves.

mod chain;
mod entry;
mod filter;
mod lag;
mod lineage;
mod memory;
mod rows;
mod state;

pub use chain::Chain;
pub use entry::{Entry, Older, Query, Walked};
pub use filter::{Filter, is_memory};
pub(crate) use lag::versions_beside;
pub use rows::{Next, Step};
pub(crate) use state::apply;
pub use state::{At, Version};
