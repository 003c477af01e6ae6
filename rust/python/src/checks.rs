//! Checking a whole store.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use cyberos_log::log::verify::{self, Options, Report};
use cyberos_log::log::{Agreement, HEAD, LogReader, PEAKS, check_head, check_peaks};
use cyberos_log::medium::SharedMedium;
use cyberos_log::objects::{Body, BodyReader};
use cyberos_log::{Digest, LogError};
use pyo3::prelude::*;

use crate::errors::{Fault, Result};

/// How often progress is reported.
const INTERVAL: Duration = Duration::from_millis(100);

/// One thing that is not as it must be, or that is worth saying.
#[pyclass(frozen, get_all, name = "Finding", module = "cyberos._native")]
#[derive(Debug)]
pub struct PyFinding {
    /// Stable name of the check.
    check: &'static str,
    /// File, relative to the store.
    file: String,
    /// Where in it.
    offset: Option<u64>,
    /// The row that is concerned.
    seq: Option<u64>,
    /// What is the case, in one clause.
    what: String,
}

/// What a check of the whole store found.
#[pyclass(frozen, name = "Report", module = "cyberos._native")]
#[derive(Debug)]
pub struct PyReport {
    /// Whole rows.
    #[pyo3(get)]
    rows: u64,
    /// Bytes of their frames.
    #[pyo3(get)]
    bytes: u64,
    /// Segments.
    #[pyo3(get)]
    segments: usize,
    /// Number of the last whole row; 0 for an empty log.
    #[pyo3(get)]
    last_seq: u64,
    /// That row's chain, in hexadecimal.
    #[pyo3(get)]
    chain: Option<String>,
    /// The Merkle root over all rows in hexadecimal; `None` where it was not asked for or rows are missing.
    #[pyo3(get)]
    root: Option<String>,
    /// Bodies that were hashed again; `None` where that was not asked for.
    #[pyo3(get)]
    bodies: Option<u64>,
    /// Of the bodies that were kept, how many were purged.
    #[pyo3(get)]
    purged: u64,
    /// Whether there was more to find than is listed.
    #[pyo3(get)]
    truncated: bool,
    findings: Vec<Py<PyFinding>>,
    notes: Vec<Py<PyFinding>>,
}

#[pymethods]
impl PyReport {
    /// What is wrong, in the order of the log.
    #[getter]
    fn findings(&self, py: Python<'_>) -> Vec<Py<PyFinding>> {
        self.findings.iter().map(|finding| finding.clone_ref(py)).collect()
    }

    /// What is no fault and worth knowing.
    #[getter]
    fn notes(&self, py: Python<'_>) -> Vec<Py<PyFinding>> {
        self.notes.iter().map(|note| note.clone_ref(py)).collect()
    }
}

/// What was found so far.
struct Found {
    report: Report,
    bodies: Option<u64>,
    purged: u64,
    findings: Vec<PyFinding>,
    notes: Vec<PyFinding>,
}

/// Verifies the log, what lies beside it, and the bodies where they are given.
pub fn verify(
    py: Python<'_>,
    medium: &SharedMedium,
    root: &Path,
    bodies: Option<&BodyReader>,
    callback: Option<&Py<PyAny>>,
    with_peaks: bool,
) -> Result<PyReport> {
    let progress = Progress::new(callback);
    let found = py.detach(|| -> cyberos_log::Result<Found> {
        let log = LogReader::open(medium.clone(), root.join("audit"))?;
        let options = Options { with_peaks, ..Options::default() };
        let report = verify::verify(&log, options, &|rows| progress.report("rows", rows))?;
        let mut found = Found { report, bodies: None, purged: 0, findings: Vec::new(), notes: Vec::new() };
        found.take_report();
        found.beside(&log)?;
        if let Some(bodies) = bodies {
            found.bodies(bodies, &progress)?;
        }
        Ok(found)
    });
    match found {
        Ok(found) => Ok(found.into_python(py)?),
        Err(LogError::Interrupted) => Err(progress.raised().map_or(Fault::Log(LogError::Interrupted), Fault::Python)),
        Err(error) => Err(error.into()),
    }
}

impl Found {
    fn find(&mut self, check: &'static str, file: &str, seq: Option<u64>, what: String) {
        self.findings.push(PyFinding { check, file: file.into(), offset: None, seq, what });
    }

    fn note(&mut self, check: &'static str, file: &str, what: String) {
        self.notes.push(PyFinding { check, file: file.into(), offset: None, seq: None, what });
    }

