//! Compacted segments: the same frames, zstd-compressed as a whole, in one zstd frame or several.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::medium::MediumFile;

/// What is decompressed at opening: enough for the first headers.
const HEAD: u64 = 64 << 10;
/// Decompressing stops here, and at [`RATIO`] times the compressed size: what a frame states is not to be trusted.
const LARGEST: u64 = 16 << 30;
/// Rows full of digests shrink to a fifth at best, those without to a fiftieth.
const RATIO: u64 = 1000;
/// Largest back-reference distance accepted, as a power of two.
const WINDOW_LOG: u32 = 27;

/// Memory left for decompressed segments; what does not fit lies in unnamed temporary files.
#[derive(Debug)]
pub struct Budget(AtomicUsize);

impl Default for Budget {
    fn default() -> Self {
        Self::of(32 << 20)
    }
}

impl Budget {
    pub const fn of(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A compacted segment; its whole is decompressed when something beyond its head is asked for.
///
/// Where the compressed bytes are damaged, what comes out before the damage is the segment's content.
#[derive(Debug)]
pub struct Compacted {
    source: Box<dyn MediumFile>,
    budget: Arc<Budget>,
    head: Vec<u8>,
    whole: OnceLock<Result<Whole, (io::ErrorKind, String)>>,
}

#[derive(Debug)]
struct Whole {
    content: Content,
    fault: Option<String>,
}

#[derive(Debug)]
enum Content {
    Memory(Vec<u8>),
    Spilled(File, u64),
}

impl Compacted {
    /// Decompresses the first bytes. An error is the medium's; damage shows as [`Self::fault`].
    pub fn open(source: Box<dyn MediumFile>, budget: Arc<Budget>) -> io::Result<Self> {
        let mut head = Vec::new();
        read_through(source.as_ref(), |decoder| decoder.take(HEAD).read_to_end(&mut head).map(drop))?;
        Ok(Self { source, budget, head, whole: OnceLock::new() })
    }

    /// What is wrong with the compressed bytes, if anything.
    pub fn fault(&self) -> io::Result<Option<&str>> {
        Ok(self.whole()?.fault.as_deref())
    }

    pub fn len(&self) -> io::Result<u64> {
        Ok(match &self.whole()?.content {
            Content::Memory(bytes) => bytes.len() as u64,
            Content::Spilled(_, len) => *len,
        })
    }

    pub fn read_full_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset.saturating_add(buf.len() as u64) <= self.head.len() as u64 {
            return Ok(copy_at(&self.head, buf, offset));
        }
        match &self.whole()?.content {
            Content::Memory(bytes) => Ok(copy_at(bytes, buf, offset)),
            Content::Spilled(file, _) => {
                let mut done = 0;
                while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
                    match FileExt::read_at(file, rest, offset + done as u64)? {
                        0 => break,
                        n => done += n,
                    }
                }
                Ok(done)
            }
        }
    }

    fn whole(&self) -> io::Result<&Whole> {
        let unpack = || self.unpack().map_err(|error| (error.kind(), error.to_string()));
        let whole = self.whole.get_or_init(unpack);
        whole.as_ref().map_err(|(kind, what)| io::Error::new(*kind, what.clone()))
    }

    fn unpack(&self) -> io::Result<Whole> {
        let mut memory = Vec::new();
        let mut spill: Option<File> = None;
        let mut total = 0_u64;
        let mut spilling = Ok(());
        let most = LARGEST.min(self.source.len()?.saturating_mul(RATIO).saturating_add(HEAD));
        let mut chunk = vec![0_u8; 1 << 20];
        let fault = read_through(self.source.as_ref(), |decoder| {
            loop {
                let read = decoder.read(&mut chunk)?;
                let bytes = chunk.get(..read).unwrap_or_default();
                if bytes.is_empty() {
                    return Ok(());
                }
                if total + read as u64 > most {
                    return Err(io::Error::other("it decompresses to more than its size allows"));
                }
                total += read as u64;
                if spill.is_none() && self.budget.take(read) {
                    memory.extend_from_slice(bytes);
                    continue;
                }
                spilling = write_spilled(&mut spill, &mut memory, bytes, &self.budget);
                if spilling.is_err() {
                    return Ok(());
                }
            }
        })?;
        spilling?;
        let content = spill.map_or(Content::Memory(memory), |file| Content::Spilled(file, total));
        Ok(Whole { content, fault })
    }
}

impl Drop for Compacted {
    fn drop(&mut self) {
        if let Some(Ok(Whole { content: Content::Memory(bytes), .. })) = self.whole.get() {
            self.budget.give_back(bytes.len());
        }
    }
}

/// Appends `bytes` to the temporary file, which begins with what was in memory.
fn write_spilled(spill: &mut Option<File>, memory: &mut Vec<u8>, bytes: &[u8], budget: &Budget) -> io::Result<()> {
    if spill.is_none() {
        let mut file = tempfile::tempfile()?;
        file.write_all(memory)?;
        budget.give_back(memory.len());
        *memory = Vec::new();
        *spill = Some(file);
    }
    spill.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
}

