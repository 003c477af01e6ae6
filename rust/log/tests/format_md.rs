//! What `FORMAT.md` says is what the code does.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use cyberos_log::Digest;
use cyberos_log::format::{frame, peaks, tip, transcript, tree};
use cyberos_log::json::{MAX_DEPTH, scan};
use cyberos_log::row::{Row, RowDraft, Touch};

const FORMAT: &str = include_str!("../FORMAT.md");

/// The lines between the heading and the next one.
fn section(heading: &str) -> Vec<&'static str> {
    let mut lines = FORMAT.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "{heading}");
    lines.take_while(|line| !line.starts_with('#')).collect()
}

fn draft(op: &str, path: &str) -> RowDraft {
    RowDraft {
        op: op.to_owned(),
        path: path.to_owned(),
        actor: "ana".to_owned(),
        content_sha256: Digest::of(&[b"Prefers tea.\n"]).to_hex(),
        extra: [("kind".to_owned(), "fact".into())].into(),
        ts_ns: 1_796_052_528_421_854_288,
    }
}

#[test]
fn the_worked_example_holds() {
    let example = section("### Worked example");
    let mut payloads = example.into_iter().filter(|line| line.starts_with('{'));
    let (hashed, payload) = (payloads.next().unwrap(), payloads.next().unwrap());
    let chain = Digest::of(&[hashed.as_bytes(), &[0; 32]]);
    let row = Row::parse(payload.as_bytes()).unwrap();
    assert_eq!(row.chain(), chain);
    assert!(row.chain_is_right());
    assert_eq!(payload.replace(&chain.to_hex(), ""), hashed);
    let draft = draft("put", "memories/facts/zoë.md");
    assert_eq!(draft.seal(&Digest::ZERO).unwrap(), (payload.as_bytes().to_vec(), chain));
}

#[test]
fn the_keys_are_those_of_a_row() {
    let listed: Vec<_> = section("## Record")
        .into_iter()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(key, _)| format!("\"{key}\":"))
        .collect();
    assert_eq!(listed.len(), 8);
    let payload = String::from_utf8(draft("put", "a").seal(&Digest::ZERO).unwrap().0).unwrap();
    let places: Vec<_> = listed.iter().map(|key| payload.find(key.as_str()).unwrap()).collect();
    assert!(places.is_sorted(), "{listed:?}");
}

#[test]
fn the_codes_of_touches_are_those_of_the_code() {
    let codes: Vec<_> = section("### Touches")
        .into_iter()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ");
            Some((cells.next()?.parse::<u8>().ok()?, cells.next()?.replace(' ', "")))
        })
        .collect();
    let named = |code: u8| format!("{:?}", Touch::from_code(code).unwrap()).to_lowercase();
    assert_eq!(codes, [0, 1, 2, 3, 4].map(|code| (code, named(code))));
    assert_eq!(Touch::from_code(5), None);
}

#[test]
fn the_numbers_it_shows_are_canonical_and_the_depth_is_right() {
    let rules = section("### Canonical JSON").join(" ");
    let shown: Vec<_> = rules.split('`').skip(1).step_by(2).filter(|text| text.parse::<f64>().is_ok()).collect();
    assert!(shown.len() > 8, "{shown:?}");
    for number in shown {
        assert_eq!(scan::check(number.as_bytes()).is_ok(), number != "-0", "{number}");
    }
    assert!(rules.contains(&format!("nest at most {MAX_DEPTH} deep")));
}

/// The rows of a table of offsets below a heading: offset, size and name of each field.
fn fields(heading: &str) -> Vec<(usize, usize, &'static str)> {
    let cells = |line: &'static str| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        Some((cells.next()?.parse().ok()?, cells.next()?.parse().ok()?, cells.next()?))
    };
    section(heading).into_iter().filter_map(cells).collect()
}

