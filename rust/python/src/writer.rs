//! The store's writer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cyberos_log::Digest;
use cyberos_log::log::SegmentPolicy;
use cyberos_log::medium::Os;
use cyberos_log::store::{self, DeleteMode, Expected, Lock, Op, Options, Outcome, Request};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors::{BadArgument, Result};
use crate::value::object_from_python;

/// A store, open for writing. Any number of threads may share one; other processes may write to the same store.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Writer(store::Writer);

/// What became of one request.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Receipt(Outcome);

#[pymethods]
impl Receipt {
    /// The row that records it; `None` where there was nothing to change, or what was to be purged is purged already.
    #[getter]
    fn seq(&self) -> Option<u64> {
        self.0.seq
    }

    /// That row's chain value, in hexadecimal.
    #[getter]
    fn chain(&self) -> Option<String> {
        self.0.chain.map(Digest::to_hex)
    }

    /// SHA-256 of the memory's content after it (for a deletion: before it), in hexadecimal.
    #[getter]
    fn content_sha256(&self) -> Option<String> {
        self.0.content_sha256.map(Digest::to_hex)
    }

    /// The row that recorded an edit made by hand before this request.
    #[getter]
    fn adopted(&self) -> Option<u64> {
        self.0.adopted
    }

    /// Stored copies of versions that a purge erased.
    #[getter]
    fn erased(&self) -> u64 {
        self.0.erased
    }

    /// What is not done yet though the row is acknowledged.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }

    fn __repr__(&self) -> String {
        let show = |value: &Option<u64>| value.map_or("None".to_owned(), |value| value.to_string());
        let Outcome { seq, adopted, erased, .. } = &self.0;
        format!("Receipt(seq={}, adopted={}, erased={erased})", show(seq), show(adopted))
    }
}

#[pymethods]
impl Writer {
    /// Opens the store at `root` after recovery; `actor` is who writes, of which others who wait are told. With
    /// `puts_files_off` working files are written only by `write_files` and `close`, once each.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
    #[pyo3(signature = (root, *, patience = 10.0, actor = "", max_segment_bytes = None, puts_files_off = false))]
    fn new(
        py: Python<'_>,
        root: PathBuf,
        patience: f64,
        actor: &str,
        max_segment_bytes: Option<u64>,
        puts_files_off: bool,
    ) -> Result<Self> {
        let patience =
            Duration::try_from_secs_f64(patience).map_err(|error| BadArgument::new_err(error.to_string()))?;
        let segments = max_segment_bytes.map_or_else(SegmentPolicy::default, |max_bytes| SegmentPolicy { max_bytes });
        let options = Options { segments, patience, actor: actor.to_owned(), puts_files_off };
        let opened = py.detach(|| {
            let lock = Lock::open(&root, options.patience)?;
            store::Writer::open(Arc::new(Os), &root, lock, options)
        })?;
        Ok(Self(opened))
    }

    /// Carries out requests in order, all or none, in one commit; returns when they are acknowledged.
    ///
    /// A request is `(kind, actor, ts_ns, extra, …)`: `put` with path, body and what is expected (`None` for anything, `""` for
    /// nothing, else a SHA-256 in hexadecimal), `move` with source and destination, `delete` with path, mode and reason,
    /// `aux` with the row's op and path.
    fn submit(&self, py: Python<'_>, requests: &Bound<'_, PyList>) -> Result<Vec<Receipt>> {
        let requests = requests.iter().map(|item| request(&item)).collect::<PyResult<Vec<_>>>()?;
        let outcomes = py.detach(|| self.0.submit_all(requests))?;
        Ok(outcomes.into_iter().map(Receipt).collect())
    }

    /// Number of the last acknowledged row that this writer knows of.
    fn last_seq(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.0.last_seq())
    }

    /// What opening found: rows accepted beyond the tip, whether the log was taken over from another program, and the file
    /// that keeps a torn tail.
    fn recovery(&self) -> (u64, bool, Option<String>) {
        let recovery = self.0.recovery();
        (recovery.accepted, recovery.adopted, recovery.tail.as_ref().map(|tail| tail.kept_as.clone()))
    }

    /// Makes working files durable and the indexes current, as far as that is due.
    fn close(&self, py: Python<'_>) -> Result<()> {
        Ok(py.detach(|| self.0.close())?)
    }

    /// Writes the working files that are put off.
    fn write_files(&self, py: Python<'_>) -> Result<()> {
        Ok(py.detach(|| self.0.write_files())?)
    }

    /// Recomputes the Merkle peaks and the path index from the log.
    fn rebuild(&self, py: Python<'_>) -> Result<()> {
        Ok(py.detach(|| self.0.rebuild())?)
    }
}

fn request(item: &Bound<'_, PyAny>) -> PyResult<Request> {
    let item = item.cast::<PyTuple>()?;
    let text = |at: usize| item.get_item(at)?.extract::<String>();
    let kind = text(0)?;
    let extra = match item.get_item(3)? {
        none if none.is_none() => BTreeMap::new(),
        dict => object_from_python(dict.cast::<PyDict>()?)?,
    };
    let op = match kind.as_str() {
        "put" => Op::Put {
            path: text(4)?,
            body: item.get_item(5)?.extract::<Vec<u8>>()?,
            expected: item.get_item(6)?.extract::<Option<String>>()?.map(|text| expected(&text)).transpose()?,
        },
        "move" => Op::Move { from: text(4)?, to: text(5)? },
        "delete" => Op::Delete { path: text(4)?, mode: mode(&text(5)?)?, reason: text(6)? },
        "aux" => Op::Aux { kind: text(4)?, path: text(5)? },
        _ => return Err(BadArgument::new_err(format!("unknown request {kind:?}"))),
    };
    Ok(Request { actor: text(1)?, ts_ns: item.get_item(2)?.extract()?, op, extra })
}

fn expected(text: &str) -> PyResult<Expected> {
    if text.is_empty() {
        return Ok(Expected::Absent);
    }
    let digest = Digest::from_hex(text.as_bytes());
    digest.map(Expected::Content).ok_or_else(|| BadArgument::new_err(format!("not a SHA-256 in hexadecimal: {text:?}")))
}

fn mode(text: &str) -> PyResult<DeleteMode> {
    match text {
        "tombstone" => Ok(DeleteMode::Tombstone),
        "purge" => Ok(DeleteMode::Purge),
        _ => Err(BadArgument::new_err(format!("a deletion's mode is tombstone or purge, not {text:?}"))),
    }
}
