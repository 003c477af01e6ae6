//! What a crash leaves in the packs, and setting it right.
//!
//! A flush writes a group of frames and syncs it before anything refers to them. A crash before that sync leaves any part of
//! the group, and only of the last one: whole frames, parts of frames, gaps. Damage with a later group behind it is not a
//! crash's and is left as it is, for `verify` to report.

use super::packs::{Fixed, Position};
use super::scan::{End, Item, State};
use super::writer::BodyWriter;
use crate::error::{LogError, Result};
use crate::format::frame::{HEADER, Header, MAX_PAYLOAD};
use crate::format::pack::{DATA, HEAD, Head, Kind};
use crate::hash::Digest;
use crate::medium::MediumFile;

/// Rows read before they are handed to the index, where there is none yet.
const PUBLISH: usize = 1 << 20;
const ZEROS: [u8; 16 << 10] = [0; 16 << 10];

/// A part of the last group to be set right.
#[derive(Debug, Clone, Copy)]
struct Unfinished {
    at: Position,
    end: u64,
    seq: u64,
    frames: u64,
}

impl BodyWriter {
    /// Reads what follows the end, and sets right what a crash left there.
    pub(super) fn recover(&mut self) -> Result<()> {
        let (mut touched_new_pack, mut repaired) = (false, false);
        loop {
            let start = self.catalog.checkpoint();
            let mut damage = Damage::new(self.catalog.packs.last(), start.end);
            let all = self.catalog.extend(true, PUBLISH, |item| damage.see(item))?;
            touched_new_pack |= damage.saw_start_of_pack;
            self.unsynced |= self.catalog.end != start.end;
            if !all {
                self.publish_index(1)?;
            } else if !repaired && self.repair(&damage)? {
                repaired = true;
                self.catalog.rewind(start);
            } else {
                break;
            }
        }
        if touched_new_pack {
            // Whoever began the pack may have died before its name was durable.
            self.sync_dir()?;
        }
        Ok(())
    }

    /// Cuts and voids; returns whether there was anything to do.
    fn repair(&mut self, damage: &Damage) -> Result<bool> {
        let Some(pack) = self.catalog.packs.last().filter(|_| damage.tail.is_some() || !damage.unfinished.is_empty())
        else {
            return Ok(false);
        };
        let file = self.catalog.packs.file(pack)?;
        let path = self.catalog.packs.path(pack);
        if let Some(at) = damage.tail {
            file.set_len(at.offset).map_err(LogError::io("cut", &path))?;
        }
        for part in &damage.unfinished {
            void(&*file, part).map_err(LogError::io("write", &path))?;
        }
        self.sync(&file, pack)?;
        Ok(true)
    }
}

/// What is wrong at the end of the last pack.
#[derive(Debug)]
struct Damage {
    last_pack: Option<u32>,
    seq: u64,
    unfinished: Vec<Unfinished>,
    tail: Option<Position>,
    saw_start_of_pack: bool,
}

impl Damage {
    const fn new(last_pack: Option<u32>, start: End) -> Self {
        Self { last_pack, seq: start.seq, unfinished: Vec::new(), tail: None, saw_start_of_pack: false }
    }

    fn see(&mut self, item: &Item) {
        match *item {
            Item::Frame(frame) => {
                if frame.state == State::Whole && frame.fixed.head.starts_group {
                    self.unfinished.clear();
                }
                if frame.state == State::Damaged {
                    self.unfinished(frame.at, frame.end(), 1);
                }
                self.saw_start_of_pack |= frame.at.offset == 0;
                self.seq = frame.seq() + 1;
            }
            Item::Gap { at, end, frames } => {
                self.unfinished(at, end, frames);
                self.seq += frames;
            }
            Item::Tail { at, .. } => self.tail = Some(at).filter(|at| Some(at.pack) == self.last_pack),
        }
    }

    fn unfinished(&mut self, at: Position, end: u64, frames: u64) {
        // Numbers that are missing before a pack have no place in it.
        let fits = frames.saturating_mul(DATA as u64) <= end - at.offset;
        if fits && Some(at.pack) == self.last_pack {
            self.unfinished.push(Unfinished { at, end, seq: self.seq, frames });
        }
    }
}

/// Fills the place of unfinished frames with as many that hold nothing.
fn void(file: &dyn MediumFile, part: &Unfinished) -> std::io::Result<()> {
    let mut offset = part.at.offset;
    for n in 0..part.frames {
        let others = (part.frames - n - 1) * DATA as u64;
        let longest = (HEADER + MAX_PAYLOAD - 1) as u64;
        let frame_len = (part.end - offset).saturating_sub(others).min(longest);
        let head = Head { kind: Kind::Purged, starts_group: true, sha: Digest::ZERO, length: 0 };
        let length = u32::try_from(frame_len.saturating_sub(HEADER as u64)).unwrap_or(u32::MAX);
        let header = Header { length, crc: 0, seq: part.seq + n, ts_ns: 0 };
        let fixed = Fixed { header, head };
        write_zeros(file, offset + DATA as u64, fixed.data_len())?;
        write_purged(file, offset, fixed)?;
        offset += frame_len;
    }
    Ok(())
}

/// Writes the fixed parts of a frame whose data are zeros.
pub(super) fn write_purged(file: &dyn MediumFile, offset: u64, fixed: Fixed) -> std::io::Result<()> {
    let head = Head { kind: Kind::Purged, ..fixed.head }.encode();
    let crc = zeros(fixed.data_len()).fold(crc32c::crc32c(&head), crc32c::crc32c_append);
    let header = Header { crc, ..fixed.header }.encode();
    let mut bytes = [0; DATA];
    let (header_place, head_place) = bytes.split_at_mut(HEADER);
    header_place.copy_from_slice(&header);
    head_place.copy_from_slice(&head);
    const { assert!(DATA == HEADER + HEAD, "the two parts are adjacent") };
    file.write_all_at(&bytes, offset)
}

/// Writes `len` zeros.
pub(super) fn write_zeros(file: &dyn MediumFile, mut offset: u64, len: usize) -> std::io::Result<()> {
    for piece in zeros(len) {
        file.write_all_at(piece, offset)?;
        offset += piece.len() as u64;
    }
    Ok(())
}

fn zeros(len: usize) -> impl Iterator<Item = &'static [u8]> {
    let last = ZEROS.get(..len % ZEROS.len()).filter(|piece| !piece.is_empty());
    std::iter::repeat_n(&ZEROS[..], len / ZEROS.len()).chain(last)
}
