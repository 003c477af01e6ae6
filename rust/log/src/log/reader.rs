//! The log, open for reading. Takes no lock and never writes.

use std::path::{Path, PathBuf};

use super::beside::Known;
use super::scan::Position;
use super::tip::{self, TipState};
use crate::error::{LogError, Result};
use crate::format::frame::{HEADER, Header, MAX_PAYLOAD};
use crate::format::tip::Tip;
use crate::manifest::Manifest;
use crate::medium::SharedMedium;
use crate::segment::{ACTIVE, Batch, BatchReader, Frame, Reverse, Segments, Stop, find_last_frame};

/// How much is read of a row whose length is not known yet.
const ROW_GUESS: usize = 1024;

type OpenSegments = fn(SharedMedium, PathBuf) -> Result<Segments>;

/// Where the last whole row ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Place of its segment.
    pub place: usize,
    /// Where the row ends in it.
    pub offset: u64,
    /// The row's number.
    pub seq: u64,
}

/// A log open for reading.
#[derive(Debug)]
pub struct LogReader {
    segments: Segments,
    /// How they are opened again.
    open: OpenSegments,
    tip: TipState,
    end: Option<End>,
    /// The file that says that acknowledged rows are missing at the end.
    short: Option<&'static str>,
    /// Version of the active segment when it was looked at.
    seen: Option<[u64; 4]>,
}

impl LogReader {
    /// Opens the log in `audit_dir`. Reads only the tip, the first header of each segment and what lies beyond the tip.
    ///
    /// A log that is not there can be opened, so that it can be looked at: see [`Self::require`].
    pub fn open(medium: SharedMedium, audit_dir: PathBuf) -> Result<Self> {
        Self::open_by(Segments::open, medium, audit_dir)
    }

    /// As [`Self::open`]; but of sealed segments it is enough that their first rows were [remembered](Segments::remember).
    pub fn open_remembered(medium: SharedMedium, audit_dir: PathBuf) -> Result<Self> {
        Self::open_by(Segments::open_remembered, medium, audit_dir)
    }

    fn open_by(open: OpenSegments, medium: SharedMedium, audit_dir: PathBuf) -> Result<Self> {
        let seen = seen(&medium, &audit_dir)?;
        let tip = tip::read(medium.as_ref(), &audit_dir)?;
        // Read before the rows, which may become more meanwhile.
        let known = match tip {
            TipState::Valid(_) => None,
            _ => Some(Known::read(medium.as_ref(), &audit_dir)?),
        };
        let segments = open(medium, audit_dir)?;
        let mut log = Self { segments, open, tip, end: None, short: None, seen };
        if tip == TipState::Missing && log.should_have_tip()? {
            log.tip = TipState::Lost;
        }
        log.find_end()?;
        if let Some(known) = known.filter(|known| known.seq > log.last_seq()) {
            log.short = Some(known.file);
        }
        Ok(log)
    }

    /// Whether this program has written the log: then it had a tip before its first row.
    fn should_have_tip(&self) -> Result<bool> {
        let (medium, dir) = (self.segments.medium(), self.segments.dir());
        let objects = dir.join("objects");
        let packs = medium.list(&objects).map_err(LogError::io("list", objects))?;
        // Upstream keeps no bodies, and names no format.
        let is_pack = |name: &String| Path::new(name).extension().is_some_and(|suffix| suffix == "pack");
        if packs.iter().any(is_pack) {
            return Ok(true);
        }
        Ok(!self.is_blank() && self.manifest()?.is_some_and(|manifest| manifest.format_version.is_some()))
    }

    fn manifest(&self) -> Result<Option<Manifest>> {
        let dir = self.segments.dir();
        Manifest::read(self.segments.medium().as_ref(), dir.parent().unwrap_or(dir))
    }

    /// Returns what is wrong where the log is gone: a store has a segment from the beginning, be it empty.
    pub(super) fn gone(&self) -> Result<Option<LogError>> {
        let gone = self.segments.is_missing()
            && match self.tip {
                TipState::Valid(tip) => tip.seq > 0,
                TipState::Lost | TipState::Damaged => true,
                // A folder without a manifest is no store yet.
                TipState::Missing => self.manifest()?.is_some(),
            };
        Ok(gone.then(|| LogError::corrupt("audit", 0, Some(1), "the log is gone: no segment is there")))
    }

