//! `audit/tip`: what is acknowledged.

use std::path::{Path, PathBuf};

use crate::error::{LogError, Result};
use crate::format::tip::{SLOT, Tip};
use crate::medium::{Medium, MediumFile, Open};

/// Names of the file in `audit/`, and of the one it is made as.
const NAME: &str = "tip";
/// Its name in the store, for messages.
pub const FILE: &str = "audit/tip";
const TEMPORARY: &str = "tip.tmp";

/// What the tip file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TipState {
    /// There is none: another program has written this log so far.
    Missing,
    /// There is none, and this program has written the log: rows may be missing at its end unseen.
    Lost,
    /// There is one and neither slot is whole.
    Damaged,
    /// The newest whole slot.
    Valid(Tip),
}

impl TipState {
    /// What is wrong with the file, in one clause, where it should say what is acknowledged and does not.
    pub fn fault(self) -> Option<&'static str> {
        match self {
            Self::Lost => {
                Some("the record of what was acknowledged is not there: rows may be missing at the end unseen")
            }
            Self::Damaged => Some("neither slot is whole: rows may be missing at the end unseen"),
            Self::Missing | Self::Valid(_) => None,
        }
    }

    /// The tip, where there is one.
    pub fn valid(self) -> Option<Tip> {
        match self {
            Self::Valid(tip) => Some(tip),
            Self::Missing | Self::Lost | Self::Damaged => None,
        }
    }
}

/// Reads the tip below `audit_dir`.
pub fn read(medium: &dyn Medium, audit_dir: &Path) -> Result<TipState> {
    let path = audit_dir.join(NAME);
    let bytes = medium.read_head(&path, 2 * SLOT).map_err(LogError::io("read", path))?;
    Ok(bytes.map_or(TipState::Missing, |bytes| newest(&bytes)))
}

fn newest(bytes: &[u8]) -> TipState {
    let slots = (0..2).zip(bytes.chunks(SLOT));
    // A slot that lies in the other's place would be overwritten by its own successor.
    let tips = slots.filter_map(|(at, slot)| Tip::decode(slot).filter(|tip| tip.generation % 2 == at));
    tips.max_by_key(|tip| tip.generation).map_or(TipState::Damaged, TipState::Valid)
}

/// The tip file, open for writing by whoever holds the store's lock.
#[derive(Debug)]
pub struct TipFile {
    file: Box<dyn MediumFile>,
    path: PathBuf,
    generation: u64,
}

impl TipFile {
    /// Opens the file.
    pub fn open(medium: &dyn Medium, audit_dir: &Path) -> Result<Self> {
        let path = audit_dir.join(NAME);
        let file = medium.open(&path, Open::Write).map_err(LogError::io("open", &path))?;
        let mut tip = Self { file, path, generation: 0 };
        tip.reread()?;
        Ok(tip)
    }

    /// Makes the file with its first tip, durably and at once: a crash leaves none or a whole one.
    pub fn create(medium: &dyn Medium, audit_dir: &Path, tip: Tip) -> Result<Self> {
        let (temporary, path) = (audit_dir.join(TEMPORARY), audit_dir.join(NAME));
        let slot = Tip { generation: 1, ..tip }.encode();
        let make = || -> std::io::Result<()> {
            let file = medium.open(&temporary, Open::Create)?;
            file.set_len(0)?;
            file.write_all_at(&slot, SLOT as u64)?;
            file.sync()?;
            medium.rename(&temporary, &path)?;
            // Taken back where it fails: the next writer would take the name for durable.
            medium.sync_dir(audit_dir).inspect_err(|_| drop(medium.remove(&path)))
        };
        make().map_err(LogError::io("create", &path))?;
        Self::open(medium, audit_dir)
    }

    /// Reads both slots again: another process may have written since.
    pub fn reread(&mut self) -> Result<TipState> {
        let mut bytes = [0_u8; 2 * SLOT];
        let read = self.file.read_full_at(&mut bytes, 0).map_err(LogError::io("read", &self.path))?;
        let state = newest(bytes.get(..read).unwrap_or_default());
        self.generation = self.generation.max(state.valid().map_or(0, |tip| tip.generation));
        Ok(state)
    }

    /// Number of the last write.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Writes the slot that does not hold the newest tip, and syncs it.
    pub fn write(&mut self, tip: &mut Tip) -> Result<()> {
        tip.generation = self.generation + 1;
        let at = (tip.generation % 2) * SLOT as u64;
        self.file.write_all_at(&tip.encode(), at).map_err(LogError::io("write", &self.path))?;
        self.file.sync().map_err(LogError::io("sync", &self.path))?;
        self.generation = tip.generation;
        Ok(())
    }
}
