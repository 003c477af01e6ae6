//! Reading a run from front to back through small buffers.

use super::Unusable;
use super::run::Run;
use crate::format::run::{self, Key, PAGE, Page};

/// Pages read at once.
const CHUNK: u64 = 16;

/// Consecutive pages of a run.
#[derive(Debug)]
struct Pages<'r> {
    run: &'r Run,
    /// Number of the first page in `chunk`.
    first: u64,
    end: u64,
    chunk: Vec<u8>,
    /// Which page of `chunk` is the current one.
    at: usize,
}

impl<'r> Pages<'r> {
    const fn new(run: &'r Run, first: u64, end: u64) -> Self {
        Self { run, first, end, chunk: Vec::new(), at: 0 }
    }

    fn current(&self) -> Option<&Page> {
        self.chunk.as_chunks::<PAGE>().0.get(self.at)
    }

    /// Goes to the next page; `false` behind the last.
    fn turn(&mut self) -> Result<bool, Unusable> {
        let held = self.chunk.len() / PAGE;
        if self.at + 1 < held {
            self.at += 1;
            return Ok(true);
        }
        self.first += held as u64;
        let count = self.end.saturating_sub(self.first).min(CHUNK);
        self.chunk.resize(usize::try_from(count).unwrap_or(0) * PAGE, 0);
        self.at = 0;
        self.run.read_all(self.first, &mut self.chunk)?;
        Ok(count > 0)
    }
}

/// A section of records that are decoded by `decode`.
#[derive(Debug)]
pub(super) struct Records<'r> {
    pages: Pages<'r>,
    decode: fn(&Page, usize) -> Option<u64>,
    per_page: usize,
    used: usize,
}

impl<'r> Records<'r> {
    pub(super) fn offsets(run: &'r Run) -> Self {
        let header = run.header();
        Self::new(run, header.offsets_page(), header.postings_page(), run::offset, run::OFFSETS_PER_PAGE)
    }

    pub(super) fn postings(run: &'r Run) -> Self {
        let header = run.header();
        Self::new(run, header.postings_page(), header.keys_page(), run::posting, run::POSTINGS_PER_PAGE)
    }

    fn new(run: &'r Run, first: u64, end: u64, decode: fn(&Page, usize) -> Option<u64>, per_page: u64) -> Self {
        let per_page = usize::try_from(per_page).unwrap_or(0);
        Self { pages: Pages::new(run, first, end), decode, per_page, used: per_page }
    }

    /// Returns the next record. The caller knows how many there are.
    pub(super) fn next(&mut self) -> Result<u64, Unusable> {
        if self.used == self.per_page {
            self.pages.turn()?;
            self.used = 0;
        }
        let record = self.pages.current().and_then(|page| (self.decode)(page, self.used));
        self.used += 1;
        record.ok_or_else(|| self.pages.run.nonsense(self.pages.first, "a section ends too early"))
    }
}

/// The keys of a run, in order.
#[derive(Debug)]
pub(super) struct Keys<'r> {
    pages: Pages<'r>,
    left: u64,
    used: usize,
    /// Postings of the keys so far.
    postings: u64,
    last: Option<u64>,
}

impl<'r> Keys<'r> {
    pub(super) fn new(run: &'r Run) -> Self {
        let header = run.header();
        let pages = Pages::new(run, header.keys_page(), header.pages());
        Self { pages, left: header.keys, used: 0, postings: 0, last: None }
    }

    /// Returns the next key; `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<Key>, Unusable> {
        if self.left == 0 {
            return Ok(None);
        }
        loop {
            if let Some(page) = self.pages.current()
                && self.used < run::key_count(page)
            {
                let key = run::key(page, self.used);
                self.used += 1;
                self.left -= 1;
                return self.check(key).map(Some);
            }
            self.used = 0;
            if !self.pages.turn()? {
                return Err(self.pages.run.nonsense(self.pages.first, "keys are missing"));
            }
        }
    }

    /// Postings are copied in the order of the keys, which is right only where that is how they lie.
    fn check(&mut self, key: Option<Key>) -> Result<Key, Unusable> {
        let key = key
            .filter(|key| u64::from(key.first) == self.postings && self.last.is_none_or(|last| last < key.key))
            .ok_or_else(|| self.pages.run.nonsense(self.pages.first, "keys are out of order"))?;
        self.postings += u64::from(key.count);
        self.last = Some(key.key);
        Ok(key)
    }
}
