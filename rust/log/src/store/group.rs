//! One group: plan, flush bodies, append rows, acknowledge, and then everything that follows from the rows.

use std::collections::HashMap;

use super::plan::Plan;
use super::request::{DeleteMode, Op, Outcome, Prepared};
use super::view::coalesce;
use super::writer::{Core, Ticket};
use crate::error::{LogError, Result};
use crate::log::peaks::{Peaks, leaf};
use crate::log::verify::{Options as VerifyOptions, verify};
use crate::log::write_head;
use crate::row::Row;
use crate::segment::Frame;
use crate::tree;

/// Rows that may be missing from the path index.
pub(super) const UNINDEXED: u64 = 512;
/// Bodies that may be missing from the body index.
const UNINDEXED_BODIES: usize = 256;
/// Rows that the view's watermark may lag behind while writing, and at closing.
const VIEW_LAG: u64 = 1 << 14;
const VIEW_LAG_AT_CLOSE: u64 = 64;
/// The same while working files are put off.
const VIEW_LAG_PUT_OFF: u64 = 1 << 18;
/// Leaves that opening a writer adds to lagging peaks; more are left to a rebuild.
const PEAKS_LAG: u64 = 4096;
/// Paths remembered.
const MOST_CURRENT: usize = 100_000;

type Answers = HashMap<u64, Result<Vec<Outcome>>>;

impl Core {
    /// Carries out all tickets: one commit, but a purge has its own.
    pub(super) fn run(&mut self, tickets: Vec<Ticket>) -> Answers {
        let mut answers = Answers::new();
        let mut group = Vec::new();
        for ticket in tickets {
            if ticket.requests.iter().any(is_purge) {
                self.run_group(std::mem::take(&mut group), &mut answers);
                self.run_group(vec![ticket], &mut answers);
            } else {
                group.push(ticket);
            }
        }
        self.run_group(group, &mut answers);
        answers
    }

    fn run_group(&mut self, tickets: Vec<Ticket>, answers: &mut Answers) {
        if tickets.is_empty() {
            return;
        }
        let ids: Vec<u64> = tickets.iter().map(|ticket| ticket.id).collect();
        let mut planned: Vec<(u64, Vec<Outcome>)> = Vec::new();
        let mut plan = Plan::default();
        self.folders.clear();
        // Nothing that a purge erases may come back from files that are written later.
        let purge = tickets.iter().any(|ticket| ticket.requests.iter().any(is_purge));
        let caught_up = self.catch_up_with_others();
        if let Err(error) = caught_up.and_then(|()| if purge { self.write_put_off() } else { Ok(()) }) {
            answers.extend(ids.into_iter().map(|id| (id, Err(error.again()))));
            return;
        }
        for Ticket { id, requests } in tickets {
            match self.plan_all(&mut plan, requests) {
                Ok(outcomes) => planned.push((id, outcomes)),
                Err(error) => drop(answers.insert(id, Err(error))),
            }
        }
        if let Err(error) = self.commit() {
            self.bodies.discard();
            answers.extend(ids.into_iter().map(|id| (id, Err(error.again()))));
            return;
        }
        self.current.extend(plan.overlay);
        let (erased, warnings) = self.follow_up(plan.actions, &plan.erase);
        for (id, mut outcomes) in planned {
            for outcome in &mut outcomes {
                outcome.warnings.clone_from(&warnings);
                outcome.erased = erased;
            }
            answers.insert(id, Ok(outcomes));
        }
    }

    /// Plans one submission, all of it or nothing but the record of an attempt.
    fn plan_all(&mut self, plan: &mut Plan, requests: Vec<Prepared>) -> Result<Vec<Outcome>> {
        if requests.len() > 1 && requests.iter().any(is_purge) {
            // What it covers is read from the log, where the changes beside it are not yet.
            return Err(LogError::Invalid("a purge is done alone, not in a batch with other changes".into()));
        }
        let (mark, bodies) = (self.log.mark(), self.bodies.mark());
        let overlay = if requests.len() > 1 { Some(plan.overlay.clone()) } else { None };
        let actions = plan.actions.len();
        let mut outcomes = Vec::with_capacity(requests.len());
        for request in requests {
            match self.plan(plan, request) {
                Ok(outcome) => outcomes.push(outcome),
                Err(rejected) => {
                    if let Some(overlay) = overlay {
                        self.log.rewind(mark);
                        self.bodies.rewind(bodies);
                        plan.overlay = overlay;
                        plan.actions.truncate(actions);
                    }
                    if let Some(record) = rejected.record {
                        self.log.stage(&record)?;
                    }
                    return Err(rejected.error);
                }
            }
        }
        Ok(outcomes)
    }

