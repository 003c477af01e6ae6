//! Appending rows. The caller holds the store's lock.

mod append;

use std::path::{Path, PathBuf};

use super::beside::missing_rows;
use super::recovery::{Rolled, check_tip, make_durable, roll_forward, set_aside};
use super::{End, LogReader, Recovery, TipFile, tip};
use crate::error::{LogError, Result};
use crate::format::frame;
use crate::format::tip::Tip;
use crate::hash::Digest;
use crate::medium::{MediumFile, SharedMedium};
use crate::row::RowDraft;
use crate::segment::Frame;

/// When the active segment is sealed: at the first group of a new month, or when it is this long.
#[derive(Debug, Clone, Copy)]
pub struct SegmentPolicy {
    /// Length in bytes from which a segment is sealed.
    pub max_bytes: u64,
}

impl Default for SegmentPolicy {
    fn default() -> Self {
        Self { max_bytes: 1 << 30 }
    }
}

/// A row that will be part of the next commit.
#[derive(Debug, Clone, Copy)]
pub struct Staged {
    /// Its number.
    pub seq: u64,
    /// Its chain value.
    pub chain: Digest,
}

/// A place among the staged rows.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    rows: usize,
    next: (u64, Digest),
}

/// Where the log ends: what the next row continues.
#[derive(Debug, Clone, Copy)]
struct State {
    /// First number of the segment that holds the last row.
    segment: u64,
    /// Time of that segment's first row.
    segment_ts: u64,
    /// Where the last row ends in it.
    offset: u64,
    /// Whether that segment is sealed, so that the next row begins a new one.
    sealed: bool,
    seq: u64,
    chain: Digest,
    view_seq: u64,
    /// The run of the operating system that this one is.
    boot: u64,
    bodies: u64,
}

impl State {
    fn append_offset(&self) -> u64 {
        if self.sealed { 0 } else { self.offset }
    }
}

/// The log, open for appending.
#[derive(Debug)]
pub struct LogWriter {
    medium: SharedMedium,
    dir: PathBuf,
    policy: SegmentPolicy,
    tip: TipFile,
    active: Option<Box<dyn MediumFile>>,
    inode: u64,
    state: State,
    pending: Vec<u8>,
    /// Offset in `pending` of each staged row's frame.
    rows: Vec<usize>,
    next: (u64, Digest),
    poisoned: Option<String>,
    restarted: bool,
}

