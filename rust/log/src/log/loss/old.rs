//! Reading a damaged log: how far it is good, and what behind that is whole in itself.

use std::ops::ControlFlow;

use super::LossPlan;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::log::beside::missing_rows;
use crate::log::recovery::{check_link, check_tip};
use crate::log::{Event, LogReader};
use crate::row::{Row, RowDraft};
use crate::segment::Frame;

/// Where the good part of a log ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Good {
    /// Place of the segment that holds the last good row; `None` where no row is good.
    pub place: Option<usize>,
    /// Where that row ends in it.
    pub offset: u64,
    pub seq: u64,
    pub chain: Digest,
}

/// A damaged log.
#[derive(Debug)]
pub(super) struct Old {
    pub good: Good,
    pub plan: LossPlan,
}

/// Reads a log, calling `whole` with each row behind the good part that is whole in itself. `None` where nothing is wrong.
pub(super) fn read_old(log: &LogReader, whole: &mut dyn FnMut(&Whole<'_>) -> Result<()>) -> Result<Option<Old>> {
    let mut reading = Reading::default();
    log.scan(log.start(), |event| {
        match event {
            Event::Frame(segment, frame) => {
                let place = log.segments().list().iter().position(|other| other.name == segment.name);
                reading.frame(place, &segment.label(), &frame, whole)?;
            }
            Event::Damage(damage) if damage.torn_tail && reading.broken.is_none() => {}
            Event::Damage(damage) => {
                reading.reach = reading.reach.max(damage.expected_seq);
                reading.breaks(&damage.error());
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if let Some(unreadable) = log.segments().unreadable().first() {
        reading.breaks(&LogError::corrupt(&unreadable.file, 0, None, &unreadable.what));
    }
    if let Some(error) = log.gone()? {
        reading.breaks(&error);
    }
    if let Some(tip) = log.tip() {
        reading.reach = reading.reach.max(if reading.broken.is_some() { tip.seq } else { 0 });
        if reading.broken.is_none()
            && let Err(error) = check_tip(log, &tip)
        {
            reading.reach = tip.seq;
            reading.breaks(&error);
        }
    }
    if let Some(known) = missing_rows(log, reading.last.max(reading.reach).max(reading.good.seq))? {
        reading.breaks(&known.error(reading.good.seq));
        reading.reach = reading.reach.max(known.seq);
    }
    Ok(reading.finish())
}

/// A row behind the good part.
#[derive(Debug)]
pub(super) struct Whole<'a> {
    pub seq: u64,
    pub row: Row<'a>,
}

#[derive(Debug, Default)]
struct Reading {
    good: Good,
    broken: Option<(String, u64, String)>,
    /// The last row seen behind the good part.
    last: u64,
    whole: u64,
    lost: Vec<(u64, u64)>,
    /// A row that is known to have been there.
    reach: u64,
}

impl Reading {
    fn frame(
        &mut self,
        place: Option<usize>,
        file: &str,
        frame: &Frame<'_>,
        whole: &mut dyn FnMut(&Whole<'_>) -> Result<()>,
    ) -> Result<()> {
        let seq = frame.header.seq;
        if self.broken.is_none() {
            let linked = if seq == self.good.seq + 1 {
                check_link(file, frame, &self.good.chain)
            } else {
                let what = format!("row {} is missing", self.good.seq + 1);
                Err(LogError::corrupt(file, frame.offset, Some(seq), what))
            };
            match linked {
                Ok(chain) => {
                    self.good = Good { place, offset: frame.end(), seq, chain };
                    return Ok(());
                }
                Err(error) => self.breaks(&error),
            }
        }
        // A number that was seen before is a copy's, and one behind a gap says how much is gone.
        let Some(row) = whole_row(frame).filter(|_| seq > self.last.max(self.good.seq)) else {
            self.reach = self.reach.max(seq);
            return Ok(());
        };
        self.gap(seq - 1);
        self.last = seq;
        self.whole += 1;
        whole(&Whole { seq, row })
    }

    fn breaks(&mut self, error: &LogError) {
        if self.broken.is_none() {
            self.broken = Some(match error {
                LogError::Corrupt { file, offset, what, .. } => (file.clone(), *offset, what.clone()),
                other => (String::from("audit"), 0, other.to_string()),
            });
        }
    }

    /// Notes that rows up to `to` are lost.
    fn gap(&mut self, to: u64) {
        let from = self.last.max(self.good.seq) + 1;
        if from <= to {
            self.lost.push((from, to));
        }
    }

    fn finish(mut self) -> Option<Old> {
        let (file, offset, what) = self.broken.take()?;
        self.gap(self.reach);
        let to_seq = self.last.max(self.reach).max(self.good.seq);
        let from_seq = self.good.seq + 1;
        let plan = LossPlan { from_seq, to_seq, whole: self.whole, lost: self.lost, what, place: (file, offset) };
        Some(Old { good: self.good, plan })
    }
}

/// The row in a frame, if it is whole in itself and can be written again.
fn whole_row<'a>(frame: &Frame<'a>) -> Option<Row<'a>> {
    let row = Row::parse(frame.payload).ok()?;
    (row.ts_ns() == frame.header.ts_ns && row.chain_is_right() && again(&row, frame.header.seq, "", 0).is_some())
        .then_some(row)
}

/// The row as it is recorded anew, by `actor` at `ts_ns`; `None` where it holds what this program does not write.
pub(super) fn again(row: &Row<'_>, seq: u64, actor: &str, ts_ns: u64) -> Option<RowDraft> {
    use crate::json::Value;

    let mut extra = Value::parse(row.extra()).ok()?.as_object()?.clone();
    // What was recorded anew before keeps what it said first.
    if !extra.contains_key("recovered_from_seq") {
        extra.insert("recovered_from_seq".into(), Value::Int(seq.into()));
        extra.insert("recovered_actor".into(), Value::Str(row.actor().into_owned()));
        extra.insert("recovered_ts_ns".into(), Value::Int(row.ts_ns().into()));
    }
    let draft = RowDraft {
        op: row.op().into_owned(),
        path: row.path().into_owned(),
        actor: actor.into(),
        content_sha256: row.content_sha256().into_owned(),
        extra,
        ts_ns,
    };
    draft.seal(&Digest::ZERO).is_ok().then_some(draft)
}