    fn commit(&mut self) -> Result<()> {
        self.bodies.flush()?;
        let Self { log, peaks, .. } = self;
        let accounted_for = log.bodies();
        log.set_bodies(self.bodies.last());
        let committed = log.commit(&mut |frame: &Frame<'_>| {
            if let Some(peaks) = peaks.as_mut() {
                peaks.push(leaf(frame.payload));
            }
        });
        committed.inspect_err(|_| log.set_bodies(accounted_for))
    }

    /// Takes in what other processes wrote since.
    pub(super) fn catch_up_with_others(&mut self) -> Result<()> {
        let Self { log, peaks, current, view, .. } = self;
        log.refresh(&mut |frame: &Frame<'_>| {
            if let Some(peaks) = peaks.as_mut() {
                peaks.push(leaf(frame.payload));
            }
            if let Ok(row) = Row::parse(frame.payload) {
                for (path, _) in row.touches() {
                    current.remove(path.as_ref());
                }
            }
            view.doubtful = true;
            Ok(())
        })?;
        self.bodies.refresh()?;
        self.erase_returned()
    }

    /// Everything after the acknowledgement. What fails is done by a later writer.
    fn follow_up(&mut self, actions: Vec<super::view::Action>, erase: &[crate::Digest]) -> (u64, Vec<String>) {
        let mut warnings = Vec::new();
        let mut erased = 0;
        if self.puts_files_off && erase.is_empty() {
            self.put_off(actions);
        } else {
            let errors = self.apply_all(coalesce(actions)).into_iter();
            warnings.extend(errors.map(|error| format!("a working file is not up to date: {error}")));
        }
        if !erase.is_empty() && warnings.is_empty() {
            // The working file first, durably: once the bodies are gone nothing can tell its remains from somebody's work.
            match self.sync_dirty().and_then(|()| self.bodies.purge(erase)) {
                Ok(report) => erased = report.bodies,
                Err(error) => warnings.push(format!("stored versions are not erased yet: {error}")),
            }
        }
        self.view.doubtful |= !warnings.is_empty();
        if let Err(error) = self.write_head() {
            warnings.push(format!("HEAD and peaks are not up to date: {error}"));
        }
        if let Err(error) = self.maintain() {
            warnings.push(format!("an index is not up to date: {error}"));
        }
        if self.current.len() > MOST_CURRENT {
            self.current.clear();
        }
        (erased, warnings)
    }

    /// What upstream's readers look at: the number of the last row, and the Merkle peaks.
    fn write_head(&self) -> Result<()> {
        write_head(self.medium.as_ref(), &self.root, self.log.last_seq())?;
        self.peaks.as_ref().map_or(Ok(()), |peaks| peaks.write(self.medium.as_ref(), self.log.dir()))
    }

    /// Publishes index runs and moves the view's watermark where that is due; merges go on in the background.
    fn maintain(&mut self) -> Result<()> {
        let mut published = self.log.last_seq().saturating_sub(self.chain.floor().seq - 1) >= UNINDEXED;
        if published {
            self.chain.catch_up()?;
            tree::extend(&self.chain)?;
            self.chain.remember_segments()?;
        }
        published |= self.bodies.publish_index(UNINDEXED_BODIES)?;
        // Only a new run makes a merge due, and only then do the indexes show what the last merge did.
        if published && self.merging.as_ref().is_none_or(std::thread::JoinHandle::is_finished) {
            let due = [self.chain.index().merge_due(), self.bodies.merge_due()];
            let merges: Vec<_> = due.into_iter().flatten().collect();
            if !merges.is_empty() {
                // A merge that fails leaves its runs as they are; the next one tries again.
                self.merging = Some(std::thread::spawn(|| merges.into_iter().for_each(|merge| drop(merge.run()))));
            }
        }
        let most = if self.view.put_off.is_empty() { VIEW_LAG } else { VIEW_LAG_PUT_OFF };
        if self.log.last_seq() - self.log.view_seq() >= most {
            self.sync_view()?;
        }
        Ok(())
    }

    /// Prepares a writer that was just opened.
    pub(super) fn take_up(&mut self, peaks: Option<Peaks>) -> Result<()> {
        let last = self.log.last_seq();
        // Peaks that are missing or torn are those of an empty tree: in a small log they are made anew here too.
        let peaks = peaks.filter(|peaks| peaks.leaves() <= last).unwrap_or_default();
        self.peaks = Some(peaks).filter(|peaks| last - peaks.leaves() <= PEAKS_LAG);
        if let Some(peaks) = &mut self.peaks {
            let from = peaks.leaves() + 1;
            if from <= last {
                self.chain.log().scan(self.chain.position_of(from)?, |event| {
                    if let crate::log::Event::Frame(_, frame) = event
                        && frame.header.seq == peaks.leaves() + 1
                        && frame.header.seq <= last
                    {
                        peaks.push(leaf(frame.payload));
                    }
                    Ok(std::ops::ControlFlow::Continue(()))
                })?;
            }
        }
        if self.log.view_seq() < last {
            self.roll_forward()?;
        }
        self.erase_returned()
    }

    /// Leaves the store so that the next process finds little to do.
    pub(super) fn wind_up(&mut self) -> Result<()> {
        if let Some(merging) = self.merging.take() {
            // A panic there is a failed merge, no more.
            drop(merging.join());
        }
        self.write_put_off()?;
        self.maintain()?;
        if let Some(merging) = self.merging.take() {
            drop(merging.join());
        }
        self.chain.merge_index()?;
        while self.bodies.merge_index()? {}
        let _whether_it_could_be_written = self.chain.remember_segments();
        if self.log.last_seq() - self.log.view_seq() >= VIEW_LAG_AT_CLOSE {
            self.sync_view()?;
            self.log.publish_view()?;
        }
        Ok(())
    }

    /// Recomputes everything derived from the log.
    pub(super) fn rebuild(&mut self) -> Result<()> {
        self.chain.refresh()?;
        self.chain.drop_index()?;
        self.chain.catch_up()?;
        self.chain.merge_index()?;
        self.chain.remember_segments()?;
        tree::rebuild(&self.chain)?;
        let verified = verify(self.chain.log(), VerifyOptions::default(), &|_| true)?;
        self.peaks = verified.peaks.filter(|peaks| peaks.leaves() == self.log.last_seq());
        self.write_head()
    }
}

fn is_purge(prepared: &Prepared) -> bool {
    matches!(prepared.request.op, Op::Delete { mode: DeleteMode::Purge, .. })
}
