//! Transcripts: no turn that was acknowledged is lost or changed unseen, whatever happens to the file.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use cyberos_log::format::transcript::FIRST;
use cyberos_log::medium::fake::{Fake, Fault, Op};
use cyberos_log::medium::{Medium, Open, SharedMedium};
use cyberos_log::transcript::{Content, Form, Sealed, TranscriptWriter, TurnDraft, TurnReader, create, erase, seal};
use cyberos_log::{Digest, LogError, Result};

const FOLDER: &str = "/store/sessions/2026-11-30";
const FILE: &str = "/store/sessions/2026-11-30/s.binlog.zst";
const SESSION: &str = "s";

fn path() -> &'static Path {
    Path::new(FILE)
}

fn first() -> Digest {
    Digest::of(&[b"the row that started it"])
}

fn shared(fake: &Fake) -> SharedMedium {
    Arc::new(fake.clone())
}

fn draft(n: u64) -> TurnDraft {
    let content =
        Content::Plain(format!("turn number {n} says {}", "something ".repeat(usize::try_from(n % 7).unwrap())));
    TurnDraft { role: "user".into(), content, ts_ns: 1_796_052_528_000_000_000 + n, redactions_applied: None }
}

fn open(fake: &Fake, acknowledged: u64) -> Result<TranscriptWriter> {
    TranscriptWriter::open(&shared(fake), path(), SESSION, first(), acknowledged)
}

/// Appends in pieces of these sizes.
fn filled(pieces: &[u64]) -> Fake {
    let fake = Fake::with_dir(FOLDER);
    create(&shared(&fake), path()).unwrap();
    let mut next = 0;
    for &piece in pieces {
        let drafts: Vec<_> = (next..next + piece).map(draft).collect();
        next += piece;
        assert_eq!(open(&fake, 0).unwrap().append(&drafts).unwrap(), next);
    }
    fake
}

fn holding(bytes: &[u8]) -> Fake {
    let fake = Fake::with_dir(FOLDER);
    let file = fake.open(path(), Open::Create).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    fake
}

fn bytes(fake: &Fake) -> Vec<u8> {
    fake.read(path()).unwrap().unwrap()
}

/// What is said in the whole turns, and what is wrong behind them.
fn read(fake: &Fake) -> (Vec<String>, Option<String>) {
    let mut reader = TurnReader::open(&shared(fake), path(), SESSION, first()).unwrap().unwrap();
    let mut said = Vec::new();
    while let Some(turn) = reader.next_turn().unwrap() {
        assert_eq!(turn.turn_seq, said.len() as u64);
        said.push(turn.turn.unwrap().content().unwrap().into_owned());
    }
    (said, reader.damage().map(str::to_owned))
}

fn said(count: u64) -> Vec<String> {
    let content = |n| match draft(n).content {
        Content::Plain(text) => text,
        Content::Sealed(_) => unreachable!(),
    };
    (0..count).map(content).collect()
}

fn sealed(fake: &Fake) -> Result<Sealed> {
    seal(&shared(fake), path(), SESSION, first(), 0)
}

#[test]
fn every_state_is_a_zstd_stream_of_the_turns_so_far() {
    let fake = Fake::with_dir(FOLDER);
    create(&shared(&fake), path()).unwrap();
    assert_eq!((zstd::decode_all(&bytes(&fake)[..]).unwrap(), bytes(&fake).len() as u64), (vec![], FIRST));
    let mut plain = Vec::new();
    for n in 0..5 {
        open(&fake, n).unwrap().append(&[draft(n)]).unwrap();
        let now = zstd::decode_all(&bytes(&fake)[..]).unwrap();
        assert!(now.len() > plain.len() && now.starts_with(&plain));
        plain = now;
        assert_eq!(read(&fake), (said(n + 1), None));
    }
    let done = sealed(&fake).unwrap();
    assert_eq!((done.turns, done.sha256), (5, Digest::of(&[&bytes(&fake)])));
    assert_eq!(zstd::decode_all(&bytes(&fake)[..]).unwrap(), plain);
    assert_eq!(zstd::zstd_safe::find_frame_compressed_size(&bytes(&fake)), Ok(bytes(&fake).len()));
    assert_eq!(zstd::zstd_safe::get_frame_content_size(&bytes(&fake)).unwrap(), Some(plain.len() as u64));
    assert_eq!(read(&fake), (said(5), None));
    assert_eq!(sealed(&fake).unwrap(), done, "sealing again finds it sealed");
}

