//! What the hardware allows, for the same files: `floors FOLDER ROUNDS` reads every segment in a store's audit folder on one thread
//! (pread into one buffer, checksum of each frame, a search for a path that is not there) and hashes as many bytes.
//!
//! Prints one JSON object: rows, bytes, the seconds of each scan, and SHA-256 bytes per second of each round.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use cyberos_log::Digest;
use cyberos_log::format::frame::{HEADER, Header};
use memchr::memmem::Finder;

const CHUNK: usize = 1 << 20;
const HASHED: usize = 64 << 20;
const NEVER: &[u8] = b"memories/facts/never-was.md";

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let folder = args.next().ok_or("which folder?")?;
    let rounds: usize = args.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(5);
    let mut found = (0, 0);
    let mut scans = Vec::new();
    let mut hashes = Vec::new();
    let noise: Vec<u8> = (0..HASHED).map(|at| at.to_le_bytes()[0]).collect();
    for _ in 0..rounds {
        let start = Instant::now();
        found = scan(Path::new(&folder))?;
        scans.push(format!("{:.6}", start.elapsed().as_secs_f64()));
        let start = Instant::now();
        std::hint::black_box(Digest::of(&[&noise]));
        hashes.push(format!("{:.0}", 64.0 * 1_048_576.0 / start.elapsed().as_secs_f64()));
    }
    let (rows, bytes) = found;
    let (scans, hashes) = (scans.join(", "), hashes.join(", "));
    let json =
        format!(r#"{{"rows": {rows}, "bytes": {bytes}, "scan_s": [{scans}], "sha256_bytes_per_s": [{hashes}]}}"#);
    writeln!(std::io::stdout(), "{json}")?;
    Ok(())
}

/// Returns the rows and bytes of all segments that are not compacted.
fn scan(folder: &Path) -> Result<(u64, u64), Box<dyn Error>> {
    let finder = Finder::new(NEVER);
    let (mut rows, mut bytes) = (0, 0);
    let mut buf = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "binlog") {
            continue;
        }
        let file = File::open(&path)?;
        let mut offset = 0;
        loop {
            buf.resize(CHUNK, 0);
            let read = file.read_at(&mut buf, offset)?;
            let mut rest = buf.get(..read).unwrap_or_default();
            while let Some(header) = Header::decode(rest).filter(|header| header.frame_len() <= rest.len()) {
                let (frame, next) = rest.split_at(header.frame_len());
                let payload = frame.get(HEADER..).unwrap_or_default();
                if crc32c::crc32c(payload) != header.crc || finder.find(payload).is_some() {
                    return Err(format!("row {} of {} is not as expected", header.seq, path.display()).into());
                }
                rows += 1;
                rest = next;
            }
            let used = read - rest.len();
            if used == 0 {
                break;
            }
            offset += used as u64;
            bytes += used as u64;
        }
    }
    Ok((rows, bytes))
}
