//! What happened to a memory: the rows that touch a path, newest first, across moves.

mod chain;
mod entry;
mod filter;
mod following;
mod holders;
mod lag;
mod lineage;
mod memory;
mod page;
mod present;
mod rows;
mod sessions;
mod state;
mod working;

pub use chain::Chain;
pub use entry::{Entry, Older, Query, Walked};
pub use filter::{Filter, is_memory};
pub use following::{Cursor, Kept, Limits, Rows, Selection, Stretch};
pub(crate) use lag::versions_beside;
pub use present::Present;
pub use rows::{Next, Step};
pub use sessions::{Session, SessionEnd, SessionPurge};
pub(crate) use state::apply;
pub use state::{At, Version};
pub use working::is_as_known;
