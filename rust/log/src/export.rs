//! Taking a log and its version bodies out of a store, in one form however they lie in it: all rows in one segment, and each
//! version once in one pack, uncompressed, in the order of the rows that first wrote them.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Bound, ControlFlow};
use std::path::Path;

use crate::error::{LogError, Result};
use crate::format::{frame, pack};
use crate::hash::Digest;
use crate::history::{self, Version};
use crate::log::{Event, LogReader, Position};
use crate::manifest;
use crate::medium::SharedMedium;
use crate::objects::{self, Body, BodyReader, InOrder};
use crate::row::{Row, Touch};

/// A body that is to go out: its SHA-256, and when it was first written.
#[derive(Debug)]
struct Written {
    sha: Digest,
    ts_ns: u64,
}

/// A log on its way out, up to a row. First [`Self::log`] until it is at its end, then the rest.
#[derive(Debug)]
pub struct Export {
    log: LogReader,
    bodies: BodyReader,
    in_order: InOrder,
    at: Position,
    last: u64,
    memories: BTreeMap<String, Version>,
    versions: Vec<Written>,
    seen: HashSet<Digest>,
    /// How many versions are out, or cannot be.
    done: usize,
    /// Number of the last frame in the pack.
    packed: u64,
    missing: u64,
}

impl Export {
    /// Opens the store at `root`; rows behind `last` stay in.
    pub fn open(medium: &SharedMedium, root: &Path, last: u64) -> Result<Self> {
        manifest::check_format(medium.as_ref(), root)?;
        let log = LogReader::open(medium.clone(), root.join("audit"))?;
        log.require()?;
        if last > log.last_seq() {
            return Err(LogError::NotFound(format!(
                "there is no row {last}: the log ends with row {}",
                log.last_seq()
            )));
        }
        let bodies = BodyReader::open(medium.clone(), root.join("audit/objects"), root.join("index/objects"))?;
        let at = log.start();
        Ok(Self {
            log,
            bodies,
            in_order: InOrder::default(),
            at,
            last,
            memories: BTreeMap::new(),
            versions: Vec::new(),
            seen: HashSet::new(),
            done: 0,
            packed: 0,
            missing: 0,
        })
    }

    /// Appends frames to `out` until there are `enough` bytes more; none at the end. A row that is damaged is an error.
    pub fn log(&mut self, enough: usize, out: &mut Vec<u8>) -> Result<()> {
        let Self { log, at, last, memories, versions, seen, .. } = self;
        if at.seq > *last {
            return Ok(());
        }
        let until = out.len() + enough;
        let mut next = *at;
        log.scan(*at, |event| {
            let frame = match event {
                Event::Frame(_, frame) if frame.header.seq <= *last => frame,
                Event::Frame(..) => return Ok(ControlFlow::Break(())),
                Event::Damage(damage) => return Err(damage.error()),
            };
            let seq = frame.header.seq;
            let place = log.segments().place_of(seq).unwrap_or_default();
            let row = Row::parse(frame.payload).map_err(|error| {
                let file = log.segments().label(place);
                LogError::corrupt(file, frame.offset, Some(seq), error.to_string())
            })?;
            if row.touches().any(|(_, touch)| touch == Touch::Write)
                && let Some(sha) = Digest::from_hex(row.content_sha256().as_bytes())
                && seen.insert(sha)
            {
                versions.push(Written { sha, ts_ns: frame.header.ts_ns });
            }
            history::apply(memories, seq, &row);
            out.extend_from_slice(&frame.header.encode());
            out.extend_from_slice(frame.payload);
            next = Position { place, offset: frame.end(), seq: seq + 1 };
            Ok(if out.len() >= until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if next.seq == at.seq {
            let file = log.segments().label(at.place);
            return Err(LogError::corrupt(file, at.offset, Some(at.seq), "the row is missing"));
        }
        *at = next;
        Ok(())
    }

    /// Appends frames of a pack to `out` until there are `enough` bytes more; none at the end. What was purged or never kept
    /// is passed over.
    pub fn bodies(&mut self, enough: usize, out: &mut Vec<u8>) -> Result<()> {
        let until = out.len() + enough;
        let mut payload = Vec::new();
        while out.len() < until {
            let Some(version) = self.versions.get(self.done) else { break };
            self.done += 1;
            let Body::Found(body) = self.in_order.get(&self.bodies, &version.sha)? else {
                self.missing += 1;
                continue;
            };
            objects::encode_plain(&body, version.sha, &mut payload)?;
            if self.packed == 0 {
                pack::start_group(&mut payload);
            }
            self.packed += 1;
            frame::encode(out, self.packed, version.ts_ns, &payload);
        }
        Ok(())
    }

    /// The memories there are after the last row, by name.
    pub fn memories(&self) -> impl Iterator<Item = &Version> {
        self.memories.values().filter(|version| history::is_memory(&version.path))
    }

    /// The contents of memories from the one called `first` on (empty: from the beginning), in that order, until there are
    /// `enough` bytes; `None` where the content is purged, damaged, or was never kept.
    pub fn contents(&self, first: &str, enough: usize) -> Result<Vec<Option<Vec<u8>>>> {
        let mut contents = Vec::new();
        let mut bytes = 0;
        let rest = self.memories.range::<str, _>((Bound::Included(first), Bound::Unbounded));
        for (_, version) in rest.filter(|(path, _)| history::is_memory(path)) {
            if bytes >= enough {
                break;
            }
            let body = Digest::from_hex(version.content_sha256.as_bytes()).map(|sha| self.bodies.get(&sha));
            let body = match body {
                Some(Ok(Body::Found(body))) => Some(body),
                Some(Ok(Body::Purged | Body::Absent) | Err(LogError::Corrupt { .. })) | None => None,
                Some(Err(error)) => return Err(error),
            };
            bytes += body.as_ref().map_or(0, Vec::len);
            contents.push(body);
        }
        Ok(contents)
    }

    /// How many versions were written, and how many of those that were looked at are purged or were never kept.
    pub fn versions(&self) -> (u64, u64) {
        (self.versions.len() as u64, self.missing)
    }
}
