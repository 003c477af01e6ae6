//! One run, opened for reading.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Unusable;
use super::cache::PageCache;
use crate::format::run::{self, Header, Key, PAGE, Page};
use crate::medium::{Medium, MediumFile, Open};

/// Why a run was not opened.
#[derive(Debug)]
pub(super) enum NotOpened {
    /// It is gone: merged, meanwhile.
    Vanished,
    /// It is there, and of no use.
    Unusable,
}

#[derive(Debug)]
pub(super) struct Run {
    path: PathBuf,
    file: Box<dyn MediumFile>,
    header: Header,
    /// Tells the runs of a process apart in a cache of pages.
    id: u64,
    /// Set once a page was found to be bad.
    damaged: AtomicBool,
}

impl Run {
    /// Opens the run that its name says covers `first..=last`, and reads its header page.
    pub(super) fn open(medium: &dyn Medium, path: PathBuf, first: u64, last: u64) -> Result<Self, NotOpened> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let file = medium.open(&path, Open::Read).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NotOpened::Vanished,
            _ => NotOpened::Unusable,
        })?;
        let mut page = [0; PAGE];
        let whole = file.read_full_at(&mut page, 0).is_ok_and(|read| read == PAGE) && run::is_sound(&page, 0);
        let header = Header::decode(&page).filter(|_| whole).ok_or(NotOpened::Unusable)?;
        let bytes = header.pages().checked_mul(PAGE as u64);
        if (header.first, header.last) != (first, last) || file.len().ok() != bytes {
            return Err(NotOpened::Unusable);
        }
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Self { path, file, header, id, damaged: AtomicBool::new(false) })
    }

    pub(super) const fn header(&self) -> &Header {
        &self.header
    }

    pub(super) const fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Says of a sound page that it makes no sense: what lies elsewhere is not what it says.
    pub(super) fn nonsense(&self, page: u64, what: impl Into<String>) -> Unusable {
        Unusable { nonsense: true, ..self.unusable(page, what) }
    }

    /// Says that this run is of no use, and remembers it.
    fn unusable(&self, page: u64, what: impl Into<String>) -> Unusable {
        self.damaged.store(true, Ordering::Relaxed);
        Unusable { path: self.path.clone(), first: self.header.first, page, what: what.into(), nonsense: false }
    }

    /// Reads one page and checks it.
    pub(super) fn read(&self, number: u64, page: &mut Page) -> Result<(), Unusable> {
        self.read_all(number, page.as_mut_slice())
    }

    /// Reads whole pages, `first` being the number of the first of them, and checks each.
    pub(super) fn read_all(&self, first: u64, pages: &mut [u8]) -> Result<(), Unusable> {
        let read = self
            .file
            .read_full_at(pages, first * PAGE as u64)
            .map_err(|error| self.unusable(first, format!("cannot be read: {error}")))?;
        if read != pages.len() {
            return Err(self.unusable(first, "the file ends too early"));
        }
        for (page, number) in pages.as_chunks::<PAGE>().0.iter().zip(first..) {
            if !run::is_sound(page, number) {
                return Err(self.unusable(number, "the checksum is wrong"));
            }
        }
        Ok(())
    }

    /// Returns the offset of a row of this run.
    pub(super) fn offset(&self, cache: &PageCache, seq: u64) -> Result<u64, Unusable> {
        let row = seq.saturating_sub(self.header.first);
        let page = self.header.offsets_page() + row / run::OFFSETS_PER_PAGE;
        let bytes = cache.get(self, page)?;
        run::offset(&bytes, in_page(row, run::OFFSETS_PER_PAGE)).ok_or_else(|| self.nonsense(page, "no such row"))
    }

    /// Finds a key. A run that does not have it costs one page, one more for each full page it spilled over.
    pub(super) fn find(&self, cache: &PageCache, key: u64) -> Result<Option<Key>, Unusable> {
        let first_page = self.header.keys_page();
        for number in run::bucket(key, self.header.buckets)..self.header.key_pages {
            let page = cache.get(self, first_page + number)?;
            let count = run::key_count(&page);
            if let Some(found) = search(&page, count, key) {
                if u64::from(found.first) + u64::from(found.count) > self.header.postings {
                    return Err(self.nonsense(first_page + number, "a key's postings lie outside"));
                }
                return Ok(Some(found));
            }
            let last = count.checked_sub(1).and_then(|last| run::key(&page, last));
            // Keys are in order over all pages, and only a full page spills: so a later page has the key only behind a
            // full page that ends before it.
            if count < run::KEYS_PER_PAGE || last.is_none_or(|last| last.key > key) {
                break;
            }
        }
        Ok(None)
    }

    /// Returns the number of the postings `0..end` of `key` that are of rows before `below`.
    pub(super) fn count_below(&self, cache: &PageCache, key: &Key, below: u64) -> Result<u32, Unusable> {
        if below > self.header.last {
            return Ok(key.count);
        }
        let (mut low, mut high) = (0, key.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.posting(cache, u64::from(key.first) + u64::from(middle))? >> run::CLASS_BITS < below {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns the `index`-th posting of the run.
    pub(super) fn posting(&self, cache: &PageCache, index: u64) -> Result<u64, Unusable> {
        let number = self.header.postings_page() + index / run::POSTINGS_PER_PAGE;
        let page = cache.get(self, number)?;
        run::posting(&page, in_page(index, run::POSTINGS_PER_PAGE))
            .filter(|word| (self.header.first..=self.header.last).contains(&(word >> run::CLASS_BITS)))
            .ok_or_else(|| self.nonsense(number, "a posting is of a row outside"))
    }
}

/// Returns where the `index`-th record is in its page.
fn in_page(index: u64, per_page: u64) -> usize {
    usize::try_from(index % per_page).unwrap_or(usize::MAX)
}

fn search(page: &Page, count: usize, key: u64) -> Option<Key> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = run::key(page, middle)?;
        match found.key.cmp(&key) {
            std::cmp::Ordering::Equal => return Some(found),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}