/// Calls `read` with a decoder. An error is the medium's; what else `read` fails with is returned as a fault.
fn read_through(
    file: &dyn MediumFile,
    read: impl FnOnce(&mut dyn Read) -> io::Result<()>,
) -> io::Result<Option<String>> {
    let failed = Cell::new(false);
    let decode = || {
        let mut decoder = zstd::stream::read::Decoder::new(Source { file, at: 0, failed: &failed })?;
        decoder.window_log_max(WINDOW_LOG)?;
        read(&mut decoder)
    };
    match decode() {
        Ok(()) => Ok(None),
        Err(error) if failed.get() => Err(error),
        Err(error) => Ok(Some(format!("the compressed segment cannot be read on: {error}"))),
    }
}

struct Source<'f> {
    file: &'f dyn MediumFile,
    at: u64,
    failed: &'f Cell<bool>,
}

impl Read for Source<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_full_at(buf, self.at).inspect_err(|_| self.failed.set(true))?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Copies what `bytes` has at `offset` into `buf`.
fn copy_at(bytes: &[u8], buf: &mut [u8], offset: u64) -> usize {
    let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let available = bytes.get(from..).unwrap_or_default();
    let n = available.len().min(buf.len());
    if let (Some(to), Some(from)) = (buf.get_mut(..n), available.get(..n)) {
        to.copy_from_slice(from);
    }
    n
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::medium::fake::Fake;
    use crate::medium::{Medium, Open};

    fn compacted(bytes: &[u8], budget: &Arc<Budget>) -> Compacted {
        let fake = Fake::with_dir("/");
        let file = fake.open(Path::new("/x"), Open::Create).unwrap();
        file.write_all_at(bytes, 0).unwrap();
        Compacted::open(file, Arc::clone(budget)).unwrap()
    }

    fn content(len: usize) -> Vec<u8> {
        (0..len as u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as u8).collect()
    }

    fn read_all(segment: &Compacted) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(segment.len().unwrap()).unwrap() + 10];
        let read = segment.read_full_at(&mut bytes, 0).unwrap();
        bytes.truncate(read);
        bytes
    }

    #[test]
    fn one_frame_and_several_read_alike_in_memory_and_spilled() {
        let plain = content(3 << 20);
        let one = zstd::encode_all(plain.as_slice(), 1).unwrap();
        let several: Vec<u8> = plain.chunks(1 << 19).flat_map(|part| zstd::encode_all(part, 1).unwrap()).collect();
        for packed in [&one, &several] {
            for budget in [0, 1 << 20, 64 << 20] {
                let budget = Arc::new(Budget::of(budget));
                let before = budget.0.load(Ordering::Relaxed);
                let segment = compacted(packed, &budget);
                assert_eq!(segment.fault().unwrap(), None);
                assert_eq!(segment.len().unwrap(), plain.len() as u64);
                assert!(read_all(&segment) == plain);
                let mut piece = [0; 100];
                assert_eq!(segment.read_full_at(&mut piece, 2_000_000).unwrap(), 100);
                assert_eq!(piece, plain[2_000_000..2_000_100]);
                assert_eq!(segment.read_full_at(&mut piece, plain.len() as u64 - 3).unwrap(), 3);
                drop(segment);
                assert_eq!(budget.0.load(Ordering::Relaxed), before, "the memory is given back");
            }
        }
    }

    #[test]
    fn segments_share_their_memory() {
        let packed = zstd::encode_all(content(600_000).as_slice(), 1).unwrap();
        let budget = Arc::new(Budget::of(1_000_000));
        let (first, second) = (compacted(&packed, &budget), compacted(&packed, &budget));
        assert!(read_all(&first) == read_all(&second));
        assert!(matches!(first.whole().unwrap().content, Content::Memory(_)));
        assert!(matches!(second.whole().unwrap().content, Content::Spilled(..)));
    }

    #[test]
    fn what_comes_out_before_damage_is_read() {
        let plain = content(3 << 20);
        let parts: Vec<_> = plain.chunks(1 << 20).map(|part| zstd::encode_all(part, 1).unwrap()).collect();
        let mut packed = parts.concat();
        packed[parts[0].len()] ^= 1;
        let segment = compacted(&packed, &Arc::default());
        assert!(segment.fault().unwrap().is_some());
        assert!(read_all(&segment) == plain[..1 << 20]);
        packed.truncate(parts[0].len() / 2);
        let segment = compacted(&packed, &Arc::default());
        assert!(segment.fault().unwrap().is_some());
        assert!(plain.starts_with(&read_all(&segment)));
        assert!(compacted(b"no zstd at all", &Arc::default()).fault().unwrap().is_some());
        let zeros = zstd::encode_all(vec![0; 32 << 20].as_slice(), 1).unwrap();
        assert!(compacted(&zeros, &Arc::default()).fault().unwrap().is_some(), "a bomb");
    }
}
