//! One file of the fake medium: what is live, what is durable, and what lies between.

use super::names::Kept;
use super::random::Random;

/// Disks write in units of this many bytes; a torn write is a set of whole ones, or a prefix.
const SECTOR: usize = 512;

/// A change that no sync has made durable yet.
#[derive(Debug, Clone)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Len(usize),
}

/// The bytes of a file.
#[derive(Debug, Default)]
pub(super) struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
    /// The tick of the last change, for [`Stat::version`](crate::medium::Stat::version).
    pub(super) changed: u64,
}

impl Content {
    /// A file whose live and durable bytes are both `bytes`.
    pub(super) fn durable(bytes: Vec<u8>) -> Self {
        Self { live: bytes.clone(), durable: bytes, ..Self::default() }
    }

    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        put(&mut self.live, offset, bytes);
        self.pending.push(Change::Write { offset, bytes: bytes.to_vec() });
    }

    pub(super) fn set_len(&mut self, len: usize) {
        self.live.resize(len, 0);
        self.pending.push(Change::Len(len));
    }

    pub(super) fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            change.apply(&mut self.durable);
        }
    }

    /// A sync that failed: the system has marked the pages clean, so that no later sync writes them.
    pub(super) fn lose_pending(&mut self) {
        self.pending.clear();
    }

    pub(super) fn image(&self, kept: &mut Kept) -> Vec<u8> {
        if matches!(kept, Kept::Live) {
            return self.live.clone();
        }
        let mut bytes = self.durable.clone();
        if let Kept::Early(random) = kept {
            for change in &self.pending {
                change.apply_torn(&mut bytes, random);
            }
        }
        bytes
    }
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => put(to, *offset, bytes),
            Self::Len(len) => to.resize(*len, 0),
        }
    }

    fn apply_torn(&self, to: &mut Vec<u8>, random: &mut Random) {
        match (self, random.below(4)) {
            (_, 0) => {}
            (Self::Write { offset, bytes }, 1) => {
                let kept = random.below(bytes.len() + 1);
                put(to, *offset, bytes.get(..kept).unwrap_or(bytes));
            }
            (Self::Write { offset, bytes }, 2) => {
                // Sectors are those of the file, so the first piece may be short.
                let first = (SECTOR - offset % SECTOR).min(bytes.len());
                let (head, rest) = bytes.split_at(first);
                let mut at = *offset;
                for piece in std::iter::once(head).chain(rest.chunks(SECTOR)) {
                    if random.below(2) == 0 {
                        put(to, at, piece);
                    }
                    at += piece.len();
                }
            }
            _ => self.apply(to),
        }
    }
}

fn put(to: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let end = offset + bytes.len();
    if to.len() < end {
        to.resize(end, 0);
    }
    if let Some(place) = to.get_mut(offset..end) {
        place.copy_from_slice(bytes);
    }
}
