//! The log as a whole: reading it, appending to it, recovering it and verifying it.

mod beside;
mod loss;
mod reader;
mod rebuild;
mod recovery;
mod scan;
mod tip;
mod writer;

pub mod peaks;
pub mod verify;

pub use beside::{Agreement, HEAD, PEAKS, check_head, check_peaks, write_head};
pub use loss::{Kept, Loss, LossPlan, accept_loss, finish_loss, plan_loss};
pub use reader::{End, LogReader, ReverseLog};
pub use rebuild::rebuild_tip;
pub use recovery::{Recovery, Tail};
pub use scan::{Damage, Event, Position};
pub use tip::{FILE as TIP, TipFile, TipState};
pub use writer::{LogWriter, Mark, SegmentPolicy, Staged};
