//! Appending to an open transcript. The caller keeps others from doing the same.

use std::path::{Path, PathBuf};

use super::ending::Ending;
use super::turn::TurnDraft;
use crate::error::{LogError, Result};
use crate::format::frame;
use crate::format::transcript::{EMPTY, Marker};
use crate::hash::Digest;
use crate::medium::{MediumFile, Open, SharedMedium};

/// A zstd frame takes turns until it holds this much: enough to compress well, little enough to be read in pieces.
const FRAME: usize = 1 << 20;
/// An open transcript is compressed while somebody waits.
const LEVEL: i32 = 1;

/// An open transcript.
#[derive(Debug)]
pub struct TranscriptWriter {
    file: Box<dyn MediumFile>,
    path: PathBuf,
    session_id: String,
    end: u64,
    last: Marker,
    /// Bytes of an append that was cut short, which opening has taken away.
    dropped: u64,
    poisoned: Option<String>,
}

/// Makes a transcript without turns; its folder exists. Another file there is an error.
pub fn create(medium: &SharedMedium, path: &Path) -> Result<()> {
    let file = medium.open(path, Open::CreateNew).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => LogError::Exists(path.to_string_lossy().into_owned()),
        _ => LogError::io("create", path)(error),
    })?;
    let start = [&EMPTY[..], &Marker::NONE.encode()].concat();
    file.write_all_at(&start, 0).and_then(|()| file.sync()).map_err(LogError::io("write", path))?;
    let folder = path.parent().unwrap_or(path);
    medium.sync_dir(folder).map_err(LogError::io("sync", folder))
}

impl TranscriptWriter {
    /// Opens an open transcript whose session was started by the row with chain `first`, and takes away what a crash left
    /// behind its last whole append. At least `acknowledged` turns must be there, or the file is damaged.
    pub fn open(
        medium: &SharedMedium,
        path: &Path,
        session_id: &str,
        first: Digest,
        acknowledged: u64,
    ) -> Result<Self> {
        let file = medium.open(path, Open::Write).map_err(LogError::io("open", path))?;
        let name = path.to_string_lossy();
        let ending = Ending::find(file.as_ref()).map_err(LogError::io("read", path))?;
        let Ending { end, mut marker, torn } =
            ending.ok_or_else(|| LogError::corrupt(name.as_ref(), 0, None, "it is not an open transcript"))?;
        if marker.turns < acknowledged {
            let what = format!("{acknowledged} turns were acknowledged and only {} are left", marker.turns);
            return Err(LogError::corrupt(name.as_ref(), end, None, what));
        }
        if torn > 0 {
            file.set_len(end).and_then(|()| file.sync()).map_err(LogError::io("truncate", path))?;
        }
        if marker.turns == 0 {
            marker.chain = first;
        }
        let (path, session_id) = (path.to_path_buf(), session_id.to_owned());
        Ok(Self { file, path, session_id, end, last: marker, dropped: torn, poisoned: None })
    }

    /// Number of turns that are there.
    pub const fn turns(&self) -> u64 {
        self.last.turns
    }

    /// Bytes that opening has taken away.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Appends turns, all or none, and syncs once; returns how many there are then.
    ///
    /// After a failed write the file is cut back to what it was; after a failed sync nothing more is written.
    pub fn append(&mut self, drafts: &[TurnDraft]) -> Result<u64> {
        if let Some(why) = &self.poisoned {
            return Err(LogError::Poisoned(why.clone()));
        }
        let (bytes, last) = self.encode(drafts)?;
        if bytes.is_empty() {
            return Ok(self.last.turns);
        }
        if let Err(error) = self.file.write_all_at(&bytes, self.end) {
            // What is left of it is taken away by whoever opens the file next, if not now.
            drop(self.file.set_len(self.end));
            return Err(LogError::io("write", &self.path)(error));
        }
        if let Err(error) = self.file.sync() {
            self.poisoned = Some(error.to_string());
            return Err(LogError::io("sync", &self.path)(error));
        }
        self.end += bytes.len() as u64;
        self.last = last;
        Ok(last.turns)
    }

    fn encode(&self, drafts: &[TurnDraft]) -> Result<(Vec<u8>, Marker)> {
        let (mut bytes, mut plain, mut marker) = (Vec::new(), Vec::new(), Marker { durable: self.end, ..self.last });
        for draft in drafts {
            let (payload, chain) = draft.seal(&self.session_id, marker.turns, &marker.chain)?;
            frame::encode(&mut plain, marker.turns, draft.ts_ns, &payload);
            marker = Marker { turns: marker.turns + 1, chain, ..marker };
            if plain.len() >= FRAME {
                marker = flush(&mut bytes, &mut plain, marker)?;
            }
        }
        if !plain.is_empty() {
            marker = flush(&mut bytes, &mut plain, marker)?;
        }
        Ok((bytes, marker))
    }
}

/// Moves `plain` into a zstd frame with its marker.
fn flush(bytes: &mut Vec<u8>, plain: &mut Vec<u8>, marker: Marker) -> Result<Marker> {
    let packed = zstd::bulk::compress(plain, LEVEL)
        .map_err(|error| LogError::Invalid(format!("cannot compress turns: {error}")))?;
    let marker = Marker {
        length: packed.len() as u64,
        plain: marker.plain + plain.len() as u64,
        frame_crc: crc32c::crc32c(&packed),
        ..marker
    };
    bytes.extend_from_slice(&packed);
    bytes.extend_from_slice(&marker.encode());
    plain.clear();
    Ok(marker)
}
