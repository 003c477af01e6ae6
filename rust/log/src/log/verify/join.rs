//! Putting the checked parts in order: what joins one to the next.

use std::collections::BTreeMap;

use super::super::{beside, recovery, tip};
use super::{Checked, Damage, Finding, LogReader, Options, Part, Peaks, Report};
use crate::error::{LogError, Result};
use crate::hash::Digest;

/// Puts the parts in order and checks what joins them.
pub(super) struct Joiner<'l> {
    log: &'l LogReader,
    most: usize,
    /// Parts that came before the one that is next.
    waiting: BTreeMap<u64, Part>,
    next_order: u64,
    next_seq: u64,
    previous: Option<Digest>,
    peaks: Option<Peaks>,
    report: Report,
    /// Whether the log has ended with a torn tail: what is behind it was never acknowledged.
    ended: bool,
}

impl<'l> Joiner<'l> {
    pub(super) fn new(log: &'l LogReader, options: Options) -> Self {
        let report = Report {
            rows: 0,
            bytes: 0,
            segments: log.segments().list().len(),
            last: None,
            peaks: None,
            torn_tail: None,
            findings: Vec::new(),
            truncated: false,
        };
        let peaks = options.with_peaks.then(Peaks::default);
        Self {
            log,
            most: options.most_findings,
            waiting: BTreeMap::new(),
            next_order: 1,
            next_seq: 1,
            previous: Some(Digest::ZERO),
            peaks,
            report,
            ended: false,
        }
    }

    pub(super) fn add(&mut self, order: u64, part: Part) {
        self.waiting.insert(order, part);
        while let Some(part) = self.waiting.remove(&self.next_order) {
            self.next_order += 1;
            match part {
                _ if self.ended => {}
                Part::Rows(checked) => self.rows(checked),
                Part::Damage(damage) => self.damage(damage),
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Report> {
        self.check_segments()?;
        self.check_end()?;
        self.check_tip();
        self.report.peaks = self.peaks;
        Ok(self.report)
    }

    fn find(&mut self, finding: Finding) {
        if self.report.findings.len() < self.most {
            self.report.findings.push(finding);
        } else {
            self.report.truncated = true;
        }
    }

    fn rows(&mut self, checked: Checked) {
        let Checked {
            rows,
            bytes,
            first_seq: seq,
            frames,
            file,
            offset,
            prev_chain,
            last,
            subtrees,
            findings,
            torn_tail,
        } = checked;
        if seq != self.next_seq {
            let what = format!("row {} should follow here", self.next_seq);
            self.find(Finding { check: "order", file: file.clone(), offset, seq, what });
            self.previous = None;
            self.peaks = None;
        }
        if self.previous.zip(prev_chain).is_some_and(|(previous, stated)| previous != stated) {
            let what = "prev_chain is not the chain of the row before".into();
            self.find(Finding { check: "link", file, offset, seq, what });
        }
        if findings.iter().any(|finding| finding.check == "frame") {
            self.peaks = None;
        }
        for finding in findings {
            self.find(finding);
        }
        self.report.rows += rows;
        self.report.bytes += bytes;
        self.previous = last.map(|(_, chain)| chain);
        self.next_seq = seq + frames;
        self.report.last = last.or(self.report.last);
        if let Some(peaks) = &mut self.peaks {
            for (height, root) in subtrees {
                peaks.push_subtree(height, root);
            }
        }
        if let Some(damage) = torn_tail {
            self.damage(*damage);
        }
    }

    fn damage(&mut self, damage: Damage) {
        if damage.torn_tail {
            self.report.torn_tail = Some(damage);
            self.ended = true;
            return;
        }
        self.peaks = None;
        self.previous = None;
        self.next_seq = damage.next_seq.unwrap_or(damage.expected_seq);
        let Damage { file, offset, expected_seq: seq, what, .. } = damage;
        self.find(Finding { check: "frame", file, offset, seq, what });
    }

    fn check_segments(&mut self) -> Result<()> {
        let segments = self.log.segments();
        for unreadable in segments.unreadable() {
            let (file, what) = (unreadable.file.clone(), unreadable.what.clone());
            self.find(Finding { check: "segment", file, offset: 0, seq: 0, what });
            self.peaks = None;
        }
        for segment in segments.list() {
            if let Some(what) = segment.fault()? {
                let (file, offset, seq) = (segment.label(), segment.len()?, segment.first_seq);
                self.find(Finding { check: "segment", file, offset, seq, what: what.into() });
            }
        }
        Ok(())
    }

    /// Looks for what says that the log had more rows. A damaged row may be all there is to that.
    fn check_end(&mut self) -> Result<()> {
        let mut missing = self.log.gone()?;
        let last = self.report.last.map_or(0, |(seq, _)| seq);
        if self.report.findings.is_empty() && missing.is_none() && !self.is_short_of_tip() {
            missing = beside::missing_rows(self.log, last)?.map(|known| known.error(last));
        }
        if let Some(LogError::Corrupt { file, offset, what, .. }) = missing {
            self.peaks = None;
            self.find(Finding { check: "missing", file, offset, seq: last + 1, what });
        }
        Ok(())
    }

    fn is_short_of_tip(&self) -> bool {
        self.log.tip().is_some() && self.log.short().is_some()
    }

    fn check_tip(&mut self) {
        let state = self.log.tip_state();
        let (seq, what) = match (state.fault(), state.valid()) {
            (Some(fault), _) => (0, fault.to_owned()),
            (None, None) => return,
            (None, Some(tip)) => match recovery::check_tip(self.log, &tip) {
                Ok(_) => return,
                Err(error) => (tip.seq, error.to_string()),
            },
        };
        self.find(Finding { check: "tip", file: tip::FILE.into(), offset: 0, seq, what });
    }
}
