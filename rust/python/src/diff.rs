//! What changed between two versions, and where each line comes from.

use std::sync::{Mutex, PoisonError};

use cyberos_log::diff::blame;
use cyberos_log::diff::body::{BodyDiff, LineLists, body_diff};
use cyberos_log::diff::fields::frontmatter_diff;
use cyberos_log::diff::frontmatter::{cut, split};
use cyberos_log::json::Value;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::errors::BadArgument;
use crate::value::{object_to_python, to_python};

/// Two versions of a memory, side by side. Nothing is compared before it is asked for.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Comparison {
    old: Vec<u8>,
    new: Vec<u8>,
    old_path: String,
    new_path: String,
}

#[pymethods]
impl Comparison {
    /// Takes the bytes of the versions and the names they had.
    #[new]
    fn new(old: Vec<u8>, new: Vec<u8>, old_path: String, new_path: String) -> Self {
        Self { old, new, old_path, new_path }
    }

    /// What changed in the frontmatter: `{"added": {…}, "removed": {…}, "changed": {field: {"old": …, "new": …}}}`.
    ///
    /// Where one of them cannot be read, `{"unparseable": why, "diff": unified diff of the blocks}`.
    fn frontmatter<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = py.detach(|| self.frontmatter_value());
        to_python(py, &value)
    }

    /// Why the bodies have no line diff: `binary` or `too_large`; `None` where they have one.
    #[getter]
    fn incomparable(&self, py: Python<'_>) -> Option<&'static str> {
        py.detach(|| match body_diff(body(&self.old), body(&self.new)) {
            BodyDiff::Same | BodyDiff::Text(_) => None,
            BodyDiff::Binary => Some("binary"),
            BodyDiff::TooLarge => Some("too_large"),
        })
    }

    /// The unified diff of the bodies, empty where they are equal; `None` where they have none.
    fn unified(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| match body_diff(body(&self.old), body(&self.new)) {
            BodyDiff::Same => Some(String::new()),
            BodyDiff::Text(diff) => Some(diff.unified(Some(&self.old_path), Some(&self.new_path))),
            BodyDiff::Binary | BodyDiff::TooLarge => None,
        })
    }

    /// The lines by kind, `{"added": […], "removed": […], "context": […]}`; `None` where there is no line diff.
    fn lines<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let diff = py.detach(|| body_diff(body(&self.old), body(&self.new)));
        let lists = match diff {
            BodyDiff::Same => LineLists::default(),
            BodyDiff::Text(diff) => diff.by_kind(),
            BodyDiff::Binary | BodyDiff::TooLarge => return Ok(None),
        };
        let dict = PyDict::new(py);
        dict.set_item("added", lists.added)?;
        dict.set_item("removed", lists.removed)?;
        dict.set_item("context", lists.context)?;
        Ok(Some(dict))
    }
}

impl Comparison {
    fn frontmatter_value(&self) -> Value {
        let (old, new) = (split(&self.old), split(&self.new));
        let diff = frontmatter_diff(old.frontmatter.as_ref(), new.frontmatter.as_ref());
        diff.into_value(&self.old_path, &self.new_path)
    }
}

fn body(bytes: &[u8]) -> &[u8] {
    cut(bytes).map_or(bytes, |(_, body)| body)
}

/// Takes a memory apart: its fields (`None` where it has no frontmatter), or why they cannot be read, and the body.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "it is a Python tuple")]
pub fn split_memory<'py>(
    py: Python<'py>,
    content: &[u8],
) -> PyResult<(Option<Bound<'py, PyDict>>, Option<Bound<'py, PyString>>, Bound<'py, PyBytes>)> {
    let document = split(content);
    let body = PyBytes::new(py, document.body);
    match document.frontmatter.map(|frontmatter| frontmatter.fields) {
        None => Ok((None, None, body)),
        Some(Ok(fields)) => Ok((Some(object_to_python(py, &fields)?), None, body)),
        Some(Err(why)) => Ok((None, Some(PyString::new(py, &why)), body)),
    }
}

/// Says which version each line of a text comes from. Begins with the newest version; `step` takes the next older one.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Blame(Mutex<Option<blame::Blame>>);

#[pymethods]
impl Blame {
    /// Begins with the bytes of the newest version.
    #[new]
    fn new(newest: Vec<u8>) -> Self {
        Self(Mutex::new(Some(blame::Blame::new(newest))))
    }

    /// Takes the next older version; returns whether still older ones can change anything.
    fn step(&self, py: Python<'_>, older: Vec<u8>) -> PyResult<bool> {
        let open = py.detach(|| {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(|blame| {
                blame.step(older);
                !blame.is_complete()
            })
        });
        open.ok_or_else(|| BadArgument::new_err("the lines are attributed already"))
    }

    /// For each line of the newest version, how many versions before it the line appeared. Ends the work.
    fn ages(&self) -> PyResult<Vec<usize>> {
        let blame = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        blame.map(blame::Blame::into_ages).ok_or_else(|| BadArgument::new_err("the lines are attributed already"))
    }
}
