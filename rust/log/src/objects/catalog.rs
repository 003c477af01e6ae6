//! Where bodies are: the index as far as it is of these packs, and what lies behind it.

use std::path::PathBuf;

use super::Body;
use super::codec;
use super::packs::{Fixed, Packs, Position, corrupt};
use super::scan::{self, End, Frame, Item, Scan, State};
use super::tail::Tail;
use crate::error::Result;
use crate::format::frame::HEADER;
use crate::format::pack::{self, HEAD};
use crate::hash::Digest;
use crate::index::{IndexSet, Unusable};
use crate::medium::{Open, SharedMedium};

/// What a search has met on its way, other than the body.
#[derive(Debug, Default)]
pub(super) struct Met {
    pub(super) purged: bool,
    /// A frame that is known to be this body's, or was, and does not give it.
    pub(super) damaged: Option<(Position, Option<u64>, &'static str)>,
    /// The index points where no frame with this key is.
    pub(super) misplaced: bool,
}

impl Met {
    fn damage(&mut self, at: Position, seq: Option<u64>, what: &'static str) {
        self.damaged.get_or_insert((at, seq, what));
    }

    pub(super) fn result(self) -> Result<Body> {
        match self {
            Self { purged: true, .. } => Ok(Body::Purged),
            Self { damaged: Some((at, seq, what)), .. } => Err(corrupt(at, seq, what)),
            _ => Ok(Body::Absent),
        }
    }
}

/// What [`Catalog::rewind`] goes back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checkpoint {
    rows: usize,
    pub(super) end: End,
    last: Option<Last>,
}

/// A frame, to be recognised.
#[derive(Debug, Clone, Copy)]
struct Last {
    at: Position,
    fixed: Fixed,
}

impl Last {
    fn mark(&self) -> Digest {
        pack::mark(&self.fixed.header, &self.fixed.head)
    }
}

/// The packs with what is known of their content.
#[derive(Debug)]
pub(super) struct Catalog {
    pub(super) packs: Packs,
    pub(super) index: IndexSet,
    pub(super) tail: Tail,
    pub(super) end: End,
    /// The frame before `end`, where there is one.
    last: Option<Last>,
    /// The index folder holds runs that are not of these packs.
    stale: bool,
    /// Where the body is that was found last.
    found: Option<Position>,
    buffer: Vec<u8>,
}

/// Returns the key of a body in the index.
pub(super) fn key(sha: &Digest) -> u64 {
    crate::format::be64(&sha.0, 0).unwrap_or_default()
}

impl Catalog {
    /// Opens the packs and as much of the index as is theirs. Nothing behind the index is read yet.
    pub(super) fn open(medium: SharedMedium, objects: PathBuf, index: PathBuf, how: Open) -> Result<Self> {
        let mut catalog = Self {
            packs: Packs::open(medium.clone(), objects, how)?,
            index: IndexSet::open(medium, index)?,
            tail: Tail::default(),
            end: End::START,
            last: None,
            stale: false,
            found: None,
            buffer: Vec::new(),
        };
        catalog.trust_index()?;
        Ok(catalog)
    }

    /// Begins again behind the newest run of the index whose last row is in the packs as it says.
    pub(super) fn trust_index(&mut self) -> Result<()> {
        self.tail.truncate(0);
        (self.end, self.last) = match self.verified()? {
            Some(last) => (End::behind(last.at, &last.fixed), Some(last)),
            None => (End::START, None),
        };
        self.forget_after(self.end.seq - 1);
        Ok(())
    }

    fn forget_after(&mut self, seq: u64) {
        self.stale |= self.index.last() > seq;
        self.index.forget_after(seq);
    }

