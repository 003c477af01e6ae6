//! Histories, versions and damage as Python objects.

use cyberos_log::history::{At, Entry, Filter, Older, Session, Version, Walked};
use cyberos_log::json::Value;
use cyberos_log::log::{Damage, LogReader, TIP};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::{BadArgument, CorruptLog};
use crate::value::to_python;

/// One row of a memory's history.
#[pyclass(frozen, name = "Entry", module = "cyberos._native")]
#[derive(Debug)]
pub struct PyEntry(Entry);

#[pymethods]
impl PyEntry {
    /// Number of the row.
    #[getter]
    fn seq(&self) -> u64 {
        self.0.seq
    }

    /// Nanoseconds since 1970, UTC.
    #[getter]
    fn ts_ns(&self) -> u64 {
        self.0.ts_ns
    }

    /// What the row records.
    #[getter]
    fn kind(&self) -> &str {
        &self.0.kind
    }

    /// Who wrote the row.
    #[getter]
    fn actor(&self) -> &str {
        &self.0.actor
    }

    /// The row's own path.
    #[getter]
    fn path(&self) -> &str {
        &self.0.path
    }

    /// The memory's name that the row was found under.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// SHA-256 of the memory's bytes in hexadecimal, where the row says it.
    #[getter]
    fn content_sha256(&self) -> Option<&str> {
        self.0.content_sha256.as_deref()
    }

    /// Whether the row gives the memory new content.
    #[getter]
    fn writes(&self) -> bool {
        self.0.older != Older::NoContent
    }

    /// SHA-256 and path of the version before a row that writes; `None` where there was none.
    #[getter]
    fn older(&self) -> Option<(&str, &str)> {
        match &self.0.older {
            Older::Version { content_sha256, path } => Some((content_sha256, path)),
            Older::First | Older::NoContent => None,
        }
    }

    /// The row's `extra`, made anew at each access.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = Value::parse(&self.0.extra).map_err(|error| CorruptLog::new_err(error.to_string()))?;
        to_python(py, &value)
    }
}

/// A version of a memory.
#[pyclass(frozen, get_all, name = "Version", module = "cyberos._native")]
#[derive(Debug)]
pub struct PyVersion {
    /// The row that wrote it, or that moved it to its name.
    seq: u64,
    /// When, in nanoseconds since 1970, UTC.
    ts_ns: u64,
    /// Its name then.
    path: String,
    /// SHA-256 of its bytes in hexadecimal; empty where no row says.
    content_sha256: String,
}

impl From<Version> for PyVersion {
    fn from(Version { seq, ts_ns, path, content_sha256 }: Version) -> Self {
        Self { seq, ts_ns, path, content_sha256 }
    }
}

/// A part of the log that cannot be read.
#[pyclass(frozen, get_all, name = "Damage", module = "cyberos._native")]
#[derive(Debug)]
pub struct PyDamage {
    /// File, relative to the store.
    file: String,
    /// Where it begins.
    offset: u64,
    /// The first row that is missing.
    seq: u64,
    /// The next row that is there.
    next_seq: Option<u64>,
    /// What is wrong, in one clause.
    what: String,
}

impl From<Damage> for PyDamage {
    fn from(damage: Damage) -> Self {
        let Damage { file, offset, expected_seq, next_seq, what, .. } = damage;
        Self { file, offset, seq: expected_seq, next_seq, what }
    }
}

/// Returns the fields of a session in their order; its end and its purge are tuples as well.
pub fn session_to_python(py: Python<'_>, session: Session) -> PyResult<Bound<'_, PyTuple>> {
    let ended =
        session.ended.map(|end| (end.seq, end.ended_at, end.reason, end.turns_count, end.binlog_hash, end.chain_tip));
    let purged = session.purged.map(|purge| (purge.seq, purge.purged_at, purge.reason, purge.turns_count));
    let fields = [
        session.id.into_bound_py_any(py)?,
        session.seq.into_bound_py_any(py)?,
        session.started_at.into_bound_py_any(py)?,
        session.started_ns.into_bound_py_any(py)?,
        session.classification.into_bound_py_any(py)?,
        session.retention_days.into_bound_py_any(py)?,
        session.actor.into_bound_py_any(py)?,
        session.path.into_bound_py_any(py)?,
        session.correlates_with.into_bound_py_any(py)?,
        session.recorded.into_bound_py_any(py)?,
        session.encrypted.into_bound_py_any(py)?,
        ended.into_bound_py_any(py)?,
        purged.into_bound_py_any(py)?,
    ];
    PyTuple::new(py, fields)
}

/// Returns what a reader of the log should be told about it. A torn tail was never acknowledged and is no damage.
pub fn damages(log: &LogReader, met: Vec<Damage>) -> Vec<PyDamage> {
    let mut damages: Vec<_> = met.into_iter().filter(|damage| !damage.torn_tail).map(PyDamage::from).collect();
    let seq = log.last_seq() + 1;
    let mut more =
        |file: &str, what| damages.push(PyDamage { file: file.into(), offset: 0, seq, next_seq: None, what });
    if let Some(fault) = log.tip_state().fault() {
        more(TIP, fault.to_owned());
    }
    if let Some(file) = log.short() {
        more(file, format!("row {seq} and later ones were acknowledged and are missing"));
    }
    damages
}

/// Returns the entries and the damage of a walk.
pub fn walked(log: &LogReader, walked: Walked) -> (Vec<PyEntry>, Vec<PyDamage>) {
    (walked.entries.into_iter().map(PyEntry).collect(), damages(log, walked.damages))
}

/// A moment: a row's number, a time, or now.
pub fn at(seq: Option<u64>, ts_ns: Option<u64>) -> At {
    seq.map(At::Seq).or(ts_ns.map(At::Time)).unwrap_or(At::Now)
}

/// Reads `(key, value)` conditions.
pub fn filters(conditions: Vec<(String, String)>) -> PyResult<Vec<Filter>> {
    let read = |(key, value): (String, String)| match key.as_str() {
        "actor" => Ok(Filter::Actor(value)),
        "kind" => Ok(Filter::Kind(value)),
        "session_id" | "dream_id" => Ok(Filter::Extra(key, value)),
        _ => Err(BadArgument::new_err(format!("there is no filter {key:?}"))),
    };
    conditions.into_iter().map(read).collect()
}
