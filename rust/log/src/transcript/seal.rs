//! Sealing a transcript: one zstd frame with a checksum, read-only, in place of the open file.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::reader::{Form, TurnReader};
use crate::error::{LogError, Result};
use crate::format::frame;
use crate::hash::{Digest, Hasher};
use crate::medium::{MediumFile, Open, SharedMedium};

/// Level 3 packs conversations 9 % smaller and takes half as long again.
const LEVEL: i32 = 1;
/// Turns go from one thread to the other in pieces of this many bytes or more,
const PIECE: usize = 256 << 10;
/// of which so many wait at most.
const PIECES: usize = 2;
/// Nobody writes to a sealed transcript.
const SEALED_MODE: u32 = 0o400;

/// A sealed transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// SHA-256 of the file.
    pub sha256: Digest,
    /// Number of turns.
    pub turns: u64,
    /// `chain` of the last turn; without one, of the row that started the session.
    pub chain: Digest,
    /// Length of the file.
    pub bytes: u64,
}

/// Seals the transcript of a session that the row with chain `first` started. One that is sealed already is read through
/// and hashed, as is upstream's, which stays as it is. Damage, or fewer turns than `acknowledged`, is [`LogError::Corrupt`].
pub fn seal(medium: &SharedMedium, path: &Path, session_id: &str, first: Digest, acknowledged: u64) -> Result<Sealed> {
    let missing = || LogError::corrupt(path.to_string_lossy(), 0, None, "the transcript is gone");
    let mut turns = TurnReader::open(medium, path, session_id, first)?.ok_or_else(missing)?;
    if turns.form() == Form::Open {
        return write(medium, path, &mut turns, acknowledged);
    }
    while turns.next_turn()?.is_some() {}
    check(path, &turns, acknowledged)?;
    let (sha256, bytes) = hash(medium, path)?;
    Ok(Sealed { sha256, turns: turns.turns(), chain: turns.chain(), bytes })
}

fn check(path: &Path, turns: &TurnReader, acknowledged: u64) -> Result<()> {
    let what = match turns.damage() {
        Some(what) => what.to_owned(),
        None if turns.turns() < acknowledged => {
            format!("{acknowledged} turns were acknowledged and only {} are left", turns.turns())
        }
        None => return Ok(()),
    };
    Err(LogError::corrupt(path.to_string_lossy(), turns.plain(), None, what))
}

/// The name under which something is made that will replace a file.
pub(super) fn temporary(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tmp");
    PathBuf::from(name)
}

fn write(medium: &SharedMedium, path: &Path, turns: &mut TurnReader, acknowledged: u64) -> Result<Sealed> {
    let made = temporary(path);
    // What a crash left may be read-only.
    medium.remove(&made).map_err(LogError::io("remove", &made))?;
    let sealed = replace(medium, path, &made, turns, acknowledged);
    if sealed.is_err() {
        // On a full disk it takes the room that others need. What cannot be removed either is removed before the next try.
        medium.remove(&made).ok();
    }
    sealed
}

fn replace(
    medium: &SharedMedium,
    path: &Path,
    made: &Path,
    turns: &mut TurnReader,
    acknowledged: u64,
) -> Result<Sealed> {
    let file = medium.open(made, Open::CreateNew).map_err(LogError::io("create", made))?;
    let output = Output { file, at: 0, hasher: Hasher::default() };
    let size = turns.promised_plain();
    // Reading and checking on one thread, compressing on another: both take about as long.
    let (pieces, arriving) = sync_channel(PIECES);
    let written = std::thread::scope(|scope| {
        let packing = scope.spawn(move || pack(output, size, &arriving));
        let read = hand_over(turns, &pieces);
        drop(pieces);
        let packed = packing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if read? {
            // Damage is told as what it is, not as what packing makes of too few turns.
            check(path, turns, acknowledged)?;
        }
        packed.map_err(LogError::io("write", made))
    });
    let Output { file, at: bytes, hasher } = written?;
    file.sync().map_err(LogError::io("sync", made))?;
    medium.set_mode(made, SEALED_MODE).map_err(LogError::io("protect", made))?;
    medium.rename(made, path).map_err(LogError::io("rename", made))?;
    sync_folder(medium, path)?;
    Ok(Sealed { sha256: hasher.finish(), turns: turns.turns(), chain: turns.chain(), bytes })
}

/// Sends the frames of all turns, many at once; returns whether somebody took them all.
fn hand_over(turns: &mut TurnReader, pieces: &SyncSender<Vec<u8>>) -> Result<bool> {
    let mut piece = Vec::new();
    while let Some(turn) = turns.next_turn()? {
        frame::encode_header(&mut piece, turn.turn_seq, turn.ts_ns, turn.payload);
        piece.extend_from_slice(turn.payload);
        if piece.len() >= PIECE && pieces.send(std::mem::take(&mut piece)).is_err() {
            return Ok(false);
        }
    }
    Ok(pieces.send(piece).is_ok())
}

/// Compresses what arrives into one zstd frame.
fn pack(mut output: Output, size: Option<u64>, arriving: &Receiver<Vec<u8>>) -> io::Result<Output> {
    let mut encoder = zstd::stream::write::Encoder::new(&mut output, LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(size)?;
    for piece in arriving {
        encoder.write_all(&piece)?;
    }
    encoder.finish()?;
    Ok(output)
}

pub(super) fn sync_folder(medium: &SharedMedium, path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    medium.sync_dir(folder).map_err(LogError::io("sync", folder))
}

/// Returns the SHA-256 of a file and its length.
fn hash(medium: &SharedMedium, path: &Path) -> Result<(Digest, u64)> {
    let file = medium.open(path, Open::Read).map_err(LogError::io("open", path))?;
    let (mut hasher, mut at, mut buf) = (Hasher::default(), 0, vec![0; 256 << 10]);
    loop {
        let read = file.read_full_at(&mut buf, at).map_err(LogError::io("read", path))?;
        hasher.update(buf.get(..read).unwrap_or_default());
        at += read as u64;
        if read == 0 {
            return Ok((hasher.finish(), at));
        }
    }
}

/// A file that is written from its start, and hashed on the way.
struct Output {
    file: Box<dyn MediumFile>,
    at: u64,
    hasher: Hasher,
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(buf, self.at)?;
        self.hasher.update(buf);
        self.at += buf.len() as u64;
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