impl LogWriter {
    /// Opens the log in `audit_dir`, after recovery. Costs as much as lies beyond the tip, never as much as the log is long,
    /// except for the first time on a log that another program wrote, which is checked from its start.
    pub fn open(
        medium: SharedMedium,
        audit_dir: PathBuf,
        policy: SegmentPolicy,
        visit: &mut dyn FnMut(&Frame<'_>) -> Result<()>,
    ) -> Result<(Self, Recovery)> {
        let log = LogReader::open(medium.clone(), audit_dir.clone())?;
        let state = log.tip_state();
        if let Some(fault) = state.fault() {
            return Err(LogError::corrupt(tip::FILE, 0, None, fault));
        }
        log.require()?;
        let (start, chain, view_seq) = match state.valid() {
            Some(tip) => (check_tip(&log, &tip)?, tip.chain, tip.view_seq),
            None => (End { place: 0, offset: 0, seq: 0 }, Digest::ZERO, 0),
        };
        let bodies = state.valid().map_or(0, |tip| tip.bodies);
        if let Some(unreadable) = log.segments().unreadable().first() {
            return Err(LogError::corrupt(&unreadable.file, 0, None, &unreadable.what));
        }
        let adopted = state.valid().is_none();
        let rolled = roll_forward(&log, start, chain, visit)?;
        let damage = rolled.damage.as_ref();
        if let Some(damage) = damage.filter(|damage| !damage.torn_tail) {
            return Err(damage.error());
        }
        if let Some(known) = missing_rows(&log, rolled.end.seq)? {
            return Err(known.error(rolled.end.seq));
        }
        let mut recovery = Recovery { accepted: rolled.end.seq - start.seq, adopted, tail: None };
        if let Some(damage) = damage {
            recovery.tail = Some(set_aside(medium.as_ref(), &audit_dir, damage)?);
        }
        let restarted = log.tip().is_some_and(|tip| tip.boot != 0 && tip.boot != medium.boot());
        make_durable(&log, start, rolled.end, !adopted)?;
        let view_seq = if recovery.adopted { rolled.end.seq } else { view_seq };
        let state = state_at(&log, &rolled, view_seq, bodies)?;
        let tip = if adopted {
            TipFile::create(medium.as_ref(), &audit_dir, tip_of(&state))?
        } else {
            let mut tip = TipFile::open(medium.as_ref(), &audit_dir)?;
            if recovery != Recovery::default() {
                tip.write(&mut tip_of(&state))?;
            }
            tip
        };
        let mut writer = Self {
            medium,
            dir: audit_dir,
            policy,
            tip,
            active: None,
            inode: 0,
            next: (state.seq, state.chain),
            state,
            pending: Vec::new(),
            rows: Vec::new(),
            poisoned: None,
            restarted,
        };
        writer.reopen_active()?;
        Ok((writer, recovery))
    }

    /// Number of the last acknowledged row.
    pub fn last_seq(&self) -> u64 {
        self.state.seq
    }

    /// Chain value of the last acknowledged row.
    pub fn chain(&self) -> Digest {
        self.state.chain
    }

    /// Working files, erasures and peaks reflect all rows up to this one, durably.
    pub fn view_seq(&self) -> u64 {
        self.state.view_seq
    }

    /// Whether the operating system has started anew since the last write: what was not synced may be torn.
    pub fn system_restarted(&self) -> bool {
        self.restarted
    }

    /// Sets the view's watermark; it becomes durable with the next commit.
    pub fn set_view_seq(&mut self, seq: u64) {
        self.state.view_seq = seq;
    }

    /// Number of the last body in the packs that the tip accounts for: a row was written for it, or it was looked at.
    pub fn bodies(&self) -> u64 {
        self.state.bodies
    }

    /// Sets that number; it becomes durable with the next commit.
    pub fn set_bodies(&mut self, last: u64) {
        self.state.bodies = last;
    }

    /// Catches up with what other processes appended, calling `visit` for each of their rows.
    pub fn refresh(&mut self, visit: &mut dyn FnMut(&Frame<'_>) -> Result<()>) -> Result<Recovery> {
        self.check()?;
        let generation = self.tip.generation();
        let tip = self.tip.reread()?;
        if tip.valid().is_none() {
            return Err(LogError::corrupt(tip::FILE, 0, None, "neither slot is whole"));
        }
        if self.is_where_left()? && self.tip.generation() == generation {
            return Ok(Recovery::default());
        }
        let log = LogReader::open(self.medium.clone(), self.dir.clone())?;
        let known = check_tip(&log, &tip_of(&self.state))?;
        let wanted = tip.valid().map_or(0, |tip| tip.seq);
        let mut at_tip = (wanted == self.state.seq).then_some((known, self.state.chain));
        let rolled = roll_forward(&log, known, self.state.chain, &mut |frame| {
            if frame.header.seq == wanted
                && let Ok(row) = crate::row::Row::parse(frame.payload)
                && let Some(place) = log.segments().place_of(wanted)
            {
                at_tip = Some((End { place, offset: frame.end(), seq: wanted }, row.chain()));
            }
            visit(frame)
        })?;
        let acknowledged = at_tip.map_or(known, |(end, _)| end);
        if let Some(tip) = tip.valid().filter(|tip| at_tip.map(|(_, chain)| chain) != Some(tip.chain)) {
            return Err(LogError::corrupt(
                "audit/tip",
                0,
                Some(tip.seq),
                "the log does not hold the last acknowledged row",
            ));
        }
        let mut recovery = Recovery { accepted: rolled.end.seq - known.seq, ..Recovery::default() };
        if let Some(damage) = &rolled.damage {
            if !damage.torn_tail {
                return Err(damage.error());
            }
            recovery.tail = Some(set_aside(self.medium.as_ref(), &self.dir, damage)?);
        }
        make_durable(&log, acknowledged, rolled.end, true)?;
        let view_seq = tip.valid().map_or(self.state.view_seq, |tip| tip.view_seq.max(self.state.view_seq));
        let bodies = tip.valid().map_or(0, |tip| tip.bodies).max(self.state.bodies);
        self.state = state_at(&log, &rolled, view_seq, bodies)?;
        self.reopen_active()?;
        self.discard();
        Ok(recovery)
    }

    /// Seals a row as the successor of the last one staged. Nothing is written before [`Self::commit`].
    pub fn stage(&mut self, draft: &RowDraft) -> Result<Staged> {
        self.check()?;
        let (seq, previous) = self.next;
        let (payload, chain) = draft.seal(&previous).map_err(|error| LogError::Invalid(error.to_string()))?;
        self.rows.push(self.pending.len());
        frame::encode(&mut self.pending, seq + 1, draft.ts_ns, &payload);
        self.next = (seq + 1, chain);
        Ok(Staged { seq: seq + 1, chain })
    }

    /// Returns what [`Self::rewind`] takes to forget the rows staged from now on.
    pub fn mark(&self) -> Mark {
        Mark { rows: self.rows.len(), next: self.next }
    }

    /// Forgets the rows staged since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        if let Some(&at) = self.rows.get(mark.rows) {
            self.pending.truncate(at);
            self.rows.truncate(mark.rows);
            self.next = mark.next;
        }
    }

