//! The runs of one folder, read as one index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::build::RunBuilder;
use super::cache::PageCache;
use super::cover::{self, Candidate, Span};
use super::merge::{Merge, Merged};
use super::run::{NotOpened, Run};
use super::{Posting, Unusable};
use crate::error::{LogError, Result};
use crate::format::run::{Key, PAGE};
use crate::hash::Digest;
use crate::medium::SharedMedium;

/// How often a folder is listed again because a run had vanished before it was opened.
const LISTINGS: usize = 16;

/// The opened cover of one folder: what is known of rows `1..=last()`.
///
/// It goes on answering from the files it holds, whatever happens to the folder. Reading needs no lock; [`IndexSet::add`],
/// [`IndexSet::remove_after`] and [`IndexSet::discard`] are for whoever holds the store's.
#[derive(Debug)]
pub struct IndexSet {
    medium: SharedMedium,
    dir: PathBuf,
    /// Oldest first.
    runs: Vec<Arc<Run>>,
    /// What the folder listed when it was read, sorted.
    names: Vec<String>,
    cache: PageCache,
}

impl IndexSet {
    /// Opens the index in folder `dir`, which need not exist. A run that cannot be used ends what is covered; a folder that
    /// cannot be listed covers nothing.
    pub fn open(medium: SharedMedium, dir: PathBuf) -> Result<Self> {
        let mut set = Self { medium, dir, runs: Vec::new(), names: Vec::new(), cache: PageCache::new() };
        set.load(set.listed());
        Ok(set)
    }

    /// Looks at the folder again; returns whether it had changed.
    pub fn refresh(&mut self) -> Result<bool> {
        let names = self.listed();
        let changed = names != self.names || self.is_damaged();
        if changed {
            self.load(names);
        }
        Ok(changed)
    }

    /// Whether a page that was read of a run was not as it was written.
    pub fn is_damaged(&self) -> bool {
        self.runs.iter().any(|run| run.is_damaged())
    }

    /// What the folder lists: nothing where it cannot be listed, since an index never makes a reader fail.
    fn listed(&self) -> Vec<String> {
        list(&self.medium, &self.dir).unwrap_or_default()
    }

    fn load(&mut self, mut names: Vec<String>) {
        for _ in 0..LISTINGS {
            let Some(runs) = self.open_runs(&names) else {
                names = self.listed();
                continue;
            };
            let candidates: Vec<Candidate> = runs.iter().map(|run| candidate(run)).collect();
            self.runs = cover::choose(&candidates).iter().filter_map(|at| runs.get(*at).cloned()).collect();
            self.names = names;
            return;
        }
        // Merges that outrun sixteen listings: no index, for now.
        self.runs.clear();
        self.names.clear();
    }

    /// Opens every run that can be used; `None` where one has vanished since the folder was listed.
    fn open_runs(&self, names: &[String]) -> Option<Vec<Arc<Run>>> {
        let mut runs = Vec::new();
        for name in names {
            let Some(span) = cover::parse_run_name(name) else { continue };
            let held = self.runs.iter().find(|run| candidate(run).span == span && !run.is_damaged());
            match held.map_or_else(|| self.open_run(name, span), |run| Ok(Arc::clone(run))) {
                Ok(run) => runs.push(run),
                Err(NotOpened::Unusable) => {}
                Err(NotOpened::Vanished) => return None,
            }
        }
        Some(runs)
    }

    fn open_run(&self, name: &str, span: Span) -> Result<Arc<Run>, NotOpened> {
        Run::open(&*self.medium, self.dir.join(name), span.first, span.last).map(Arc::new)
    }

