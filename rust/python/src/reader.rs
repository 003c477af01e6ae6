//! A store, open for reading.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cyberos_log::history::{Chain, Limits, Present, Query, Selection, is_as_known};
use cyberos_log::manifest;
use cyberos_log::medium::{Os, SharedMedium};
use cyberos_log::objects::{Body, BodyReader};
use cyberos_log::tree::{self, Tree};
use cyberos_log::{Digest, LogError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::checks::{self, PyReport};
use crate::errors::{BadArgument, Result};
use crate::following::{self, Followed};
use crate::history::{self, PyDamage, PyEntry, PyVersion, at, damages, filters, walked};
use crate::rows::{self, Marks};
use crate::tree::Hash;

/// Refuses the store at `root` where its format is a newer one. Everything else here that opens a store does so by itself.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn check_format(root: PathBuf) -> Result<()> {
    Ok(manifest::check_format(&Os, &root)?)
}

/// Refuses a folder that lies on a network file system.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn check_local(folder: PathBuf) -> Result<()> {
    Ok(manifest::check_local(&folder)?)
}

/// A store, open for reading. Takes no lock and never writes; looks at each call whether the log has changed.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Reader {
    medium: SharedMedium,
    root: PathBuf,
    log: Mutex<Log>,
    /// Opened when a body is first asked for.
    bodies: OnceLock<BodyReader>,
}

struct Log {
    chain: Chain,
    marks: Marks,
    present: Present,
}

#[pymethods]
impl Reader {
    /// Opens the store at `root`.
    #[new]
    fn new(py: Python<'_>, root: PathBuf) -> Result<Self> {
        let medium: SharedMedium = Arc::new(Os);
        let chain = py.detach(|| {
            manifest::check_format(medium.as_ref(), &root)?;
            Chain::open(&medium, &root)
        })?;
        let log = Mutex::new(Log { chain, marks: Marks::default(), present: Present::default() });
        Ok(Self { medium, root, log, bodies: OnceLock::new() })
    }

    /// Number of the last whole row; 0 for an empty log.
    fn last_seq(&self, py: Python<'_>) -> Result<u64> {
        self.ask(py, |log| Ok(log.chain.log().last_seq()))
    }