/// Takes the fields out of `bytes` as the table says, as numbers; only those of up to eight bytes.
fn numbers(heading: &str, bytes: &[u8]) -> Vec<(&'static str, u64)> {
    let fields = fields(heading).into_iter().filter(|&(_, size, _)| size <= 8);
    let number = |at: usize, size: usize| bytes[at..at + size].iter().fold(0, |n, &byte| n << 8 | u64::from(byte));
    fields.map(|(at, size, name)| (name, number(at, size))).collect()
}

#[test]
fn the_offsets_of_a_frame_are_those_of_the_code() {
    let mut bytes = Vec::new();
    frame::encode(&mut bytes, 0x0102_0304, 0x0506_0708_090a, b"payload");
    let expected = [
        ("length", 7),
        ("crc", u64::from(crc32c::crc32c(b"payload"))),
        ("seq", 0x0102_0304),
        ("ts_ns", 0x0506_0708_090a),
    ];
    assert_eq!(numbers("## Frame", &bytes), expected);
    assert_eq!(&bytes[frame::HEADER..], b"payload");
    assert_eq!(frame::HEADER, 24);
}

#[test]
fn the_offsets_of_the_tip_are_those_of_the_code() {
    let chain = Digest([5; 32]);
    let tip = tip::Tip { generation: 1, seq: 2, segment: 3, offset: 4, chain, view_seq: 6, boot: 7, bodies: 8 };
    let slot = tip.encode();
    let magic = u64::from_be_bytes(*tip::MAGIC);
    let crc = u64::from(crc32c::crc32c(&slot[..508]));
    let expected = [
        ("magic", magic),
        ("generation", 1),
        ("seq", 2),
        ("segment", 3),
        ("offset", 4),
        ("view_seq", 6),
        ("boot", 7),
        ("bodies", 8),
        ("crc", crc),
    ];
    assert_eq!(numbers("## Tip", &slot), expected);
    assert_eq!(slot[40..72], [5; 32]);
}

#[test]
fn the_offsets_of_the_peaks_are_those_of_the_code() {
    let bytes = peaks::encode(4, &[(2, Digest([9; 32]))]);
    assert_eq!(numbers("## Merkle peaks", &bytes), [("leaves", 4), ("count", 1), ("height", 2)]);
    assert_eq!((&bytes[..21], &bytes[37..]), (&peaks::MAGIC[..], &[9; 32][..]));
}

#[test]
fn the_offsets_of_the_tree_are_those_of_the_code() {
    let mut bytes = Vec::new();
    tree::encode(&mut bytes, 3, &tree::Record { hash: Digest([1; 32]), mark: Digest([2; 32]) });
    let crc = crc32c::crc32c(&[&[1; 32][..], &[2; 32], &3_u64.to_be_bytes()].concat());
    assert_eq!(numbers("### Merkle tree: `index/tree/nodes`", &bytes), [("crc", u64::from(crc))]);
    assert_eq!((&bytes[..32], &bytes[32..64]), (&[1; 32][..], &[2; 32][..]));
}

#[test]
fn the_offsets_of_a_transcripts_marker_are_those_of_the_code() {
    let chain = Digest([7; 32]);
    let marker = transcript::Marker { length: 1, turns: 2, plain: 3, durable: 4, frame_crc: 5, chain };
    let bytes = marker.encode();
    let expected = [
        ("magic", 0x5c2a_4d18),
        ("size", u64::from(72_u32.swap_bytes())),
        ("length", 1),
        ("turns", 2),
        ("plain", 3),
        ("durable", 4),
        ("frame crc", 5),
        ("crc", u64::from(crc32c::crc32c(&bytes[..76]))),
    ];
    assert_eq!(numbers("## Transcripts: `sessions/<yyyy-mm-dd>/<id>.binlog.zst`", &bytes), expected);
    assert_eq!((&bytes[44..76], bytes.len()), (&[7; 32][..], transcript::MARKER));
    assert_eq!(transcript::Marker::decode(&bytes), Some(marker));
    let empty = transcript::EMPTY.map(|byte| format!("{byte:02x}")).concat();
    assert!(FORMAT.contains(&format!("`{empty}`")));
}
