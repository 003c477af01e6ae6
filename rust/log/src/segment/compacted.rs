//! Compacted segments: the same frames, zstd-compressed as a whole.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use crate::medium::MediumFile;

/// What is decompressed at opening: enough for the first headers.
const HEAD: u64 = 64 << 10;
/// Up to this size the decompressed bytes stay in memory; beyond, they go to an unnamed temporary file.
const IN_MEMORY: usize = 32 << 20;
/// A segment that decompresses to more is refused: its stated size is not to be trusted.
const LARGEST: u64 = 16 << 30;
/// Largest back-reference distance accepted, as a power of two.
const WINDOW_LOG: u32 = 27;

/// A compacted segment; its whole is decompressed when something beyond its head is asked for.
#[derive(Debug)]
pub(super) struct Compacted {
    source: Box<dyn MediumFile>,
    head: Vec<u8>,
    plain: OnceLock<Result<Plain, String>>,
}

#[derive(Debug)]
enum Plain {
    Memory(Vec<u8>),
    Spilled(File, u64),
}

impl Compacted {
    pub(super) fn open(source: Box<dyn MediumFile>) -> io::Result<Self> {
        let mut head = Vec::new();
        decoder(source.as_ref())?.take(HEAD).read_to_end(&mut head)?;
        Ok(Self { source, head, plain: OnceLock::new() })
    }

    fn plain(&self) -> io::Result<&Plain> {
        let unpack = || unpack(self.source.as_ref()).map_err(|error| error.to_string());
        self.plain.get_or_init(unpack).as_ref().map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what.clone()))
    }
}

fn decoder(file: &dyn MediumFile) -> io::Result<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::new(Source { file, at: 0 })?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(decoder)
}

fn unpack(file: &dyn MediumFile) -> io::Result<Plain> {
    let mut decoder = decoder(file)?;
    let mut memory = Vec::new();
    let mut chunk = vec![0_u8; 1 << 20];
    let mut spill: Option<File> = None;
    let mut total = 0_u64;
    loop {
        let read = decoder.read(&mut chunk)?;
        let bytes = chunk.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        total += read as u64;
        if total > LARGEST {
            return Err(io::Error::other("it decompresses to more than 16 GiB"));
        }
        if let Some(file) = &mut spill {
            file.write_all(bytes)?;
        } else if memory.len() + read > IN_MEMORY {
            let mut file = tempfile::tempfile()?;
            file.write_all(&memory)?;
            file.write_all(bytes)?;
            memory = Vec::new();
            spill = Some(file);
        } else {
            memory.extend_from_slice(bytes);
        }
    }
    Ok(spill.map_or(Plain::Memory(memory), |file| Plain::Spilled(file, total)))
}

struct Source<'f> {
    file: &'f dyn MediumFile,
    at: u64,
}

impl Read for Source<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buf, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Copies what `bytes` has at `offset` into `buf`.
fn copy_at(bytes: &[u8], buf: &mut [u8], offset: u64) -> usize {
    let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    let available = bytes.get(from..).unwrap_or_default();
    let n = available.len().min(buf.len());
    for (to, from) in buf.iter_mut().zip(available) {
        *to = *from;
    }
    n
}

impl MediumFile for Compacted {
    fn len(&self) -> io::Result<u64> {
        Ok(match self.plain()? {
            Plain::Memory(bytes) => bytes.len() as u64,
            Plain::Spilled(_, len) => *len,
        })
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset.saturating_add(buf.len() as u64) <= self.head.len() as u64 {
            return Ok(copy_at(&self.head, buf, offset));
        }
        match self.plain()? {
            Plain::Memory(bytes) => Ok(copy_at(bytes, buf, offset)),
            Plain::Spilled(file, _) => FileExt::read_at(file, buf, offset),
        }
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
