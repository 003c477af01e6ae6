//! A log on its way out of a store.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cyberos_log::export;
use cyberos_log::medium::{Os, SharedMedium};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Result;
use crate::history::PyVersion;

/// A log and its version bodies on their way out of a store, in one form however they lie in it.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Export(Mutex<export::Export>);

#[pymethods]
impl Export {
    /// Opens the store at `root`; rows behind `last` stay in.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
    fn new(py: Python<'_>, root: PathBuf, last: u64) -> Result<Self> {
        let medium: SharedMedium = Arc::new(Os);
        Ok(Self(Mutex::new(py.detach(|| export::Export::open(&medium, &root, last))?)))
    }

    /// The next frames of the log, about `enough` bytes; empty at its end.
    fn log<'py>(&self, py: Python<'py>, enough: usize) -> Result<Bound<'py, PyBytes>> {
        self.piece(py, enough, export::Export::log)
    }

    /// The next frames of the pack of all versions that the log had when it was read to its end; empty at its end.
    fn bodies<'py>(&self, py: Python<'py>, enough: usize) -> Result<Bound<'py, PyBytes>> {
        self.piece(py, enough, export::Export::bodies)
    }

    /// The memories there are after the last row, ordered by name; once the log was read to its end.
    fn memories(&self, py: Python<'_>) -> Vec<PyVersion> {
        py.detach(|| self.export().memories().cloned().map(PyVersion::from).collect())
    }

    /// The contents of memories from the one called `first` on, in that order, until there are `enough` bytes; `None` for what
    /// is purged, damaged, or was never kept.
    fn contents<'py>(&self, py: Python<'py>, first: &str, enough: usize) -> Result<Vec<Option<Bound<'py, PyBytes>>>> {
        let contents = py.detach(|| self.export().contents(first, enough))?;
        Ok(contents.iter().map(|content| content.as_deref().map(|bytes| PyBytes::new(py, bytes))).collect())
    }

    /// How many versions were written, and how many of those that were looked at are purged or were never kept.
    fn versions(&self) -> (u64, u64) {
        self.export().versions()
    }
}

impl Export {
    fn export(&self) -> MutexGuard<'_, export::Export> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn piece<'py>(
        &self,
        py: Python<'py>,
        enough: usize,
        read: impl FnOnce(&mut export::Export, usize, &mut Vec<u8>) -> cyberos_log::Result<()> + Send,
    ) -> Result<Bound<'py, PyBytes>> {
        let piece = py.detach(|| -> cyberos_log::Result<Vec<u8>> {
            let mut out = Vec::new();
            read(&mut self.export(), enough, &mut out)?;
            Ok(out)
        })?;
        Ok(PyBytes::new(py, &piece))
    }
}