    /// Finds the newest run of the index whose last row is in the packs as it says, and returns that row.
    ///
    /// The index may be younger than the list of packs: then that row is in a pack that is not known yet.
    fn verified(&mut self) -> Result<Option<Last>> {
        let mut listed = false;
        let boundaries: Vec<(u64, Digest)> = self.index.boundaries().collect();
        for (seq, mark) in boundaries {
            let mut last = self.indexed(seq, mark)?;
            if last.is_none() && !listed {
                listed = true;
                self.packs.list()?;
                last = self.indexed(seq, mark)?;
            }
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }

    fn indexed(&mut self, seq: u64, mark: Digest) -> Result<Option<Last>> {
        let (Ok(Some(offset)), Some(pack)) = (self.index.offset(seq), self.packs.holding(seq)?) else {
            return Ok(None);
        };
        let at = Position { pack, offset };
        let last = self.packs.fixed(at)?.map(|fixed| Last { at, fixed });
        Ok(last.filter(|last| last.fixed.header.seq == seq && last.mark() == mark))
    }

    /// Gives up the part of the index from a damaged run on.
    fn distrust(&mut self, unusable: &Unusable) -> Result<()> {
        self.index.forget_after(unusable.first.saturating_sub(1));
        self.trust_index()
    }

    /// Reads again what neither the index nor the tail covers: a run that was merged or published, and then could not be opened.
    fn close_gap(&mut self) -> Result<()> {
        if self.index.last() + (self.tail.len() as u64) < self.end.seq - 1 {
            self.trust_index()?;
            self.extend(false, usize::MAX, |_| {})?;
        }
        Ok(())
    }

    /// Whether there is anything to read behind the end. Where what was read before is no longer there, begins again: a writer
    /// may have cut what it could not sync, and written something else.
    pub(super) fn has_grown(&mut self) -> Result<bool> {
        let len = self.packs.len(self.end.at.pack)?.unwrap_or(0);
        let rolled = self.packs.len(self.end.at.pack + 1)?.is_some();
        let is_there = self.last_is_there()?;
        if len == self.end.at.offset && is_there && !rolled {
            return Ok(false);
        }
        if rolled || !self.packs.knows(self.end.at.pack) {
            self.packs.list()?;
        }
        if len < self.end.at.offset || !is_there {
            self.index.refresh()?;
            self.trust_index()?;
        }
        Ok(true)
    }

    /// Whether the frame before the end is still the one that was read.
    fn last_is_there(&mut self) -> Result<bool> {
        let Some(last) = self.last else { return Ok(true) };
        Ok(self.packs.fixed(last.at)?.is_some_and(|fixed| Last { at: last.at, fixed }.mark() == last.mark()))
    }

    /// Notes a frame that follows the end.
    pub(super) fn push(&mut self, at: Position, fixed: &Fixed) {
        self.tail.push(key(&fixed.head.sha), at);
        self.last = Some(Last { at, fixed: *fixed });
        self.end = End::behind(at, fixed);
    }

    pub(super) const fn checkpoint(&self) -> Checkpoint {
        Checkpoint { rows: self.tail.len(), end: self.end, last: self.last }
    }

    /// Forgets what was read since.
    pub(super) fn rewind(&mut self, to: Checkpoint) {
        self.tail.truncate(to.rows);
        (self.end, self.last) = (to.end, to.last);
    }

    /// Publishes the tail as a run of the index and empties it. Returns false where the index has lost rows before the tail.
    pub(super) fn publish(&mut self) -> Result<bool> {
        self.index.refresh()?;
        let covered = self.verified()?.map_or(0, |last| last.fixed.header.seq);
        self.forget_after(covered);
        if self.stale {
            self.index.remove_after(covered)?;
            self.stale = false;
        }
        let first = self.end.seq - self.tail.len() as u64;
        let (Some(skip), Some(last)) = ((covered + 1).checked_sub(first), self.last) else { return Ok(false) };
        let mut run = self.index.builder();
        for (key, at) in self.tail.rows(usize::try_from(skip).unwrap_or(usize::MAX)) {
            run.push(at.offset, [(key, 0)]);
        }
        self.index.add(run, last.mark())?;
        self.tail.truncate(0);
        Ok(true)
    }

    /// Reads on from the end, with every checksum or only those that decide where frames are, until the tail has `room`
    /// rows. Returns whether all was read.
    pub(super) fn extend(&mut self, check: bool, room: usize, mut see: impl FnMut(&Item)) -> Result<bool> {
        let packs: Vec<u32> = self.packs.from(self.end.at.pack).collect();
        for pack in packs {
            if pack != self.end.at.pack {
                self.end.at = Position { pack, offset: 0 };
            }
            if self.tail.len() >= room {
                return Ok(false);
            }
            let mut scan = self.scan(self.end, check)?;
            while let Some(item) = scan.next()? {
                see(&item);
                match item {
                    // Full only behind a frame: a gap always has one behind it, and what is published ends with one.
                    Item::Frame(frame) => {
                        self.push(frame.at, &frame.fixed);
                        if self.tail.len() >= room {
                            return Ok(false);
                        }
                    }
                    Item::Gap { at, frames, .. } => (0..frames).for_each(|_| self.tail.push(0, at)),
                    Item::Tail { .. } => {}
                }
            }
        }
        Ok(true)
    }

    /// Scans the pack of `from` from there on.
    pub(super) fn scan(&mut self, from: End, check: bool) -> Result<Scan> {
        let (file, path) = (self.packs.file(from.at.pack)?, self.packs.path(from.at.pack));
        let more_follow = self.packs.last().is_some_and(|last| last > from.at.pack);
        Scan::new(file, path, from, check, more_follow)
    }

    /// Calls `visit` with every place where the body may be, newest first, until it returns true.
    pub(super) fn visit(
        &mut self,
        sha: &Digest,
        mut visit: impl FnMut(&mut Packs, Position) -> Result<bool>,
    ) -> Result<()> {
        loop {
            self.close_gap()?;
            let key = key(sha);
            for at in self.tail.find(key) {
                if visit(&mut self.packs, at)? {
                    return Ok(());
                }
            }
            let Err(unusable) = visit_index(&self.index, &mut self.packs, key, &mut visit)? else { return Ok(()) };
            self.distrust(&unusable)?;
            self.extend(false, usize::MAX, |_| {})?;
        }
    }

    /// Looks for a body where the index and the tail say that it may be.
    pub(super) fn search(&mut self, sha: &Digest, met: &mut Met) -> Result<Option<Vec<u8>>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut found = None;
        let mut place = None;
        let searched = self.visit(sha, |packs, at| {
            found = body_at(packs, at, sha, &mut buffer, met)?;
            place = Some(at);
            Ok(found.is_some())
        });
        self.buffer = buffer;
        self.found = place.filter(|_| found.is_some());
        searched.map(|()| found)
    }