    /// Refuses a log that is gone, which would read as an empty one.
    pub fn require(&self) -> Result<()> {
        self.gone()?.map_or(Ok(()), Err)
    }

    /// Looks again; returns whether the log has changed since.
    pub fn refresh(&mut self) -> Result<bool> {
        let medium = self.segments.medium().clone();
        let seen = seen(&medium, self.segments.dir())?;
        if seen == self.seen {
            return Ok(false);
        }
        *self = Self::open_by(self.open, medium, self.segments.dir().to_path_buf())?;
        Ok(true)
    }

    /// The segments.
    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    /// What is acknowledged, where the tip file says so.
    pub fn tip(&self) -> Option<Tip> {
        self.tip.valid()
    }

    /// What the tip file says.
    pub fn tip_state(&self) -> TipState {
        self.tip
    }

    /// Where the last whole row ends; `None` for an empty log.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Number of the last whole row; 0 for an empty log.
    pub fn last_seq(&self) -> u64 {
        self.end.map_or(0, |end| end.seq)
    }

    /// Whether there is nothing at all, not even bytes that are no rows.
    pub fn is_blank(&self) -> bool {
        self.segments.list().is_empty() && self.segments.unreadable().is_empty()
    }

    /// The file, relative to the store, that says that acknowledged rows are missing at the end; `None` where none says so.
    pub fn short(&self) -> Option<&'static str> {
        self.short
    }

    /// Where the first row begins.
    pub fn start(&self) -> Position {
        Position { place: 0, offset: 0, seq: self.segments.list().first().map_or(1, |segment| segment.first_seq) }
    }

    /// Reads the frame of row `seq` that begins at `offset` in the segment that holds that number.
    ///
    /// The frame is checked: its number, its length and its checksum.
    pub fn frame_at<'b>(&self, seq: u64, offset: u64, buf: &'b mut Vec<u8>) -> Result<Frame<'b>> {
        let segment = self.segments.place_of(seq).and_then(|place| self.segments.get(place));
        let segment = segment.ok_or_else(|| LogError::NotFound(format!("row {seq} is not in the log")))?;
        let corrupt = |what: &str| LogError::corrupt(segment.label(), offset, Some(seq), what);
        buf.resize(ROW_GUESS, 0);
        let read = segment.read(buf, offset)?;
        let header =
            buf.get(..read).and_then(Header::decode).ok_or_else(|| corrupt("the frame's header is cut off"))?;
        if header.seq != seq || header.length as usize >= MAX_PAYLOAD || !header.length_is_valid() {
            return Err(corrupt("the header is not that of this row"));
        }
        let len = header.frame_len();
        buf.resize(len, 0);
        if read < len {
            let more = segment.read(buf.get_mut(read..).unwrap_or_default(), offset + read as u64)?;
            if read + more < len {
                return Err(corrupt("the frame is cut off"));
            }
        }
        let payload = buf.get(HEADER..).unwrap_or_default();
        if crc32c::crc32c(payload) != header.crc {
            return Err(corrupt("the checksum does not match the payload"));
        }
        Ok(Frame { header, offset, payload })
    }

    /// Hands out the rows newest first, down to the row that begins at `floor`.
    pub fn reverse(&self, floor: Position) -> ReverseLog<'_> {
        ReverseLog {
            log: self,
            floor,
            current: self.end.and_then(|end| self.reverse_in(end, floor).map(|r| (end.place, r))),
        }
    }

    /// As [`Self::reverse`], beginning with the row before the one that begins at `below`.
    pub fn reverse_below(&self, below: Position, floor: Position) -> ReverseLog<'_> {
        let Position { place, offset, seq } = below;
        let end = End { place, offset, seq: seq.saturating_sub(1) };
        ReverseLog { log: self, floor, current: self.reverse_in(end, floor).map(|reverse| (place, reverse)) }
    }

    fn reverse_in(&self, end: End, floor: Position) -> Option<Reverse> {
        let low = if end.place == floor.place { floor.offset } else { 0 };
        Some(Reverse::new(self.segments.get(end.place)?, end.offset, end.seq, low))
    }

    fn find_end(&mut self) -> Result<()> {
        let tip = self.tip.valid();
        if let Some(tip) = tip.filter(|tip| tip.seq > 0) {
            let place = self.segments.list().iter().position(|segment| segment.first_seq == tip.segment);
            let known = place
                .filter(|&place| self.segments.get(place).is_some_and(|s| s.len().is_ok_and(|len| len >= tip.offset)));
            if let Some(place) = known {
                self.end = Some(self.roll_forward(End { place, offset: tip.offset, seq: tip.seq })?);
                return Ok(());
            }
            self.short = Some(tip::FILE);
        }
        self.end = self.last_whole_frame()?;
        if self.end.is_some_and(|end| tip.is_some_and(|tip| end.seq >= tip.seq)) {
            self.short = None;
        }
        Ok(())
    }

    /// Accepts whole rows beyond `end`: a program that knows no tip may have written them.
    fn roll_forward(&self, mut end: End) -> Result<End> {
        let mut batch = Batch::default();
        let mut place = end.place;
        loop {
            let Some(segment) = self.segments.get(place) else { return Ok(end) };
            let from = if place == end.place { end.offset } else { 0 };
            let mut reader = BatchReader::new(segment, from, end.seq + 1, None)?;
            loop {
                let stop = reader.read(&mut batch)?;
                for frame in batch.frames() {
                    let Ok(frame) = frame else { return Ok(end) };
                    end = End { place, offset: frame.end(), seq: frame.header.seq };
                }
                if stop.is_some() {
                    return Ok(end);
                }
                if batch.is_empty() {
                    break;
                }
            }
            place += 1;
            if self.segments.get(place).is_none_or(|next| next.first_seq != end.seq + 1) {
                return Ok(end);
            }
        }
    }

    fn last_whole_frame(&self) -> Result<Option<End>> {
        for (place, segment) in self.segments.list().iter().enumerate().rev() {
            if let Some(found) = find_last_frame(segment, u64::MAX)? {
                return Ok(Some(End { place, offset: found.end(), seq: found.header.seq }));
            }
        }
        Ok(None)
    }
}

