//! What the log itself has to know of a store's settings, `manifest.json`: its format, and where it may lie.

use std::path::Path;

use crate::error::{LogError, Result};
use crate::json::Value;
use crate::medium::{Medium, network_file_system};

/// The newest format of a store that this build knows.
pub const FORMAT: u64 = 1;

const NAME: &str = "manifest.json";
const MOST: usize = 1 << 20;

/// Settings that decide how a store may be opened. What cannot be read says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The format that it names; upstream's manifests name none. Numbers that are too large are the largest.
    pub format_version: Option<u64>,
    /// Whether it may be written to on a network file system.
    pub allow_network_file_system: bool,
}

impl Manifest {
    /// Reads the manifest of the store at `root`; `None` where there is none.
    pub fn read(medium: &dyn Medium, root: &Path) -> Result<Option<Self>> {
        let path = root.join(NAME);
        let bytes = medium.read_head(&path, MOST).map_err(LogError::io("read", path))?;
        let Some(bytes) = bytes else { return Ok(None) };
        let Ok(manifest) = Value::parse(&bytes) else { return Ok(Some(Self::default())) };
        let format_version = match manifest.get("format_version") {
            Some(Value::Int(version)) => u64::try_from(*version).ok(),
            Some(Value::BigInt(digits)) if !digits.starts_with('-') => Some(u64::MAX),
            _ => None,
        };
        let allowed = manifest.get("allow_network_file_system").and_then(Value::as_bool);
        Ok(Some(Self { format_version, allow_network_file_system: allowed.unwrap_or(false) }))
    }

    fn check_format(self, root: &Path) -> Result<()> {
        match self.format_version {
            Some(version) if version > FORMAT => Err(LogError::Unsupported { store: root.to_owned(), version }),
            _ => Ok(()),
        }
    }
}

/// Refuses the store at `root` where its manifest names a newer format than this build knows.
pub fn check_format(medium: &dyn Medium, root: &Path) -> Result<()> {
    Manifest::read(medium, root)?.unwrap_or_default().check_format(root)
}

/// Refuses to write to the store at `root` where its format is a newer one, or where it lies on a network file system and its
/// manifest does not allow that.
pub fn check_writable(medium: &dyn Medium, root: &Path) -> Result<()> {
    let manifest = Manifest::read(medium, root)?.unwrap_or_default();
    manifest.check_format(root)?;
    if manifest.allow_network_file_system { Ok(()) } else { check_local(root) }
}

/// Refuses a folder that lies on a network file system.
pub fn check_local(folder: &Path) -> Result<()> {
    match network_file_system(folder).map_err(LogError::io("inspect", folder))? {
        Some(kind) => Err(LogError::Network { store: folder.to_owned(), kind }),
        None => Ok(()),
    }
}
