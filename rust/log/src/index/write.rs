//! Writing one run: sections side by side, the header last, then the name.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cover::{self, Span};
use crate::error::{LogError, Result};
use crate::format::run::{self, Header, Key, OFFSET, PAGE, POSTING, Page};
use crate::hash::Digest;
use crate::medium::{Medium, MediumFile, Open};

/// Pages written at once.
const CHUNK: usize = 16;

/// A run being written to a file that has no run's name yet.
#[derive(Debug)]
pub(super) struct RunWriter<'m> {
    medium: &'m dyn Medium,
    dir: &'m Path,
    temporary: PathBuf,
    file: Arc<dyn MediumFile>,
    header: Header,
    offsets: Records<OFFSET>,
    postings: Records<POSTING>,
    keys: KeyPages,
    published: bool,
}

/// What is known of a run before its content is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) span: Span,
    pub(super) before: Digest,
    pub(super) mark: Digest,
    pub(super) postings: u64,
    pub(super) keys: u64,
}

impl<'m> RunWriter<'m> {
    pub(super) fn create(medium: &'m dyn Medium, dir: &'m Path, plan: &Plan) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Two processes, or two threads, may write the same run at once: each has a file of its own.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = dir.join(cover::temporary_name(plan.span, std::process::id(), number));
        medium.create_dir_all(dir).map_err(LogError::io("create", dir))?;
        // A name left over from a process of the same number is cut off by the length check and page checksums if it
        // were longer, but it is simpler to begin with nothing.
        medium.remove(&temporary).map_err(LogError::io("remove", &temporary))?;
        let file = medium.open(&temporary, Open::CreateNew).map_err(LogError::io("create", &temporary))?;
        let file: Arc<dyn MediumFile> = Arc::from(file);
        let header = Header {
            first: plan.span.first,
            last: plan.span.last,
            before: plan.before,
            mark: plan.mark,
            postings: plan.postings,
            keys: plan.keys,
            buckets: run::buckets(plan.keys),
            key_pages: 0,
        };
        let pages = |first: u64| Pages::new(&file, &temporary, first);
        Ok(Self {
            offsets: Records::new(pages(header.offsets_page())),
            postings: Records::new(pages(header.postings_page())),
            keys: KeyPages { pages: pages(header.keys_page()), buckets: header.buckets, bucket: 0, postings: 0 },
            medium,
            dir,
            file,
            header,
            temporary,
            published: false,
        })
    }

    /// Adds the next row's offset.
    pub(super) fn offset(&mut self, offset: u64) -> Result<()> {
        self.offsets.push(run::encode_offset(offset))
    }

    /// Adds the next key, in order, with the number of its postings; [`RunWriter::posting`] adds these.
    pub(super) fn key(&mut self, key: u64, count: u32) -> Result<()> {
        self.keys.push(key, count)
    }

    /// Adds the next posting.
    pub(super) fn posting(&mut self, word: u64) -> Result<()> {
        self.postings.push(word.to_be_bytes())
    }

    /// Completes the file and gives it the run's name. With `durable`, it survives a loss of power from then on.
    pub(super) fn publish(mut self, durable: bool) -> Result<()> {
        self.offsets.finish()?;
        self.postings.finish()?;
        self.header.key_pages = self.keys.finish()?;
        let failed = |action| LogError::io(action, &self.temporary);
        self.file.write_all_at(&self.header.encode(), 0).map_err(failed("write"))?;
        if durable {
            self.file.sync().map_err(failed("sync"))?;
        }
        let span = Span { first: self.header.first, last: self.header.last };
        let path = self.dir.join(cover::run_name(span));
        self.medium.rename(&self.temporary, &path).map_err(LogError::io("rename", &path))?;
        self.published = true;
        if durable {
            self.medium.sync_dir(self.dir).map_err(LogError::io("sync", self.dir))?;
        }
        Ok(())
    }
}

impl Drop for RunWriter<'_> {
    fn drop(&mut self) {
        if !self.published {
            // The error that led here is the one to report; a file that stays is removed by the next merge.
            drop(self.medium.remove(&self.temporary));
        }
    }
}

/// Consecutive pages of a file, written in chunks.
#[derive(Debug)]
struct Pages {
    file: Arc<dyn MediumFile>,
    path: PathBuf,
    /// Number of the first page in `chunk`.
    first: u64,
    chunk: Vec<Page>,
    /// The page being filled.
    current: Page,
}

impl Pages {
    fn new(file: &Arc<dyn MediumFile>, path: &Path, first: u64) -> Self {
        Self { file: Arc::clone(file), path: path.to_owned(), first, chunk: Vec::new(), current: [0; PAGE] }
    }

    /// Closes the current page and begins the next.
    fn turn(&mut self) -> Result<()> {
        run::seal(&mut self.current, self.first + self.chunk.len() as u64);
        self.chunk.push(self.current);
        self.current = [0; PAGE];
        if self.chunk.len() == CHUNK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let bytes = self.chunk.as_flattened();
        self.file.write_all_at(bytes, self.first * PAGE as u64).map_err(LogError::io("write", &self.path))?;
        self.first += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }
}

/// A section of records of `N` bytes.
#[derive(Debug)]
struct Records<const N: usize> {
    pages: Pages,
    used: usize,
}

impl<const N: usize> Records<N> {
    const fn new(pages: Pages) -> Self {
        Self { pages, used: 0 }
    }

    fn push(&mut self, record: [u8; N]) -> Result<()> {
        if let Some(place) = self.pages.current.get_mut(self.used..).and_then(<[u8]>::first_chunk_mut::<N>) {
            *place = record;
        }
        self.used += N;
        if self.used + N > run::CONTENT {
            self.used = 0;
            self.pages.turn()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        if self.used > 0 {
            self.pages.turn()?;
        }
        self.pages.flush()
    }
}

/// The key pages: each key in the page of its bucket, or in the next that is not full.
#[derive(Debug)]
struct KeyPages {
    pages: Pages,
    buckets: u64,
    /// Number of the current page among the key pages.
    bucket: u64,
    /// Postings of all keys so far.
    postings: u32,
}

impl KeyPages {
    fn push(&mut self, key: u64, count: u32) -> Result<()> {
        let home = run::bucket(key, self.buckets);
        while self.bucket < home {
            self.turn()?;
        }
        let entry = Key { key, first: self.postings, count };
        if !run::push_key(&mut self.pages.current, entry) {
            self.turn()?;
            run::push_key(&mut self.pages.current, entry);
        }
        self.postings = self.postings.saturating_add(count);
        Ok(())
    }

    fn turn(&mut self) -> Result<()> {
        self.bucket += 1;
        self.pages.turn()
    }

    /// Writes what is left and returns the number of pages.
    fn finish(&mut self) -> Result<u64> {
        self.turn()?;
        while self.bucket < self.buckets {
            self.turn()?;
        }
        self.pages.flush()?;
        Ok(self.bucket)
    }
}