#[test]
fn a_transcript_without_turns_is_sealed_too() {
    let fake = filled(&[]);
    assert_eq!(sealed(&fake).unwrap().turns, 0);
    assert_eq!(sealed(&fake).unwrap().chain, first());
    assert_eq!(read(&fake), (vec![], None));
}

#[test]
fn a_large_append_is_several_frames_with_one_sync() {
    let fake = filled(&[2]);
    let long = |n: u64| TurnDraft { content: Content::Plain(format!("{n}").repeat(200_000)), ..draft(n) };
    let before = fake.counts().syncs;
    let drafts: Vec<_> = (2..30).map(long).collect();
    assert_eq!(open(&fake, 2).unwrap().append(&drafts).unwrap(), 30);
    assert_eq!(fake.counts().syncs, before + 1);
    assert_eq!(open(&fake, 30).unwrap().append(&[draft(30)]).unwrap(), 31);
    let (found, damage) = read(&fake);
    assert_eq!((found.len(), damage), (31, None));
    assert_eq!(sealed(&fake).unwrap().turns, 31);
}

#[test]
fn cut_at_every_byte_it_is_cut_to_its_last_whole_append_and_goes_on() {
    let whole = bytes(&filled(&[1, 3, 1]));
    for end in 0..whole.len() {
        let fake = holding(&whole[..end]);
        let (found, _) = read(&fake);
        assert_eq!(found, said(found.len() as u64), "cut at {end}");
        let Ok(mut writer) = open(&fake, 0) else {
            assert!((end as u64) < FIRST, "cut at {end}");
            continue;
        };
        let turns = writer.turns();
        assert!([0, 1, 4].contains(&turns), "cut at {end}: {turns}");
        assert_eq!(turns, found.len() as u64, "readers show what a writer keeps");
        assert!(matches!(open(&fake, turns + 1), Err(LogError::Corrupt { .. })), "that one was acknowledged");
        assert_eq!(writer.append(&[draft(turns)]).unwrap(), turns + 1);
        assert_eq!(read(&fake), (said(turns + 1), None));
    }
}

#[test]
fn every_flipped_bit_is_noticed_or_changes_nothing() {
    let open_file = filled(&[2, 1]);
    let sealed_file = open_file.copy();
    sealed(&sealed_file).unwrap();
    for (whole, is_sealed) in [(bytes(&open_file), false), (bytes(&sealed_file), true)] {
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                let fake = holding(&flipped);
                let (found, damage) = read(&fake);
                assert_eq!(found, said(found.len() as u64), "byte {at} bit {bit}");
                let noticed = damage.is_some() || open(&fake, 3).is_err();
                assert!(found.len() == 3 || noticed, "byte {at} bit {bit}");
                if !is_sealed && found.len() < 3 {
                    assert!(seal(&shared(&fake), path(), SESSION, first(), 3).is_err(), "byte {at} bit {bit}");
                }
            }
        }
    }
}

#[test]
fn turns_of_another_session_place_or_chain_are_no_turns() {
    let other = Fake::with_dir(FOLDER);
    create(&shared(&other), path()).unwrap();
    TranscriptWriter::open(&shared(&other), path(), "other", first(), 0).unwrap().append(&[draft(0)]).unwrap();
    assert_eq!(read(&other).0.len(), 0);
    assert!(read(&other).1.unwrap().contains("another one"));
    let whole = bytes(&filled(&[1, 1]));
    let one = bytes(&filled(&[1])).len();
    let start = usize::try_from(FIRST).unwrap();
    let twice = [&whole[..one], &whole[start..one]].concat();
    let (found, damage) = read(&holding(&twice));
    assert!(found.len() <= 1 && (damage.is_some() || open(&holding(&twice), 2).is_err()));
    let fake = filled(&[2]);
    let reader = TurnReader::open(&shared(&fake), path(), SESSION, Digest::ZERO).unwrap();
    assert!(reader.unwrap().next_turn().unwrap().is_none(), "its start is another row");
}

