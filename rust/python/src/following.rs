//! Rows as they come, looked into only as far as somebody asks.

use std::sync::Arc;

use cyberos_log::Digest;
use cyberos_log::history::{Cursor, Kept, Rows, Stretch};
use cyberos_log::json::Value;
use cyberos_log::row::Touch;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::errors::{BadArgument, CorruptLog};
use crate::history::PyDamage;
use crate::value::to_python;

/// What `Reader.follow` returns.
pub type Followed<'py> = (Bound<'py, PyList>, u64, String, bool, Vec<PyDamage>);

/// A row of the log. It keeps the payloads of those that were read with it.
#[pyclass(frozen, name = "Row", module = "cyberos._native")]
pub struct PyRow {
    rows: Arc<Rows>,
    place: usize,
}

impl PyRow {
    fn kept(&self) -> PyResult<Kept<'_>> {
        self.rows.get(self.place).ok_or_else(|| CorruptLog::new_err("the row is not there"))
    }
}

#[pymethods]
impl PyRow {
    /// Number of the row.
    #[getter]
    fn seq(&self) -> PyResult<u64> {
        Ok(self.kept()?.seq)
    }

    /// Nanoseconds since 1970, UTC.
    #[getter]
    fn ts_ns(&self) -> PyResult<u64> {
        Ok(self.kept()?.ts_ns)
    }

    /// What the row records.
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, &self.kept()?.row.op()))
    }

    /// Who wrote the row.
    #[getter]
    fn actor<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, &self.kept()?.row.actor()))
    }

    /// The path that the row is about; empty where there is none.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, &self.kept()?.row.path()))
    }

    /// SHA-256 of the memory's bytes in hexadecimal, where the row says it.
    #[getter]
    fn content_sha256<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        let sha256 = self.kept()?.row.content_sha256();
        Ok((!sha256.is_empty()).then(|| PyString::new(py, &sha256)))
    }

    /// The row's own hash in hexadecimal.
    #[getter]
    fn chain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, self.kept()?.row.chain()))
    }

    /// The hash of the row before in hexadecimal.
    #[getter]
    fn prev_chain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(py, self.kept()?.row.prev_chain()))
    }

    /// The row's `extra`, made anew at each access.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = Value::parse(self.kept()?.row.extra()).map_err(|error| CorruptLog::new_err(error.to_string()))?;
        to_python(py, &value)
    }

    /// The paths that the row touches, the one it is about first, and how: `write`, `move_from`, `move_to`, `delete` or
    /// `annotation`.
    fn touches<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyString>, &'py Bound<'py, PyString>)>> {
        let touches = self.kept()?.row.touches();
        Ok(touches.into_iter().map(|(path, touch)| (PyString::new(py, &path), name_of(py, touch))).collect())
    }

    fn __repr__(&self) -> PyResult<String> {
        let kept = self.kept()?;
        Ok(format!("Row(seq={}, kind={:?}, path={:?})", kept.seq, kept.row.op(), kept.row.path()))
    }
}

fn name_of(py: Python<'_>, touch: Touch) -> &Bound<'_, PyString> {
    match touch {
        Touch::Write => intern!(py, "write"),
        Touch::MoveFrom => intern!(py, "move_from"),
        Touch::MoveTo => intern!(py, "move_to"),
        Touch::Delete => intern!(py, "delete"),
        Touch::Annotation => intern!(py, "annotation"),
    }
}

/// Reads a cursor: the number and the chain of a row; 0 and an empty text before the first one.
pub fn cursor(seq: u64, chain: &str) -> PyResult<Cursor> {
    if seq == 0 && chain.is_empty() {
        return Ok(Cursor { seq, chain: Digest::ZERO });
    }
    let digest = Digest::from_hex(chain.as_bytes()).filter(|_| seq > 0);
    let malformed = || BadArgument::new_err(format!("not a place in a log: row {seq} with chain {chain:?}"));
    Ok(Cursor { seq, chain: digest.ok_or_else(malformed)? })
}

/// Returns what was read as Python objects.
pub fn followed(py: Python<'_>, stretch: Stretch, damage: Vec<PyDamage>) -> PyResult<Followed<'_>> {
    let Cursor { seq, chain } = stretch.cursor;
    let chain = if seq == 0 { String::new() } else { chain.to_hex() };
    let len = stretch.rows.len();
    Ok((list(py, stretch.rows, 0..len)?, seq, chain, stretch.over, damage))
}

/// Returns those rows that stand in these places, in that order.
pub fn list(py: Python<'_>, rows: Rows, places: impl Iterator<Item = usize>) -> PyResult<Bound<'_, PyList>> {
    let rows = Arc::new(rows);
    let row = |place| Bound::new(py, PyRow { rows: rows.clone(), place });
    PyList::new(py, places.map(row).collect::<PyResult<Vec<_>>>()?)
}