    /// Number of staged rows.
    pub fn staged(&self) -> usize {
        self.rows.len()
    }

    /// Forgets the staged rows.
    pub fn discard(&mut self) {
        self.pending.clear();
        self.rows.clear();
        self.next = (self.state.seq, self.state.chain);
    }

    /// Appends the staged rows and acknowledges them: one write and two syncs. Calls `visit` for each row with its frame.
    ///
    /// After an error in a write to the log nothing was appended and the next commit may succeed; after one in a sync, or in
    /// writing the tip, the writer is poisoned: a second sync may lie, and the rows may be found at the next opening.
    pub fn commit(&mut self, visit: &mut dyn FnMut(&Frame<'_>)) -> Result<()> {
        self.check()?;
        if self.rows.is_empty() {
            return Ok(());
        }
        let first_ts = frame::Header::decode(&self.pending).map_or(0, |header| header.ts_ns);
        let result = self.check_end().and_then(|()| self.seal_if_due(first_ts)).and_then(|()| self.append());
        if let Err(error) = result {
            self.discard();
            return Err(error);
        }
        let start = self.state.append_offset();
        let (seq, chain) = self.next;
        if start == 0 {
            self.state = State { segment: self.state.seq + 1, segment_ts: first_ts, sealed: false, ..self.state };
        }
        self.state = State { offset: start + self.pending.len() as u64, seq, chain, ..self.state };
        if let Err(error) = self.tip.write(&mut tip_of(&self.state)) {
            return Err(self.poison(error));
        }
        self.visit_pending(start, visit);
        self.discard();
        Ok(())
    }

    /// Writes the tip again, so that a new view watermark becomes durable.
    pub fn publish_view(&mut self) -> Result<()> {
        self.check()?;
        let written = self.tip.write(&mut tip_of(&self.state));
        written.map_err(|error| self.poison(error))
    }

    fn visit_pending(&self, start: u64, visit: &mut dyn FnMut(&Frame<'_>)) {
        for &at in &self.rows {
            let rest = self.pending.get(at..).unwrap_or_default();
            let Some(header) = frame::Header::decode(rest) else { continue };
            let Some(payload) = rest.get(frame::HEADER..header.frame_len()) else { continue };
            visit(&Frame { header, offset: start + at as u64, payload });
        }
    }

    fn poison(&mut self, error: LogError) -> LogError {
        self.poisoned = Some(error.to_string());
        error
    }

    fn check(&self) -> Result<()> {
        self.poisoned.as_ref().map_or(Ok(()), |why| Err(LogError::Poisoned(why.clone())))
    }

    /// The folder that holds the log.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

fn tip_of(state: &State) -> Tip {
    let State { segment, offset, seq, chain, view_seq, boot, bodies, .. } = *state;
    Tip { generation: 0, seq, segment, offset, chain, view_seq, boot, bodies }
}

fn state_at(log: &LogReader, rolled: &Rolled, view_seq: u64, bodies: u64) -> Result<State> {
    let End { place, offset, seq } = rolled.end;
    let segment = log.segments().get(place);
    let (first, first_ts) = match segment {
        Some(segment) => {
            let mut head = [0_u8; frame::HEADER];
            segment.read(&mut head, 0)?;
            (segment.first_seq, frame::Header::decode(&head).map_or(0, |header| header.ts_ns))
        }
        None => (seq + 1, 0),
    };
    let sealed = segment.is_some_and(|segment| !segment.is_active());
    Ok(State {
        segment: first,
        segment_ts: first_ts,
        offset,
        sealed,
        seq,
        chain: rolled.chain,
        view_seq: view_seq.min(seq),
        boot: log.segments().medium().boot(),
        bodies,
    })
}
