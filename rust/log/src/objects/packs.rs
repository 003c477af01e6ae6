//! The pack files of a store: which there are, which holds a frame, and reading one frame.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{LogError, Result};
use crate::format::frame::{HEADER, Header};
use crate::format::pack::{self, DATA, HEAD, Head};
use crate::medium::{MediumFile, Open, SharedMedium};

/// Open files kept, most recently used last.
const KEPT_OPEN: usize = 8;
/// What is read of a frame at once; most are shorter.
const FIRST_READ: usize = 4096;

/// Where a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) pack: u32,
    pub(super) offset: u64,
}

/// One frame's fixed parts, decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fixed {
    pub(super) header: Header,
    pub(super) head: Head,
}

impl Fixed {
    /// Decodes the first [`DATA`] bytes of a frame; `None` where no writer can have written them.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let header = Header::decode(bytes).filter(Header::length_is_valid)?;
        let head = Head::decode(bytes.get(HEADER..)?)?;
        (header.length as usize >= HEAD).then_some(Self { header, head })
    }

    pub(super) const fn data_len(&self) -> usize {
        (self.header.length as usize).saturating_sub(HEAD)
    }

    pub(super) const fn frame_len(&self) -> u64 {
        self.header.frame_len() as u64
    }
}

/// The packs in a folder.
#[derive(Debug)]
pub(super) struct Packs {
    medium: SharedMedium,
    dir: PathBuf,
    how: Open,
    /// Ascending, each with the number of its first frame where that was looked up.
    known: Vec<(u32, Option<u64>)>,
    files: Vec<(u32, Arc<dyn MediumFile>)>,
}

impl Packs {
    /// Lists the packs in `dir`, which need not exist. `how` is how their files are opened.
    pub(super) fn open(medium: SharedMedium, dir: PathBuf, how: Open) -> Result<Self> {
        let mut packs = Self { medium, dir, how, known: Vec::new(), files: Vec::new() };
        packs.list()?;
        Ok(packs)
    }

    /// Lists the folder again and forgets what was known.
    pub(super) fn list(&mut self) -> Result<()> {
        let names = self.medium.list(&self.dir).map_err(LogError::io("list", &self.dir))?;
        self.known = names.iter().filter_map(|name| pack::number(name)).map(|number| (number, None)).collect();
        self.known.sort_unstable();
        self.files.clear();
        Ok(())
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn path(&self, pack: u32) -> PathBuf {
        self.dir.join(pack::name(pack))
    }

    /// Returns the packs' numbers from `from` on.
    pub(super) fn from(&self, from: u32) -> impl DoubleEndedIterator<Item = u32> {
        self.known.iter().map(|(number, _)| *number).filter(move |number| *number >= from)
    }

    pub(super) fn knows(&self, pack: u32) -> bool {
        self.known.binary_search_by_key(&pack, |(number, _)| *number).is_ok()
    }

    pub(super) fn last(&self) -> Option<u32> {
        self.known.last().map(|(number, _)| *number)
    }

    /// Returns the length of a pack; `None` where it does not exist.
    pub(super) fn len(&self, pack: u32) -> Result<Option<u64>> {
        let path = self.path(pack);
        let stat = self.medium.stat(&path).map_err(LogError::io("look at", path))?;
        Ok(stat.map(|stat| stat.len))
    }

    /// Returns a pack's open file.
    pub(super) fn file(&mut self, pack: u32) -> Result<Arc<dyn MediumFile>> {
        self.open_file(pack, self.how)
    }

    /// Returns the open file of a pack that may be new.
    pub(super) fn create(&mut self, pack: u32) -> Result<Arc<dyn MediumFile>> {
        let file = self.open_file(pack, Open::Create)?;
        if let Err(at) = self.known.binary_search_by_key(&pack, |(number, _)| *number) {
            self.known.insert(at, (pack, None));
        }
        Ok(file)
    }

    fn open_file(&mut self, pack: u32, how: Open) -> Result<Arc<dyn MediumFile>> {
        if let Some(at) = self.files.iter().position(|(number, _)| *number == pack) {
            let kept = self.files.remove(at);
            let file = Arc::clone(&kept.1);
            self.files.push(kept);
            return Ok(file);
        }
        let path = self.path(pack);
        let file: Arc<dyn MediumFile> = Arc::from(self.medium.open(&path, how).map_err(LogError::io("open", path))?);
        if self.files.len() == KEPT_OPEN {
            self.files.remove(0);
        }
        self.files.push((pack, Arc::clone(&file)));
        Ok(file)
    }

    /// Returns the pack that holds frame `seq`, if it exists; `None` where there are no packs: O(log packs) reads of a header, each done once.
    ///
    /// The numbers in the headers are not covered by a checksum, so the caller checks what it finds there.
    pub(super) fn holding(&mut self, seq: u64) -> Result<Option<u32>> {
        let (mut low, mut high) = (0, self.known.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.first_seq(middle)?.is_some_and(|first| first <= seq) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // Before the first number there is nothing, unless that number is damaged.
        Ok(self.known.get(low.saturating_sub(1)).map(|(number, _)| *number))
    }

    fn first_seq(&mut self, at: usize) -> Result<Option<u64>> {
        let Some(&(pack, first)) = self.known.get(at) else { return Ok(None) };
        if first.is_some() {
            return Ok(first);
        }
        let first = self.fixed(Position { pack, offset: 0 })?.map(|fixed| fixed.header.seq);
        if let Some(known) = self.known.get_mut(at) {
            known.1 = first;
        }
        Ok(first)
    }

    /// Reads a frame's fixed parts; `None` where there is no frame.
    pub(super) fn fixed(&mut self, at: Position) -> Result<Option<Fixed>> {
        let mut bytes = [0; DATA];
        let read = read_at(&*self.file(at.pack)?, &self.path(at.pack), &mut bytes, at.offset)?;
        Ok(bytes.get(..read).and_then(Fixed::decode))
    }

    /// Reads a whole frame into `buf`; `None` where there is none, or only a part.
    pub(super) fn frame(&mut self, at: Position, buf: &mut Vec<u8>) -> Result<Option<Fixed>> {
        let file = self.file(at.pack)?;
        let path = self.path(at.pack);
        buf.resize(FIRST_READ, 0);
        let mut read = read_at(&*file, &path, buf, at.offset)?;
        let Some(fixed) = buf.get(..read).and_then(Fixed::decode) else { return Ok(None) };
        let wanted = fixed.header.frame_len();
        if wanted > FIRST_READ {
            // The length is below 2^24 here.
            buf.resize(wanted, 0);
            let rest = buf.get_mut(read..).unwrap_or_default();
            read += read_at(&*file, &path, rest, at.offset + read as u64)?;
        }
        buf.truncate(wanted);
        Ok((read >= wanted).then_some(fixed))
    }
}

/// Reads until `buf` is full or the file ends.
pub(super) fn read_at(file: &dyn MediumFile, path: &Path, buf: &mut [u8], offset: u64) -> Result<usize> {
    file.read_full_at(buf, offset).map_err(LogError::io("read", path))
}

/// Builds the error for damage in a pack.
pub(super) fn corrupt(at: Position, seq: Option<u64>, what: impl Into<String>) -> LogError {
    LogError::corrupt(format!("audit/objects/{}", pack::name(at.pack)), at.offset, seq, what)
}