    /// Where the body is that was found last, and what lies behind it.
    pub(super) fn found(&mut self) -> Result<Option<(Position, End)>> {
        let Some(at) = self.found.take() else { return Ok(None) };
        Ok(self.packs.fixed(at)?.map(|fixed| (at, End::behind(at, &fixed))))
    }

    /// Looks for a body in every frame from `from` on.
    pub(super) fn sweep(&mut self, from: End, sha: &Digest, met: &mut Met) -> Result<Option<Vec<u8>>> {
        let mut found = None;
        self.each_frame(from, |packs, frame| {
            if frame.fixed.head.sha == *sha {
                found = body_at(packs, frame.at, sha, &mut Vec::new(), met)?;
            }
            Ok(found.is_some())
        })?;
        Ok(found)
    }

    /// Calls `visit` with every frame from `from` on until it returns true, without checking more than where they end.
    pub(super) fn each_frame(
        &mut self,
        from: End,
        mut visit: impl FnMut(&mut Packs, &Frame) -> Result<bool>,
    ) -> Result<()> {
        let packs: Vec<u32> = self.packs.from(from.at.pack).collect();
        let mut seq = from.seq;
        for pack in packs {
            let offset = if pack == from.at.pack { from.at.offset } else { 0 };
            let mut scan = self.scan(End { at: Position { pack, offset }, seq }, false)?;
            while let Some(item) = scan.next()? {
                if let Item::Frame(frame) = item
                    && visit(&mut self.packs, &frame)?
                {
                    return Ok(());
                }
            }
            seq = scan.seq();
        }
        Ok(())
    }
}

fn visit_index(
    index: &IndexSet,
    packs: &mut Packs,
    key: u64,
    visit: &mut impl FnMut(&mut Packs, Position) -> Result<bool>,
) -> Result<Result<(), Unusable>> {
    for posting in index.postings(key, u64::MAX) {
        let found = posting.and_then(|posting| Ok((posting.seq, index.offset(posting.seq)?)));
        let (seq, offset) = match found {
            Ok((seq, Some(offset))) => (seq, offset),
            Ok((_, None)) => continue,
            Err(unusable) => return Ok(Err(unusable)),
        };
        if let Some(pack) = packs.holding(seq)?
            && visit(packs, Position { pack, offset })?
        {
            break;
        }
    }
    Ok(Ok(()))
}

/// Reads the body at a place where it should be.
pub(super) fn body_at(
    packs: &mut Packs,
    at: Position,
    sha: &Digest,
    buffer: &mut Vec<u8>,
    met: &mut Met,
) -> Result<Option<Vec<u8>>> {
    let Some(fixed) = packs.frame(at, buffer)? else {
        met.misplaced = true;
        met.damage(at, None, "there is no whole frame where the index says");
        return Ok(None);
    };
    let seq = Some(fixed.header.seq);
    let payload = buffer.get(HEADER..).unwrap_or_default();
    let state = scan::check(fixed, payload);
    if fixed.head.sha != *sha {
        // Either a body that shares the key, or one whose digest was damaged.
        if state != State::Whole {
            met.damage(at, seq, "the frame's checksum does not hold");
        }
        if key(&fixed.head.sha) != key(sha) {
            met.misplaced = true;
            met.damage(at, seq, "another body is where the index says");
        }
        return Ok(None);
    }
    if scan::is_purged(fixed, state) {
        met.purged = true;
        return Ok(None);
    }
    if state != State::Whole {
        met.damage(at, seq, "the frame's checksum does not hold");
        return Ok(None);
    }
    match codec::decode(&fixed.head, payload.get(HEAD..).unwrap_or_default()) {
        Ok(body) => Ok(Some(body)),
        Err(what) => {
            met.damage(at, seq, what);
            Ok(None)
        }
    }
}
