//! Seeded bytes through the fuzz targets: no panic, no hang, no memory beyond what the bytes themselves justify.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod arbitrary;
mod common;

use common::{Files, Random, Sample, check, install, open_reader, scan};
use cyberos_log::format::frame::{self, HEADER};

/// More than the largest frame takes, several times over, and far less than any length field can say.
const MOST_MEMORY_KB: u64 = 300 << 10;

/// The most memory that this process ever held, in KiB; 0 where the system does not say.
fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

fn noise(random: &mut Random, most: u64) -> Vec<u8> {
    let mask = [0xff, 0x81, 0x01, 0x7f][usize::try_from(random.below(4)).unwrap()];
    (0..random.below(most)).map(|_| random.next().to_le_bytes()[0] & mask).collect()
}

/// Damages whole frames in the ways that arithmetic on lengths and numbers might not survive.
fn mutated(random: &mut Random, sample: &Sample) -> Vec<u8> {
    const NUMBERS: [u64; 12] =
        [0, 1, 2, 255, 1 << 24, (1 << 24) - 1, 1 << 31, u32::MAX as u64, 1 << 56, (1 << 56) - 1, 1 << 63, u64::MAX];
    let mut log = sample.log.clone();
    for _ in 0..=random.below(4) {
        let place = |random: &mut Random, log: &[u8]| usize::try_from(random.below(log.len() as u64 + 1)).unwrap();
        let row = usize::try_from(random.below(sample.rows.len() as u64)).unwrap();
        let at = sample.ends[row];
        let number = NUMBERS[usize::try_from(random.below(12)).unwrap()];
        match random.below(7) {
            0 => log.truncate(place(random, &log)),
            1 => {
                let (from, to) = (place(random, &log), place(random, &log));
                let piece = log[from.min(to)..from.max(to)].to_vec();
                let at = place(random, &log);
                log.splice(at..at, piece);
            }
            2 => {
                let (from, to) = (place(random, &log), place(random, &log));
                log.drain(from.min(to)..from.max(to));
            }
            3 if log.len() > at + HEADER => log[at..at + 4].copy_from_slice(&number.to_be_bytes()[4..]),
            4 if log.len() > at + HEADER => log[at + 8..at + 16].copy_from_slice(&number.to_be_bytes()),
            5 => frame::encode(&mut log, number, random.next(), &noise(random, 300)),
            _ => {
                let at = place(random, &log);
                log.splice(at..at, noise(random, 60));
            }
        }
    }
    log
}

#[test]
fn noise_as_every_file() {
    let mut random = Random(1);
    for _ in 0..1_500 {
        let data = noise(&mut random, 4_000);
        arbitrary::log(&data);
        arbitrary::segment(&data);
        arbitrary::peaks(&data);
        arbitrary::peaks(&[b"CYBEROS-MMR-PEAKS-v1\n", &data[..]].concat());
    }
    assert!(peak_memory_kb() < MOST_MEMORY_KB);
}

#[test]
fn damaged_logs_with_their_tip() {
    let sample = Sample::new(7);
    let mut random = Random(2);
    for round in 0..1_500_usize {
        let (first, second) = (mutated(&mut random, &sample), mutated(&mut random, &sample));
        let tip = &sample.tips[round % sample.tips.len()];
        let name = ["2026-01_01.binlog", "2026-01_01.binlog.zst"][round % 2];
        let sealed = if round % 2 == 0 { first } else { zstd::encode_all(first.as_slice(), 1).unwrap() };
        let sealed = if round % 3 == 0 { &sealed[..] } else { &[] };
        let tip = if round % 5 == 0 { &[][..] } else { tip };
        arbitrary::files(&[("tip", tip), (name, sealed), ("current.binlog", &second)]);
    }
    assert!(peak_memory_kb() < MOST_MEMORY_KB);
}

/// Bytes that look like the start of a frame everywhere, each reaching over all that follow.
#[test]
fn looking_for_frames_takes_linear_time() {
    let mut log = Vec::new();
    while log.len() < 3 << 20 {
        let length = u32::try_from((3 << 20) - log.len()).unwrap();
        log.extend_from_slice(&length.to_be_bytes());
        log.extend_from_slice(&[1; 4]);
        log.extend_from_slice(&7_u64.to_be_bytes());
        log.extend_from_slice(&7_u64.to_be_bytes());
        log.extend_from_slice(br#"{"actor":"#);
    }
    let fake = install(&Files::from([("current.binlog".into(), log.clone())]));
    let reader = open_reader(&fake).unwrap();
    assert!(scan(&reader).unwrap().0.is_empty());
    check(&reader);
    let counts = fake.counts();
    assert!(counts.bytes_read < 12 * log.len() as u64, "{counts:?}");
    assert!(counts.reads < 1_000, "{counts:?}");
}

/// A header that promises much over a file that holds little, and a compressed segment that promises more.
#[test]
fn promises_cost_nothing() {
    let mut log = Vec::new();
    for _ in 0..2_000 {
        log.extend_from_slice(&0x00ff_ffff_u32.to_be_bytes());
        log.extend_from_slice(&[0; 3]);
    }
    arbitrary::segment(&log);
    // A zstd frame header with a window of 128 MiB and a stated size of 2^62 bytes, and no blocks.
    let promise = [&[0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x88][..], &(1_u64 << 62).to_le_bytes()].concat();
    arbitrary::files(&[("2026-01_01.binlog.zst", &promise)]);
    let bomb = zstd::encode_all(std::io::Read::take(std::io::repeat(0), 64 << 20), 1).unwrap();
    arbitrary::files(&[("2026-01_01.binlog.zst", &bomb)]);
    assert!(peak_memory_kb() < MOST_MEMORY_KB, "{}", peak_memory_kb());
}
