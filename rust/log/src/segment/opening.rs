//! A segment's file, opened at once or when it is first read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::COMPACTED_SUFFIX;
use super::compacted::{Budget, Compacted};
use crate::format::frame::{HEADER, Header};
use crate::medium::{MediumFile, Open, SharedMedium};

/// A segment's file and, once it is open, its content.
#[derive(Debug)]
pub(super) struct Opening {
    medium: SharedMedium,
    path: PathBuf,
    budget: Arc<Budget>,
    /// The row that it was remembered to begin with.
    remembered: Option<u64>,
    content: OnceLock<Content>,
}

#[derive(Debug)]
pub(super) enum Content {
    Plain(Box<dyn MediumFile>),
    Compacted(Box<Compacted>),
}

impl Opening {
    pub(super) const fn new(medium: SharedMedium, path: PathBuf, budget: Arc<Budget>, remembered: Option<u64>) -> Self {
        Self { medium, path, budget, remembered, content: OnceLock::new() }
    }

    /// Returns the content, which is opened where it is not yet.
    pub(super) fn get(&self) -> io::Result<&Content> {
        if let Some(content) = self.content.get() {
            return Ok(content);
        }
        let opened = match self.open(&self.path) {
            // Compacted, or the original put back, since the folder was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match other_form(&self.path) {
                Some(other) => self.open(&other).map_err(|_| error)?,
                None => return Err(error),
            },
            opened => opened?,
        };
        if let Some(first) = self.remembered
            && let Some(other) = begins_otherwise(&opened, first)?
        {
            let what =
                format!("it begins with row {other}, and index/segments says {first}; the next write corrects that");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(self.content.get_or_init(|| opened))
    }

    fn open(&self, path: &Path) -> io::Result<Content> {
        let file = self.medium.open(path, Open::Read)?;
        Ok(if path.as_os_str().as_encoded_bytes().ends_with(COMPACTED_SUFFIX.as_bytes()) {
            Content::Compacted(Box::new(Compacted::open(file, Arc::clone(&self.budget))?))
        } else {
            Content::Plain(file)
        })
    }
}

/// Returns the row that a segment begins with where two headers agree that it is not `first`. One alone may be damaged.
fn begins_otherwise(content: &Content, first: u64) -> io::Result<Option<u64>> {
    let header_at = |offset: u64| -> io::Result<Option<Header>> {
        let mut head = [0; HEADER];
        let read = content.read_full_at(&mut head, offset)?;
        Ok(head.get(..read).and_then(Header::decode).filter(Header::is_plausible))
    };
    let Some(header) = header_at(0)?.filter(|header| header.seq != first) else { return Ok(None) };
    let second = header_at(header.frame_len() as u64)?;
    Ok(second.filter(|second| second.seq == header.seq + 1).map(|_| header.seq))
}

/// The name of the same segment in its other form; `None` for the active one, which has none.
fn other_form(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    if name == super::ACTIVE {
        return None;
    }
    Some(path.with_file_name(name.strip_suffix(".zst").map_or_else(|| format!("{name}.zst"), str::to_owned)))
}

impl Content {
    pub(super) fn fault(&self) -> io::Result<Option<&str>> {
        match self {
            Self::Plain(_) => Ok(None),
            Self::Compacted(file) => file.fault(),
        }
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        match self {
            Self::Plain(file) => file.len(),
            Self::Compacted(file) => file.len(),
        }
    }

    pub(super) fn read_full_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read_full_at(buf, offset),
            Self::Compacted(file) => file.read_full_at(buf, offset),
        }
    }
}
