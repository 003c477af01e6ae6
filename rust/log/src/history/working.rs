//! Whether a working file is what the chain says, where that can be told at a glance.

use std::io;
use std::path::Path;

use crate::hash::Digest;
use crate::medium::Medium;

/// A working file larger than this is not read here.
const LARGEST: u64 = 1 << 20;

/// Whether the working file of a path is not there, or is a plain file whose bytes have this SHA-256.
///
/// `false` says no more than that a closer look is needed. Symbolic links are not followed.
pub fn is_as_known(medium: &dyn Medium, root: &Path, path: &str, sha: Option<Digest>) -> io::Result<bool> {
    let mut full = root.to_path_buf();
    let mut names = path.split('/').peekable();
    let mut len = 0;
    while let Some(name) = names.next() {
        full.push(name);
        let Some(stat) = medium.stat(&full)? else { return Ok(true) };
        len = stat.len;
        let is_folder = names.peek().is_some();
        // What is neither file nor folder has no length, and opening it could take for ever.
        if stat.is_symlink || stat.is_dir != is_folder || (!is_folder && !(1..=LARGEST).contains(&len)) {
            return Ok(false);
        }
    }
    let Some(sha) = sha else { return Ok(false) };
    // A byte more, so that a file that has grown meanwhile is seen to be another one.
    let most = usize::try_from(len).unwrap_or_default() + 1;
    Ok(medium.read_head(&full, most)?.is_none_or(|bytes| Digest::of(&[&bytes]) == sha))
}