    fn take_report(&mut self) {
        for finding in std::mem::take(&mut self.report.findings) {
            let verify::Finding { check, file, offset, seq, what } = finding;
            self.findings.push(PyFinding { check, file, offset: Some(offset), seq: Some(seq), what });
        }
        if let Some(tail) = self.report.torn_tail.take() {
            let bytes = tail.end - tail.offset;
            let what =
                format!("{bytes} bytes behind the last row were never acknowledged; the next writer moves them aside");
            let (check, file) = ("torn_tail", tail.file);
            self.notes.push(PyFinding { check, file, offset: Some(tail.offset), seq: None, what });
        }
    }

    /// Holds HEAD and the peaks against the log.
    fn beside(&mut self, log: &LogReader) -> cyberos_log::Result<()> {
        let head = check_head(log)?;
        self.agreement("head", HEAD, &head);
        if let Some(peaks) = &self.report.peaks {
            let agreement = check_peaks(log, peaks)?;
            self.agreement("peaks", PEAKS, &agreement);
        }
        Ok(())
    }

    fn agreement(&mut self, check: &'static str, file: &str, agreement: &Agreement) {
        match agreement {
            // What is ahead says that rows are missing, which verifying the log has found.
            Agreement::Current | Agreement::Ahead(_) => {}
            Agreement::Missing => self.note(check, file, "there is none; the next write makes it".into()),
            Agreement::Behind(seq) => {
                self.note(check, file, format!("it stands at row {seq}; the next write brings it up to date"));
            }
            Agreement::Wrong(what) => self.find(check, file, None, what.clone()),
        }
    }

    fn bodies(&mut self, bodies: &BodyReader, progress: &Progress<'_>) -> cyberos_log::Result<()> {
        let (mut checked, mut done) = (0, 0);
        for stored in bodies.iterate()? {
            done += 1;
            if !progress.report("bodies", done) {
                return Err(LogError::Interrupted);
            }
            let outcome = match stored {
                Ok(stored) if stored.sha == Digest::ZERO => continue,
                Ok(stored) if stored.purged => Ok(Body::Purged),
                Ok(stored) => bodies.check(&stored),
                Err(error) => Err(error),
            };
            match outcome {
                Ok(Body::Found(_)) => checked += 1,
                Ok(Body::Purged) => self.purged += 1,
                Ok(Body::Absent) => {}
                Err(LogError::Corrupt { file, offset, what, .. }) => {
                    self.findings.push(PyFinding { check: "body", file, offset: Some(offset), seq: None, what });
                }
                Err(error) => return Err(error),
            }
        }
        self.bodies = Some(checked);
        Ok(())
    }

    fn into_python(self, py: Python<'_>) -> PyResult<PyReport> {
        let own = |list: Vec<PyFinding>| list.into_iter().map(|item| Py::new(py, item)).collect::<PyResult<Vec<_>>>();
        let Report { rows, bytes, segments, last, peaks, truncated, .. } = self.report;
        Ok(PyReport {
            rows,
            bytes,
            segments,
            last_seq: last.map_or(0, |(seq, _)| seq),
            chain: last.map(|(_, chain)| chain.to_hex()),
            root: peaks.map(|peaks| peaks.root().to_hex()),
            bodies: self.bodies,
            purged: self.purged,
            truncated,
            findings: own(self.findings)?,
            notes: own(self.notes)?,
        })
    }
}

/// Calls back now and then, from the thread that began the work only: signals reach no other.
struct Progress<'c> {
    callback: Option<&'c Py<PyAny>>,
    thread: ThreadId,
    state: Mutex<State>,
}

struct State {
    due: Instant,
    raised: Option<PyErr>,
}

impl<'c> Progress<'c> {
    fn new(callback: Option<&'c Py<PyAny>>) -> Self {
        let state = Mutex::new(State { due: Instant::now() + INTERVAL, raised: None });
        Self { callback, thread: std::thread::current().id(), state }
    }

    /// Says how far the work is; returns whether to go on.
    fn report(&self, what: &str, done: u64) -> bool {
        if std::thread::current().id() != self.thread {
            return self.state().raised.is_none();
        }
        {
            let mut state = self.state();
            if state.raised.is_some() || Instant::now() < state.due {
                return state.raised.is_none();
            }
            state.due = Instant::now() + INTERVAL;
        }
        let called = Python::attach(|py| {
            py.check_signals()?;
            self.callback.map_or(Ok(()), |callback| callback.call1(py, (what, done)).map(drop))
        });
        self.state().raised = called.err();
        self.state().raised.is_none()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn raised(self) -> Option<PyErr> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).raised
    }
}
