//! YAML: frontmatter and access lists.

use cyberos_log::diff::merge::merge;
use cyberos_log::diff::yaml;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{BadArgument, BodyRefused};
use crate::value::{fields_from_python, to_python};

/// Returns the object that a YAML document means: mappings, lists, texts, numbers, truth values, `None`.
#[pyfunction]
pub fn parse_yaml<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let value = yaml::parse_yaml(text).map_err(|error| BadArgument::new_err(error.to_string()))?;
    to_python(py, &value)
}

/// Returns what one YAML scalar means; what is not one is text.
#[pyfunction]
pub fn parse_scalar<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &yaml::parse_scalar(text))
}

/// Returns a memory's bytes with these fields set in its frontmatter; `BodyRefused` where that cannot be read.
#[pyfunction]
pub fn with_meta<'py>(py: Python<'py>, meta: &Bound<'py, PyDict>, content: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let merged = merge(&fields_from_python(meta)?, content).map_err(BodyRefused::new_err)?;
    Ok(PyBytes::new(py, &merged))
}