    /// Returns the last row covered; 0 where there is none.
    pub fn last(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.header().last)
    }

    /// Returns the mark of the last row covered. The caller compares it with its log: another mark is another log's index.
    pub fn mark(&self) -> Option<Digest> {
        self.runs.last().map(|run| run.header().mark)
    }

    /// Returns the rows at which runs end, newest first, each with its mark.
    pub fn boundaries(&self) -> impl Iterator<Item = (u64, Digest)> {
        self.runs.iter().rev().map(|run| (run.header().last, run.header().mark))
    }

    /// Returns the names of runs that are in the folder and of no use: unreadable, or of rows that these do not continue.
    pub fn unusable(&self) -> impl Iterator<Item = &str> {
        let cover: Vec<Span> = self.runs.iter().map(|run| candidate(run).span).collect();
        let of_use = move |name: &str| match cover::parse_run_name(name) {
            Some(span) => cover.contains(&span) || cover::is_leftover(name, &cover),
            None => true,
        };
        self.names.iter().map(String::as_str).filter(move |name| !of_use(name))
    }

    /// Returns the number of runs.
    pub const fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Returns the offset of a row's frame; `None` where the row is not covered.
    pub fn offset(&self, seq: u64) -> Result<Option<u64>, Unusable> {
        let at = self.runs.partition_point(|run| run.header().last < seq);
        match self.runs.get(at) {
            Some(run) if seq > 0 => run.offset(&self.cache, seq).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the rows before `below` that carry a key, newest first. Pages are read only as the iterator is driven.
    pub const fn postings(&self, key: u64, below: u64) -> Postings<'_> {
        Postings { set: self, key, below, runs: self.runs.len(), current: None }
    }

    /// Returns the number of rows (and classes) that carry a key.
    pub fn count(&self, key: u64) -> Result<u64, Unusable> {
        self.runs
            .iter()
            .try_fold(0, |sum, run| Ok(sum + run.find(&self.cache, key)?.map_or(0, |found| u64::from(found.count))))
    }

    /// Begins a run of the rows that follow those covered.
    pub fn builder(&self) -> RunBuilder {
        RunBuilder::new(self.last() + 1, self.mark().unwrap_or(Digest::ZERO))
    }

    /// Publishes a run that continues what is covered. `mark` is the mark of its last row. Merges nothing: see
    /// [`IndexSet::merge_due`].
    ///
    /// Where another process has added these rows meanwhile, nothing is left to do.
    pub fn add(&mut self, run: RunBuilder, mark: Digest) -> Result<()> {
        self.refresh()?;
        if run.is_empty() || run.last() <= self.last() {
            return Ok(());
        }
        let before = run.first().saturating_sub(1);
        let known = if before == 0 { Some(Digest::ZERO) } else { self.mark_at(before) };
        if known != Some(run.before()) {
            return Err(LogError::Invalid(format!(
                "rows from {} do not continue the index, which covers {} rows",
                run.first(),
                self.last()
            )));
        }
        run.finish(&*self.medium, &self.dir, mark)?;
        // Not a refresh: the run may have replaced one of that name, and then the folder lists what it did.
        self.load(self.listed());
        Ok(())
    }

    fn mark_at(&self, seq: u64) -> Option<Digest> {
        self.boundaries().find_map(|(last, mark)| (last == seq).then_some(mark))
    }

    /// Returns the merge that is due, to be run here or on another thread; [`IndexSet::refresh`] shows its result.
    pub fn merge_due(&self) -> Option<Merge> {
        Merge::due(&self.medium, &self.dir, &self.runs)
    }

    /// Does one merge that is due; returns whether there was one.
    pub fn merge_step(&mut self) -> Result<bool> {
        // Another thread or process may have done it meanwhile.
        self.refresh()?;
        let Some(merge) = self.merge_due() else { return Ok(false) };
        if let Merged::Damaged(unusable) = merge.run()? {
            self.discard(&unusable)?;
        }
        self.refresh()?;
        Ok(true)
    }

    /// Removes a run that cannot be used, so that its rows can be indexed anew.
    ///
    /// Not, however, where it can be used now: the fault has passed, or another process has already replaced the run.
    pub fn discard(&mut self, unusable: &Unusable) -> Result<()> {
        if unusable.nonsense || !self.is_sound(unusable) {
            self.medium.remove(&unusable.path).map_err(LogError::io("remove", &unusable.path))?;
        }
        self.load(self.listed());
        Ok(())
    }

    /// Whether the page in question is sound by now.
    fn is_sound(&self, unusable: &Unusable) -> bool {
        let name = unusable.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        cover::parse_run_name(name)
            .and_then(|span| self.open_run(name, span).ok())
            .is_some_and(|run| run.read(unusable.page, &mut [0; PAGE]).is_ok())
    }

    /// Leaves the runs that go beyond row `last` out of this view, until [`IndexSet::refresh`] finds changes. The folder stays
    /// as it is: a writer uses [`IndexSet::remove_after`].
    pub fn forget_after(&mut self, last: u64) {
        self.runs.retain(|run| run.header().last <= last);
    }

    /// Removes the runs that go beyond row `last`: those of a log that went on otherwise.
    pub fn remove_after(&mut self, last: u64) -> Result<()> {
        for name in list(&self.medium, &self.dir)? {
            if cover::parse_run_name(&name).is_some_and(|span| span.last > last) {
                let path = self.dir.join(name);
                self.medium.remove(&path).map_err(LogError::io("remove", &path))?;
            }
        }
        self.refresh().map(drop)
    }

    /// Removes what the cover makes superfluous: merged runs, and files of writers that did not finish.
    pub(super) fn remove_leftovers(&self) -> Result<()> {
        let spans: Vec<Span> = self.runs.iter().map(|run| candidate(run).span).collect();
        for name in self.names.iter().filter(|name| cover::is_leftover(name, &spans)) {
            let path = self.dir.join(name);
            self.medium.remove(&path).map_err(LogError::io("remove", &path))?;
        }
        Ok(())
    }
}

fn list(medium: &SharedMedium, dir: &Path) -> Result<Vec<String>> {
    let mut names = medium.list(dir).map_err(LogError::io("list", dir))?;
    names.sort_unstable();
    Ok(names)
}

fn candidate(run: &Run) -> Candidate {
    let header = run.header();
    Candidate { span: Span { first: header.first, last: header.last }, before: header.before, mark: header.mark }
}

/// The rows that carry a key, newest first. Ends after the first error.
#[derive(Debug)]
pub struct Postings<'a> {
    set: &'a IndexSet,
    key: u64,
    below: u64,
    /// The runs that have not been looked at: the first so many.
    runs: usize,
    /// The run being read, the key in it, and how many of its postings are left.
    current: Option<(&'a Run, Key, u32)>,
}

impl Postings<'_> {
    fn advance(&mut self) -> Result<Option<Posting>, Unusable> {
        loop {
            if let Some((run, key, left)) = &mut self.current {
                if let Some(rest) = left.checked_sub(1) {
                    *left = rest;
                    let word = run.posting(&self.set.cache, u64::from(key.first) + u64::from(rest))?;
                    return Ok(Some(Posting::decode(word)));
                }
                self.current = None;
            }
            let Some(at) = self.runs.checked_sub(1) else { return Ok(None) };
            self.runs = at;
            let Some(run) = self.set.runs.get(at).filter(|run| run.header().first < self.below) else { continue };
            if let Some(key) = run.find(&self.set.cache, self.key)? {
                let left = run.count_below(&self.set.cache, &key, self.below)?;
                self.current = Some((run, key, left));
            }
        }
    }
}

impl Iterator for Postings<'_> {
    type Item = Result<Posting, Unusable>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.advance();
        if step.is_err() {
            self.runs = 0;
            self.current = None;
        }
        step.transpose()
    }
}

impl std::iter::FusedIterator for Postings<'_> {}
