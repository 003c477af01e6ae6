//! Rows of the log as Python mappings.

use std::ops::ControlFlow;

use cyberos_log::history::Chain;
use cyberos_log::json::Value;
use cyberos_log::log::{Damage, Event, Position};
use cyberos_log::row::Row;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::value::to_python;

/// A position is remembered for every so many rows.
const STRIDE: u64 = 4096;

/// A row, copied out of the log.
#[derive(Debug)]
pub struct OwnedRow {
    seq: u64,
    ts_ns: u64,
    kind: String,
    actor: String,
    path: String,
    content_sha256: String,
    chain: String,
    prev_chain: String,
    extra: Value,
}

/// Rows in order, and what could not be read between them.
#[derive(Debug, Default)]
pub struct Read {
    /// The rows.
    pub rows: Vec<OwnedRow>,
    /// Damage in the log.
    pub damages: Vec<Damage>,
}

/// Positions in a part of the log that no index covers, remembered as they are passed, so that reading it from its end to its
/// beginning in pieces does not begin at the beginning each time.
#[derive(Debug, Default)]
pub struct Marks(Vec<Position>);

impl Marks {
    /// Forgets all positions: the log is another one.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the place from which a scan comes to row `seq` soonest.
    pub fn nearest(&self, chain: &Chain, seq: u64) -> cyberos_log::Result<Position> {
        let indexed = chain.position_of(seq)?;
        let passed = self.0.partition_point(|mark| mark.seq <= seq).checked_sub(1).and_then(|at| self.0.get(at));
        Ok(passed.copied().filter(|mark| mark.seq > indexed.seq).unwrap_or(indexed))
    }

    /// Remembers where row `seq` begins, where that is due.
    pub fn pass(&mut self, chain: &Chain, seq: u64, offset: u64) {
        let due = self.0.last().is_none_or(|mark| seq >= mark.seq + STRIDE);
        if due
            && seq >= chain.floor().seq
            && let Some(place) = chain.log().segments().place_of(seq)
        {
            self.0.push(Position { place, offset, seq });
        }
    }
}

/// Reads rows `first..=last`, oldest first.
pub fn read(chain: &Chain, marks: &mut Marks, first: u64, last: u64) -> cyberos_log::Result<Read> {
    let mut read = Read::default();
    let from = marks.nearest(chain, first)?;
    chain.log().scan(from, |event| {
        match event {
            Event::Frame(_, frame) if frame.header.seq > last => return Ok(ControlFlow::Break(())),
            Event::Frame(segment, frame) => {
                let seq = frame.header.seq;
                marks.pass(chain, seq, frame.offset);
                if seq >= first {
                    match Row::parse(frame.payload).map_err(|error| error.to_string()).and_then(|row| owned(seq, &row))
                    {
                        Ok(row) => read.rows.push(row),
                        Err(what) => read.damages.push(Damage::unreadable(segment.label(), &frame, what)),
                    }
                }
                if seq == last {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Event::Damage(damage) => {
                let over = damage.next_seq.is_some_and(|next| next > last);
                if damage.next_seq.is_none_or(|next| next > first) && damage.expected_seq <= last {
                    read.damages.push(damage);
                }
                if over {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(read)
}

fn owned(seq: u64, row: &Row<'_>) -> Result<OwnedRow, String> {
    Ok(OwnedRow {
        seq,
        ts_ns: row.ts_ns(),
        kind: row.op().into_owned(),
        actor: row.actor().into_owned(),
        path: row.path().into_owned(),
        content_sha256: row.content_sha256().into_owned(),
        chain: row.chain().to_hex(),
        prev_chain: row.prev_chain().to_hex(),
        extra: Value::parse(row.extra()).map_err(|error| error.to_string())?,
    })
}

impl OwnedRow {
    /// Returns the row as a `dict`; `kind` and `op`, `payload` and `extra` are two names for the same object.
    ///
    /// `ts` is left to the Python side, which has the one way of writing times.
    pub fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kind = PyString::new(py, &self.kind);
        let extra = to_python(py, &self.extra)?;
        let dict = PyDict::new(py);
        dict.set_item(intern!(py, "seq"), self.seq)?;
        dict.set_item(intern!(py, "kind"), &kind)?;
        dict.set_item(intern!(py, "op"), &kind)?;
        dict.set_item(intern!(py, "path"), &self.path)?;
        dict.set_item(intern!(py, "actor"), &self.actor)?;
        dict.set_item(intern!(py, "payload"), &extra)?;
        dict.set_item(intern!(py, "extra"), &extra)?;
        dict.set_item(intern!(py, "ts_ns"), self.ts_ns)?;
        dict.set_item(intern!(py, "content_sha256"), &self.content_sha256)?;
        dict.set_item(intern!(py, "chain"), &self.chain)?;
        dict.set_item(intern!(py, "prev_chain"), &self.prev_chain)?;
        Ok(dict)
    }
}
