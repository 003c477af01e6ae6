//! Finding a log's segments and putting them in order.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compacted::Budget;
use super::opening::Opening;
use super::{ACTIVE, COMPACTED_SUFFIX, PLAIN_SUFFIX, Segment, find_frame, find_last_frame, known};
use crate::error::{LogError, Result};
use crate::format::frame::{HEADER, Header};
use crate::medium::{Medium, SharedMedium};
use crate::time::year_month;

/// How much of a segment is read to find its first rows: as a rule two of them.
const HEAD: usize = 2048;

/// All segments of a log that hold at least one byte, in order.
#[derive(Debug, Clone)]
pub struct Segments {
    medium: SharedMedium,
    dir: PathBuf,
    list: Vec<Segment>,
    unreadable: Vec<Unreadable>,
    /// Whether there is any file with a segment's name, be it empty.
    any: bool,
}

/// A file that has a segment's name and in which no row can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// File, relative to the store.
    pub file: String,
    /// What is wrong, in one clause.
    pub what: String,
}

/// A segment, and its first row's number where it can be read.
type Opened = (Segment, Option<u64>);

impl Segments {
    /// Opens the segments in `dir` (the store's `audit/`) and looks at each. A folder without any is an empty log.
    pub fn open(medium: SharedMedium, dir: PathBuf) -> Result<Self> {
        Self::open_with(medium, dir, |_, _| Ok(Vec::new()))
    }

    /// As [`Self::open`]; but sealed segments of which it was [remembered](Self::remember) what they begin with are opened
    /// only when they are read.
    pub fn open_remembered(medium: SharedMedium, dir: PathBuf) -> Result<Self> {
        Self::open_with(medium, dir, known::remembered)
    }

    fn open_with(
        medium: SharedMedium,
        dir: PathBuf,
        remembered: fn(&dyn Medium, &Path) -> Result<known::Firsts>,
    ) -> Result<Self> {
        // A segment may be sealed or compacted, which renames it, between the listing and the opening: then list again.
        for _ in 0..8 {
            let names = segment_names(medium.as_ref(), &dir)?;
            let any_sealed = names.iter().any(|name| name != ACTIVE);
            let known = if any_sealed { remembered(medium.as_ref(), &dir)? } else { Vec::new() };
            let Some(files) = open_all(&medium, &dir, &names, &known)? else { continue };
            if segment_names(medium.as_ref(), &dir)? == names {
                let (list, unreadable) = arrange(files)?;
                return Ok(Self { medium, dir, list, unreadable, any: !names.is_empty() });
            }
        }
        Err(LogError::NotFound(format!("the segments in {} move faster than they can be opened", dir.display())))
    }

    /// The segments, oldest first.
    pub fn list(&self) -> &[Segment] {
        &self.list
    }

    /// Files that should be segments and are not.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    /// Whether there is no file that could hold a row, not even an empty one.
    pub fn is_missing(&self) -> bool {
        !self.any
    }

    /// The folder that holds them.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The medium they lie on.
    pub fn medium(&self) -> &SharedMedium {
        &self.medium
    }

    /// Returns the segment at `place` of [`Self::list`].
    pub fn get(&self, place: usize) -> Option<&Segment> {
        self.list.get(place)
    }

    /// Returns the name of the segment at `place`, relative to the store, for messages; empty where there is none.
    pub fn label(&self, place: usize) -> String {
        self.get(place).map(Segment::label).unwrap_or_default()
    }

    /// Returns the place in [`Self::list`] of the segment that holds row `seq`, were it there.
    pub fn place_of(&self, seq: u64) -> Option<usize> {
        self.list.partition_point(|segment| segment.first_seq <= seq).checked_sub(1)
    }
}

/// Returns a name that no segment in `dir` has, for sealing one whose first row has this time.
pub(crate) fn free_sealed_name(medium: &dyn Medium, dir: &Path, ts_ns: u64) -> Result<Option<String>> {
    let (year, month) = year_month(ts_ns);
    let names = medium.list(dir).map_err(LogError::io("list", dir))?;
    Ok((1..=u32::MAX)
        .map(|n| format!("{year:04}-{month:02}_{n:02}{PLAIN_SUFFIX}"))
        .find(|name| !names.iter().any(|other| other.strip_suffix(".zst").unwrap_or(other) == name)))
}

