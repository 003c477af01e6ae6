//! What one batch of frames says by itself.

use std::sync::{Mutex, PoisonError};

use super::Finding;
use crate::error::Result;
use crate::hash::Digest;
use crate::log::LogReader;
use crate::log::peaks::{leaf, leaf_and, subtrees};
use crate::log::scan::Damage;
use crate::row::Row;
use crate::segment::{Batch, Stop};

/// What one batch says by itself.
pub(super) struct Checked {
    pub rows: u64,
    pub bytes: u64,
    /// Number of the first frame, and how many frames there are, whole or not.
    pub first_seq: u64,
    pub frames: u64,
    pub file: String,
    pub offset: u64,
    /// What the first row continues, where it can be read.
    pub prev_chain: Option<Digest>,
    pub last: Option<(u64, Digest)>,
    /// Complete subtrees of the Merkle tree within the batch.
    pub subtrees: Vec<(u32, Digest)>,
    pub findings: Vec<Finding>,
    /// A torn tail, with which the log ends: nothing behind it counts, in this batch or in later ones.
    pub torn_tail: Option<Box<Damage>>,
}

impl Checked {
    fn find(&mut self, check: &'static str, offset: u64, seq: u64, what: String) {
        self.findings.push(Finding { check, file: self.file.clone(), offset, seq, what });
    }

    fn judge(&mut self, row: &Row<'_>, offset: u64, seq: u64, hash: Digest) {
        if hash != row.chain() {
            self.find("chain", offset, seq, "the chain does not match the payload".into());
        }
    }
}

/// Checks batches, in any order and from any thread.
pub(super) struct Checker<'l> {
    log: &'l LogReader,
    with_peaks: bool,
    /// The damage that was looked at last: place of its segment, where it begins and where it ends.
    looked: Mutex<Option<(usize, u64, u64)>>,
}

impl<'l> Checker<'l> {
    pub(super) fn new(log: &'l LogReader, with_peaks: bool) -> Self {
        Self { log, with_peaks, looked: Mutex::new(None) }
    }

    /// Returns the damage that begins with a frame whose payload is not what its header says, if it is a torn tail.
    fn torn_tail(&self, place: usize, stop: Stop) -> Result<Option<Damage>> {
        let Some(segment) = self.log.segments().get(place) else { return Ok(None) };
        if self.log.tip().is_some_and(|tip| tip.seq >= stop.expected_seq) {
            return Ok(None);
        }
        // Every frame up to the next whole one is part of the same damage, for which looking once is enough.
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.is_some_and(|(known, from, to)| known == place && (from..to).contains(&stop.offset)) {
            return Ok(None);
        }
        let damage = self.log.damage_at(segment, place, stop)?;
        *looked = Some((place, damage.offset, damage.end));
        Ok(Some(damage).filter(|damage| damage.torn_tail))
    }

    /// Checks a batch of the segment at `place`.
    pub(super) fn check(&self, batch: &Batch, place: usize) -> Result<Checked> {
        let file = self.log.segments().label(place);
        let mut out = Checked {
            rows: 0,
            bytes: batch.bytes().len() as u64,
            first_seq: batch.first_seq().unwrap_or(0),
            frames: batch.len() as u64,
            file,
            offset: batch.start(),
            prev_chain: None,
            last: None,
            subtrees: Vec::new(),
            findings: Vec::new(),
            torn_tail: None,
        };
        let mut leaves = Vec::with_capacity(if self.with_peaks { batch.len() } else { 0 });
        let mut waiting = None;
        for frame in batch.frames() {
            let frame = match frame {
                Ok(frame) => frame,
                Err(stop) => {
                    if let Some(damage) = self.torn_tail(place, stop)? {
                        out.bytes = stop.offset - out.offset;
                        out.frames = stop.expected_seq - out.first_seq;
                        out.torn_tail = Some(Box::new(damage));
                        break;
                    }
                    out.find("frame", stop.offset, stop.expected_seq, stop.what.into());
                    out.last = None;
                    continue;
                }
            };
            let seq = frame.header.seq;
            out.rows += 1;
            let row = match Row::parse(frame.payload) {
                Ok(row) => row,
                Err(error) => {
                    out.find("canonical", frame.offset, seq, error.to_string());
                    if self.with_peaks {
                        leaves.push(leaf(frame.payload));
                    }
                    out.last = None;
                    continue;
                }
            };
            if row.ts_ns() != frame.header.ts_ns {
                out.find("time", frame.offset, seq, "the header's time is not the payload's".into());
            }
            // Two messages are hashed in little more than the time of one: a row's and its leaf's, or those of two rows.
            if self.with_peaks {
                let [leaf, hash] = leaf_and(frame.payload, &row.chain_message());
                leaves.push(leaf);
                out.judge(&row, frame.offset, seq, hash);
            } else if let Some((earlier, offset, earlier_seq)) = waiting.take() {
                let earlier: Row<'_> = earlier;
                let [first, second] = Digest::of_two(&earlier.chain_message(), &row.chain_message());
                out.judge(&earlier, offset, earlier_seq, first);
                out.judge(&row, frame.offset, seq, second);
            } else {
                waiting = Some((row, frame.offset, seq));
            }
            match out.last {
                Some((_, previous)) if previous != row.prev_chain() => {
                    out.find("link", frame.offset, seq, "prev_chain is not the chain of the row before".into());
                }
                None if out.first_seq == seq => out.prev_chain = Some(row.prev_chain()),
                _ => {}
            }
            out.last = Some((seq, row.chain()));
        }
        if let Some((row, offset, seq)) = waiting {
            out.judge(&row, offset, seq, Digest::of(&row.chain_message()));
        }
        out.subtrees = subtrees(out.first_seq.saturating_sub(1), leaves);
        out.findings.sort_by_key(|finding| finding.offset);
        Ok(out)
    }
}
