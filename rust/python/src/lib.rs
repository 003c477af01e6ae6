//! `cyberos._native`: the Rust crates as a Python module. Only this crate names `PyO3`.

mod build;
mod checks;
mod diff;
mod errors;
mod export;
mod following;
mod history;
mod reader;
mod redact;
mod repair;
mod rows;
mod survey;
mod transcript;
mod tree;
mod value;
mod writer;
mod yaml;

/// The compiled part of cyberos.
#[pyo3::pymodule]
mod _native {
    #[expect(non_upper_case_globals, reason = "Python's spelling")]
    #[pymodule_export]
    const __version__: &str = crate::build::VERSION;
    #[expect(non_upper_case_globals, reason = "Python's spelling")]
    #[pymodule_export]
    const is_debug: bool = crate::build::IS_DEBUG;
    /// The newest format of a store that is known.
    #[pymodule_export]
    const FORMAT_VERSION: u64 = cyberos_log::manifest::FORMAT;
    #[pymodule_export]
    #[pymodule_export]
    use crate::checks::{PyFinding, PyReport};
    #[pymodule_export]
    use crate::diff::{Blame, Comparison, split_memory};
    #[pymodule_export]
    use crate::export::Export;
    #[pymodule_export]
    use crate::following::PyRow;
    #[pymodule_export]
    use crate::history::{PyDamage, PyEntry, PyVersion};
    #[pymodule_export]
    use crate::reader::{Reader, check_format, check_local};
    #[pymodule_export]
    use crate::redact::{redaction_candidates, redaction_tags};
    #[pymodule_export]
    use crate::repair::{Repair, plan_loss};
    #[pymodule_export]
    use crate::survey::{Survey, survey};
    #[pymodule_export]
    use crate::transcript::{Transcript, Turns, count_turns, create_transcript, erase_transcript, seal_transcript};
    #[pymodule_export]
    use crate::tree::{includes, is_consistent};
    #[pymodule_export]
    use crate::value::{canonical_json, parse_json};
    #[pymodule_export]
    use crate::writer::{Receipt, Writer};
    #[pymodule_export]
    use crate::yaml::{parse_scalar, parse_yaml, with_meta};
}
