//! Errors of the log crate as exceptions of `cyberos.errors`.

use std::io::ErrorKind;

use cyberos_log::{Digest, LogError};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

pyo3::import_exception!(cyberos.errors, AlreadyExists);
pyo3::import_exception!(cyberos.errors, BadArgument);
pyo3::import_exception!(cyberos.errors, BodyRefused);
pyo3::import_exception!(cyberos.errors, CorruptLog);
pyo3::import_exception!(cyberos.errors, CyberosError);
pyo3::import_exception!(cyberos.errors, DiskFull);
pyo3::import_exception!(cyberos.errors, IoFailure);
pyo3::import_exception!(cyberos.errors, LogRewritten);
pyo3::import_exception!(cyberos.errors, MemoryNotFound);
pyo3::import_exception!(cyberos.errors, NetworkFileSystem);
pyo3::import_exception!(cyberos.errors, PathRefused);
pyo3::import_exception!(cyberos.errors, PreconditionFailed);
pyo3::import_exception!(cyberos.errors, PurgeRefused);
pyo3::import_exception!(cyberos.errors, StoreLocked);
pyo3::import_exception!(cyberos.errors, UnsupportedStore);
pyo3::import_exception!(cyberos.errors, VersionNotFound);
pyo3::import_exception!(cyberos.errors, WriterPoisoned);

/// What a function of this module returns: `?` takes errors of the log crate and of Python.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// An error on its way to Python.
#[derive(Debug)]
pub enum Fault {
    /// From the log crate; it becomes an exception when it arrives.
    Log(LogError),
    /// An exception already.
    Python(PyErr),
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Python(error) => error,
            Fault::Log(error) => Python::attach(|py| exception(py, error)),
        }
    }
}

/// Returns the exception for an error of the log crate, with what it knows as attributes.
pub fn exception(py: Python<'_>, error: LogError) -> PyErr {
    let message = error.to_string();
    match error {
        LogError::Io { path, source, .. } => {
            let full = matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
            let raised = if full { DiskFull::new_err(message) } else { IoFailure::new_err(message) };
            set(py, &raised, "file", path.to_string_lossy());
            set(py, &raised, "errno", source.raw_os_error());
            raised
        }
        LogError::Corrupt { file, offset, seq, .. } => {
            let raised = CorruptLog::new_err(message);
            set(py, &raised, "file", file);
            set(py, &raised, "offset", offset);
            set(py, &raised, "seq", seq);
            set(py, &raised, "hints", ("`cyberos doctor` says what is wrong and what can be done",));
            raised
        }
        LogError::Poisoned(_) => WriterPoisoned::new_err(message),
        // Whoever asked to stop did so because of a signal; its handler says what to raise.
        LogError::Interrupted => py.check_signals().err().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        LogError::Invalid(_) => BadArgument::new_err(message),
        LogError::NotFound(_) => VersionNotFound::new_err(message),
        LogError::NoMemory(path) => with(py, MemoryNotFound::new_err(message), "path", path),
        LogError::Exists(path) => with(py, AlreadyExists::new_err(message), "path", path),
        LogError::Precondition { path, expected, actual } => {
            let again =
                format!("look at it with `cyberos get {path} --json`, and put again with the body_hash it has then");
            let raised = with(py, PreconditionFailed::new_err(message), "hints", (again,));
            let raised = with(py, raised, "path", path);
            let raised = with(py, raised, "expected", expected.map(Digest::to_hex));
            with(py, raised, "actual", actual.map(Digest::to_hex))
        }
        LogError::Shared { path, shared_with } => {
            with(py, with(py, PurgeRefused::new_err(message), "path", path), "shared_with", shared_with)
        }
        LogError::Busy { store, holder } => {
            let raised = with(py, StoreLocked::new_err(message), "store", store.to_string_lossy());
            let raised = with(py, raised, "hints", ("try again when it has finished",));
            let raised = with(py, raised, "actor", holder.actor);
            let raised = with(py, raised, "pid", holder.pid);
            with(py, with(py, raised, "host", holder.host), "since", holder.since)
        }
        LogError::Network { store, .. } => {
            let raised = with(py, NetworkFileSystem::new_err(message), "store", store.to_string_lossy());
            let allowed = "or, where only one machine ever writes to it, allow it: \
                \"allow_network_file_system\": true in manifest.json, for a new store `cyberos init --allow-network-file-system`";
            with(py, raised, "hints", ("keep the store on a disk of this machine", allowed))
        }
        LogError::Diverged { seq, last_seq, .. } => {
            let raised = with(py, LogRewritten::new_err(message), "size", seq);
            with(py, raised, "last_seq", last_seq)
        }
        LogError::Refused(_) => PathRefused::new_err(message),
        LogError::Unsupported { store, version } => {
            let raised = with(py, UnsupportedStore::new_err(message), "store", store.to_string_lossy());
            with(py, with(py, raised, "format_version", version), "hints", ("install a newer cyberos",))
        }
        _ => CyberosError::new_err(message),
    }
}

/// Returns the exception with an attribute set.
fn with<'py>(py: Python<'py>, raised: PyErr, name: &str, value: impl IntoPyObjectExt<'py>) -> PyErr {
    set(py, &raised, name, value);
    raised
}

/// Sets an attribute. A failure is let go: the exception without it says more than the failure would.
fn set<'py>(py: Python<'py>, raised: &PyErr, name: &str, value: impl IntoPyObjectExt<'py>) {
    let _ = raised.value(py).setattr(name, value.into_bound_py_any(py).ok());
}