fn seen(medium: &SharedMedium, audit_dir: &Path) -> Result<Option<[u64; 4]>> {
    let path = audit_dir.join(ACTIVE);
    let stat = medium.stat(&path).map_err(LogError::io("inspect", path))?;
    Ok(stat.map(|stat| stat.version))
}

/// The rows of a log, newest first.
#[derive(Debug)]
pub struct ReverseLog<'l> {
    log: &'l LogReader,
    floor: Position,
    current: Option<(usize, Reverse)>,
}

impl ReverseLog<'_> {
    /// Returns the next older row; `None` at the floor. Damage is an error: read forward then.
    #[expect(clippy::should_implement_trait, reason = "the frame borrows the buffer, which an iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>> {
        loop {
            let Some((place, reverse)) = &self.current else { return Ok(None) };
            let (place, seq) = (*place, reverse.next_seq());
            let below = place < self.floor.place || (place == self.floor.place && reverse.is_at_floor());
            if below != (seq < self.floor.seq) {
                let file = self.log.segments.label(place);
                let what = "the rows from here on are not as many as their numbers say";
                return Err(LogError::corrupt(file, self.floor.offset, Some(self.floor.seq), what));
            }
            if below {
                return Ok(None);
            }
            if !reverse.is_at_floor() {
                break;
            }
            let Some(before) = place.checked_sub(1) else { return Ok(None) };
            let Some(segment) = self.log.segments.get(before) else { return Ok(None) };
            let end = End { place: before, offset: segment.len()?, seq };
            self.current = self.log.reverse_in(end, self.floor).map(|reverse| (before, reverse));
        }
        let Some((place, reverse)) = &mut self.current else { return Ok(None) };
        let label = self.log.segments.label(*place);
        match reverse.next()? {
            None => Ok(None),
            Some(Ok(frame)) => Ok(Some(frame)),
            Some(Err(Stop { offset, expected_seq, what })) => {
                Err(LogError::corrupt(label, offset, Some(expected_seq), what))
            }
        }
    }
}