pub(super) fn segment_names(medium: &dyn Medium, dir: &Path) -> Result<Vec<String>> {
    let mut names = medium.list(dir).map_err(LogError::io("list", dir))?;
    names.retain(|name| name.ends_with(PLAIN_SUFFIX) || name.ends_with(COMPACTED_SUFFIX));
    names.sort_unstable();
    // An interrupted compaction leaves both forms; the plain one is the original.
    let all = names.clone();
    names.retain(|name| name.strip_suffix(".zst").is_none_or(|plain| all.iter().all(|other| other != plain)));
    Ok(names)
}

/// Opens segments, but for those that are known. `None` where a listed one has vanished. Empty files are left out.
fn open_all(
    medium: &SharedMedium,
    dir: &Path,
    names: &[String],
    known: &[(String, u64)],
) -> Result<Option<Vec<Opened>>> {
    let budget = Arc::new(Budget::default());
    let mut files = Vec::with_capacity(names.len());
    for name in names {
        let path = dir.join(name);
        let remembered = known.iter().find(|(known, _)| known == name).map(|(_, first)| *first);
        let file = Opening::new(Arc::clone(medium), path.clone(), Arc::clone(&budget), remembered);
        let segment = Segment { name: name.clone(), first_seq: 0, file: Arc::new(file) };
        if remembered.is_some() {
            files.push((segment, remembered));
            continue;
        }
        match segment.file.get() {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LogError::io("open", path)(error)),
        }
        let mut head = [0_u8; HEAD];
        let read = segment.read(&mut head, 0)?;
        if segment.is_compacted() || read > 0 {
            let first = probe(&segment, head.get(..read).unwrap_or_default())?;
            files.push((segment, first));
        }
    }
    Ok(Some(files))
}

/// Orders the segments by their first numbers, the active one last, and sorts out those without any.
fn arrange(files: Vec<Opened>) -> Result<(Vec<Segment>, Vec<Unreadable>)> {
    let (mut list, mut unreadable, mut active) = (Vec::new(), Vec::new(), None);
    for (mut segment, first) in files {
        if segment.is_active() {
            active = Some((segment, first));
            continue;
        }
        let first = match first {
            None => find_frame(&segment, 0, 1)?.map(|found| found.header.seq),
            first => first,
        };
        if let Some(first) = first {
            segment.first_seq = first;
            list.push(segment);
        } else {
            let what = segment.fault()?.unwrap_or("no whole row is in this segment").to_owned();
            unreadable.push(Unreadable { file: segment.label(), what });
        }
    }
    list.sort_by_key(|segment| segment.first_seq);
    if let Some((mut active, first)) = active {
        // It may hold nothing but a torn first row, or a damaged header: it continues the last sealed segment all the same.
        let above = list.last().map_or(0, |last: &Segment| last.first_seq);
        active.first_seq = match (first.filter(|&first| first > above), list.last()) {
            (Some(first), _) => first,
            (None, Some(before)) => find_last_frame(before, u64::MAX)?.map_or(above, |found| found.header.seq) + 1,
            (None, None) => 1,
        };
        list.push(active);
    }
    Ok((list, unreadable))
}

/// Reads the first row's number, doubting a first header that the second contradicts: the checksum does not cover it.
///
/// `start` are the bytes that the segment starts with.
fn probe(segment: &Segment, start: &[u8]) -> Result<Option<u64>> {
    let header_at = |offset: usize| -> Result<Option<Header>> {
        let mut head = [0_u8; HEADER];
        let header = match start.get(offset..).and_then(Header::decode) {
            None if start.len() == HEAD => {
                let read = segment.read(&mut head, offset as u64)?;
                head.get(..read).and_then(Header::decode)
            }
            header => header,
        };
        Ok(header.filter(Header::is_plausible))
    };
    let Some(first) = header_at(0)? else { return Ok(None) };
    let second_at = first.frame_len();
    match header_at(second_at)? {
        Some(second) if second.seq != first.seq + 1 => {
            // Either header may be the damaged one; a whole frame found behind both decides.
            let third = find_frame(segment, (second_at + HEADER) as u64, 1)?;
            let second_is_right = third.is_some_and(|third| third.header.seq == second.seq + 1);
            Ok(Some(if second_is_right { second.seq.saturating_sub(1).max(1) } else { first.seq }))
        }
        _ => Ok(Some(first.seq)),
    }
}
