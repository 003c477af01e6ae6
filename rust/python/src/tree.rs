//! Checking proofs over the Merkle tree; a `Reader` makes them.

use cyberos_log::log::peaks::leaf;
use cyberos_log::{Digest, tree};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::BadArgument;

/// A hash as Python has it: 32 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Hash(pub Digest);

impl<'py> FromPyObject<'_, 'py> for Hash {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let bytes = object.extract::<Vec<u8>>()?;
        let hash = bytes.try_into().map_err(|_| BadArgument::new_err("a hash has 32 bytes"))?;
        Ok(Self(Digest(hash)))
    }
}

impl<'py> IntoPyObject<'py> for Hash {
    type Target = PyBytes;
    type Output = Bound<'py, PyBytes>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        Ok(PyBytes::new(py, &self.0.0))
    }
}

/// Whether `path` proves that row `seq` has this payload, in the tree of the first `size` rows with that root.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn includes(seq: u64, size: u64, payload: &[u8], path: Vec<Hash>, root: Hash) -> bool {
    let path: Vec<Digest> = path.iter().map(|hash| hash.0).collect();
    seq > 0 && tree::includes(seq - 1, size, leaf(payload), &path, root.0)
}

/// Whether `path` proves that the tree of `new` rows begins with that of `old`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn is_consistent(old: u64, old_root: Hash, new: u64, new_root: Hash, path: Vec<Hash>) -> bool {
    let path: Vec<Digest> = path.iter().map(|hash| hash.0).collect();
    tree::is_consistent(old, old_root.0, new, new_root.0, &path)
}