    /// The rows `first..=last` that are there, oldest first, and the damage between them.
    fn rows<'py>(&self, py: Python<'py>, first: u64, last: u64) -> Result<(Vec<Bound<'py, PyDict>>, Vec<PyDamage>)> {
        let (read, damage) = self.ask(py, |log| {
            let mut read = rows::read(&log.chain, &mut log.marks, first.max(1), last)?;
            let damage = damages(log.chain.log(), std::mem::take(&mut read.damages));
            Ok((read, damage))
        })?;
        let rows = read.rows.iter().map(|row| row.to_dict(py)).collect::<PyResult<_>>()?;
        Ok((rows, damage))
    }

    /// The rows behind row `seq` (0: all), oldest first; `chain` is that row's, and demanded of it.
    ///
    /// Of these kinds, that meet all `filters`, see `history`; at most `most`, about `enough` bytes of them, none behind `last`.
    /// Returns them, the number and the chain of the last row that was looked at, whether there was nothing behind it, and the
    /// damage on the way.
    #[pyo3(signature = (seq, chain, *, kinds, filters, most, enough, last = None))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn follow<'py>(
        &self,
        py: Python<'py>,
        seq: u64,
        chain: &str,
        kinds: Vec<String>,
        filters: Vec<(String, String)>,
        most: usize,
        enough: usize,
        last: Option<u64>,
    ) -> Result<Followed<'py>> {
        let cursor = following::cursor(seq, chain)?;
        let selection = Selection { kinds, filters: self::filters(filters)? };
        let limits = Limits { rows: most, bytes: enough, last: last.unwrap_or(u64::MAX) };
        let (stretch, damage) = self.ask(py, |log| {
            let Log { chain, marks, .. } = log;
            let from = marks.nearest(chain, seq.max(1))?;
            let mut stretch =
                chain.follow(cursor, from, &selection, &limits, |seq, offset| marks.pass(chain, seq, offset))?;
            let damage = damages(chain.log(), std::mem::take(&mut stretch.damages));
            Ok((stretch, damage))
        })?;
        Ok(following::followed(py, stretch, damage)?)
    }

    /// All rows that touch a name, oldest first, whatever memory had it, and the damage that may hide others.
    fn touching<'py>(&self, py: Python<'py>, name: &str) -> Result<(Bound<'py, PyList>, Vec<PyDamage>)> {
        let (rows, damage) = self.ask(py, |log| {
            let (rows, met) = log.chain.touching(name)?;
            Ok((rows, damages(log.chain.log(), met)))
        })?;
        let len = rows.len();
        Ok((following::list(py, rows, (0..len).rev())?, damage))
    }

    /// The rows that touch a memory (`None`: any memory), newest first, and the damage that may hide others.
    ///
    /// Only those with a number above `above` and below `below`, not older than `since_ns`, that meet all `filters`, which are
    /// pairs of `actor`, `kind`, `session_id` or `dream_id` and a value.
    #[pyo3(signature = (path, *, follow_moves = true, limit = None, since_ns = None, above = 0, below = None, filters = None))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn history(
        &self,
        py: Python<'_>,
        path: Option<String>,
        follow_moves: bool,
        limit: Option<usize>,
        since_ns: Option<u64>,
        above: u64,
        below: Option<u64>,
        filters: Option<Vec<(String, String)>>,
    ) -> Result<(Vec<PyEntry>, Vec<PyDamage>)> {
        let filters = self::filters(filters.unwrap_or_default())?;
        let query = Query { path, follow_moves, limit, since_ns, above, below, filters };
        self.ask(py, |log| Ok(walked(log.chain.log(), log.chain.history(&query)?)))
    }

    /// The sessions found under a name, those that started last first, as tuples of the fields of a session, its end and its purge.
    fn sessions<'py>(&self, py: Python<'py>, name: &str) -> Result<Vec<Bound<'py, PyTuple>>> {
        let found = self.ask(py, |log| log.chain.sessions(name))?;
        Ok(found.into_iter().map(|session| history::session_to_python(py, session)).collect::<PyResult<_>>()?)
    }

    /// The entries of a path's history as a JSON array, as `history --json` has them without body diffs; `None` where that takes
    /// long, or where there is more to tell.
    fn history_page<'py>(&self, py: Python<'py>, path: String, limit: usize) -> Result<Option<Bound<'py, PyBytes>>> {
        let bodies = py.detach(|| self.bodies())?;
        let query = Query {
            path: Some(path),
            follow_moves: true,
            limit: Some(limit),
            since_ns: None,
            above: 0,
            below: None,
            filters: Vec::new(),
        };
        let page = self.ask(py, |log| log.chain.page(&query, bodies, &self.root))?;
        Ok(page.map(|page| PyBytes::new(py, &page)))
    }

    /// Whether the working file of a path is not there, or is a plain file whose bytes have this SHA-256; `False` says no more
    /// than that a closer look is needed.
    fn is_as_known(&self, py: Python<'_>, path: &str, content_sha256: &str) -> Result<bool> {
        let sha = sha256(content_sha256)?;
        let known = py.detach(|| is_as_known(self.medium.as_ref(), &self.root, path, Some(sha)));
        Ok(known.map_err(LogError::io("read", self.root.join(path)))?)
    }

    /// The version of a memory after row `seq`, after the last row not later than `ts_ns`, or now; `None` for none.
    ///
    /// With `follow_moves`, `path` is its name now and it may have had another one; without, its name then.
    #[pyo3(signature = (path, *, seq = None, ts_ns = None, follow_moves = false))]
    fn version_at(
        &self,
        py: Python<'_>,
        path: &str,
        seq: Option<u64>,
        ts_ns: Option<u64>,
        follow_moves: bool,
    ) -> Result<Option<PyVersion>> {
        let version = self.ask(py, |log| log.chain.version_at(path, at(seq, ts_ns), follow_moves))?;
        Ok(version.map(PyVersion::from))
    }

    /// Number of the last row that is not later; 0 where there is none.
    fn last_row(&self, py: Python<'_>, ts_ns: u64) -> Result<u64> {
        self.ask(py, |log| log.chain.last_row(at(None, Some(ts_ns))))
    }

    /// Whether a working file with these bytes may be one that is not yet brought up to the newest rows.
    fn may_lag(&self, py: Python<'_>, path: &str, content_sha256: &str) -> Result<bool> {
        let sha = sha256(content_sha256)?;
        self.ask(py, |log| {
            let tip = log.chain.log().tip();
            tip.map_or(Ok(false), |tip| log.chain.may_lag(path, sha, tip.view_seq))
        })
    }

    /// Every memory that existed at such a point, ordered by name. Reads the whole log.
    #[pyo3(signature = (*, seq = None, ts_ns = None))]
    fn memories_at(
        &self,
        py: Python<'_>,
        seq: Option<u64>,
        ts_ns: Option<u64>,
    ) -> Result<(Vec<PyVersion>, Vec<PyDamage>)> {
        let (memories, damage) = self.ask(py, |log| {
            let (memories, met) = log.chain.memories_at(at(seq, ts_ns))?;
            Ok((memories, damages(log.chain.log(), met)))
        })?;
        Ok((memories.into_values().map(PyVersion::from).collect(), damage))
    }

    /// The first `limit` memories there are now behind the path `after` whose path begins with `prefix`, ordered by name. The
    /// first question reads the whole log, later ones what was appended.
    fn memories(
        &self,
        py: Python<'_>,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<(Vec<PyVersion>, Vec<PyDamage>)> {
        self.ask(py, |log| {
            log.chain.bring_up(&mut log.present)?;
            let page = log.present.page(prefix, after, limit).into_iter().cloned().map(PyVersion::from).collect();
            Ok((page, damages(log.chain.log(), log.present.damages().to_vec())))
        })
    }

    /// The bytes with a SHA-256 (`None`: not kept), and whether they were kept once and then purged.
    fn body<'py>(&self, py: Python<'py>, content_sha256: &str) -> Result<(Option<Bound<'py, PyBytes>>, bool)> {
        let sha = sha256(content_sha256)?;
        let body = py.detach(|| self.bodies()?.get(&sha))?;
        Ok(match body {
            Body::Found(bytes) => (Some(PyBytes::new(py, &bytes)), false),
            Body::Purged => (None, true),
            Body::Absent => (None, false),
        })
    }

    /// Checks the whole log, and with `deep` every kept body. `progress` is called now and then with the rows or bodies done
    /// and whether it is bodies; what it raises ends the check.
    #[pyo3(signature = (progress = None, *, peaks = true, deep = false))]
    fn verify(&self, py: Python<'_>, progress: Option<Bound<'_, PyAny>>, peaks: bool, deep: bool) -> Result<PyReport> {
        // A log of its own: others may use this reader meanwhile.
        let bodies = if deep { Some(py.detach(|| self.bodies())?) } else { None };
        checks::verify(py, &self.medium, &self.root, bodies, progress.map(Bound::unbind).as_ref(), peaks)
    }

    /// The bytes of a row, of which its leaf in the Merkle tree is made.
    fn payload<'py>(&self, py: Python<'py>, seq: u64) -> Result<Bound<'py, PyBytes>> {
        let payload = self.ask(py, |log| tree::payload(&log.chain, seq))?;
        Ok(PyBytes::new(py, &payload))
    }

    /// The root of the Merkle tree over the first `size` rows.
    fn root(&self, py: Python<'_>, size: u64) -> Result<Hash> {
        Ok(Hash(self.ask(py, |log| Tree::open(&log.chain)?.root(size))?))
    }

    /// The roots of several sizes, from the rows alone and not from what is kept of the tree. Reads the whole log.
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
    fn roots(&self, py: Python<'_>, sizes: Vec<u64>) -> Result<Vec<Hash>> {
        let roots = self.ask(py, |log| tree::roots(&log.chain, &sizes))?;
        Ok(roots.into_iter().map(Hash).collect())
    }

    /// The proof that row `seq` is in the tree of the first `size` rows: hashes from the leaf's sibling upwards.
    fn inclusion_proof(&self, py: Python<'_>, seq: u64, size: u64) -> Result<Vec<Hash>> {
        let path = self.ask(py, |log| Tree::open(&log.chain)?.inclusion(seq, size))?;
        Ok(path.into_iter().map(Hash).collect())
    }

    /// The proof that the tree of the first `old` rows is the beginning of that of the first `new`.
    fn consistency_proof(&self, py: Python<'_>, old: u64, new: u64) -> Result<Vec<Hash>> {
        let path = self.ask(py, |log| Tree::open(&log.chain)?.consistency(old, new))?;
        Ok(path.into_iter().map(Hash).collect())
    }

    /// The segments as (file, first row), and how many rows from the first on the path index covers.
    fn layout(&self, py: Python<'_>) -> Result<(Vec<(String, u64)>, u64)> {
        self.ask(py, |log| {
            let segments = log.chain.log().segments().list();
            let files = segments.iter().map(|segment| (segment.label(), segment.first_seq)).collect();
            Ok((files, log.chain.floor().seq - 1))
        })
    }
}

impl Reader {
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&mut Log) -> cyberos_log::Result<T> + Send,
    ) -> Result<T> {
        let answer = py.detach(|| {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            if log.chain.refresh()? {
                log.marks.clear();
            }
            question(&mut log)
        })?;
        Ok(answer)
    }

    fn bodies(&self) -> cyberos_log::Result<&BodyReader> {
        if let Some(bodies) = self.bodies.get() {
            return Ok(bodies);
        }
        let (objects, index) = (self.root.join("audit/objects"), self.root.join("index/objects"));
        let opened = BodyReader::open(self.medium.clone(), objects, index)?;
        Ok(self.bodies.get_or_init(|| opened))
    }
}

fn sha256(text: &str) -> PyResult<Digest> {
    Digest::from_hex(text.as_bytes()).ok_or_else(|| BadArgument::new_err(format!("not a SHA-256: {text:?}")))
}