#[test]
fn a_crash_at_any_sync_loses_no_acknowledged_turn() {
    for torn in [None, Some(1), Some(2), Some(3)] {
        for stop in 1.. {
            let fake = Fake::with_dir(FOLDER);
            fake.freeze_at(stop);
            let mut acknowledged = None;
            let work = |acknowledged: &mut Option<u64>| -> Result<()> {
                create(&shared(&fake), path())?;
                *acknowledged = Some(0);
                for piece in [1, 3, 1] {
                    let mut writer = open(&fake, 0)?;
                    let drafts: Vec<_> = (writer.turns()..writer.turns() + piece).map(draft).collect();
                    *acknowledged = Some(writer.append(&drafts)?);
                }
                sealed(&fake).map(drop)
            };
            let finished = work(&mut acknowledged).is_ok();
            let image = torn.map_or_else(|| fake.crash_image(), |seed| fake.crash_image_with(seed));
            if let Some(known) = acknowledged {
                let (found, damage) = read(&image);
                assert!(found.len() as u64 >= known, "stopped at {stop}: {} of {known}", found.len());
                assert_eq!((found.clone(), damage), (said(found.len() as u64), None));
                assert_eq!(seal(&shared(&image), path(), SESSION, first(), known).unwrap().turns, found.len() as u64);
            }
            if finished {
                assert!(stop > 6);
                break;
            }
        }
    }
}

#[test]
fn a_full_disk_leaves_what_was_there_and_the_next_append_succeeds() {
    let fake = filled(&[2]);
    let before = bytes(&fake);
    let mut writer = open(&fake, 2).unwrap();
    fake.write_short(7);
    fake.fail(Fault::nth(Op::Write, 2).kind(std::io::ErrorKind::StorageFull));
    assert!(matches!(writer.append(&[draft(2)]), Err(LogError::Io { .. })));
    fake.clear_faults();
    assert_eq!(bytes(&fake), before);
    assert_eq!(writer.append(&[draft(2)]).unwrap(), 3);
    assert_eq!(read(&fake), (said(3), None));
}

#[test]
fn a_failed_sync_stops_the_writer() {
    let fake = filled(&[1]);
    let mut writer = open(&fake, 1).unwrap();
    fake.fail(Fault::nth(Op::Sync, 1));
    assert!(matches!(writer.append(&[draft(1)]), Err(LogError::Io { .. })));
    fake.clear_faults();
    assert!(matches!(writer.append(&[draft(1)]), Err(LogError::Poisoned(_))));
    assert!(open(&fake, 1).unwrap().turns() >= 1);
}

#[test]
fn bombs_are_damage_at_their_first_byte() {
    let zeros = zstd::encode_all(std::io::repeat(0).take(256 << 20), 3).unwrap();
    let mut head = vec![0x00, 0xff, 0xff, 0xff];
    head.resize(24, 0);
    head.resize(24 + (1 << 20), b'{');
    let claims = zstd::encode_all(&head[..], 3).unwrap();
    for bomb in [zeros, claims, b"no zstd".to_vec(), Vec::new(), vec![0x28, 0xb5, 0x2f, 0xfd]] {
        let (found, damage) = read(&holding(&bomb));
        assert!(found.is_empty() && damage.is_some(), "{} bytes", bomb.len());
    }
}

#[test]
fn erasing_leaves_no_byte_of_it_and_a_crash_the_one_or_the_other() {
    let fake = filled(&[3]);
    sealed(&fake).unwrap();
    let before = bytes(&fake);
    for stop in 1.. {
        let image = fake.copy();
        image.freeze_at(stop);
        let erased = erase(&shared(&image), path(), b"{}");
        let after = image.crash_image();
        let found = bytes(&after);
        assert!(found == before || found == b"{}", "stopped at {stop}");
        if let Ok(count) = erased {
            assert_eq!((count, found.as_slice()), (before.len() as u64, &b"{}"[..]));
            assert_eq!(after.list(Path::new(FOLDER)).unwrap(), ["s.binlog.zst"]);
            let reader = TurnReader::open(&shared(&after), path(), SESSION, first()).unwrap().unwrap();
            assert_eq!(reader.form(), Form::Tombstone);
            break;
        }
        assert!(erase(&shared(&after), path(), b"{}").is_ok(), "and again");
    }
}
