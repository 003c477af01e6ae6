//! Every row of the store that upstream wrote decodes to what upstream says it means.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::fs;
use std::path::Path;

use cyberos_log::Digest;
use cyberos_log::format::frame::{HEADER, Header};
use cyberos_log::json::Value;
use cyberos_log::row::{Row, RowDraft, Touch};

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)).unwrap()
}

fn frames(log: &[u8]) -> Vec<(Header, &[u8])> {
    let mut rest = log;
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let header = Header::decode(rest).unwrap();
        frames.push((header, &rest[HEADER..header.frame_len()]));
        rest = &rest[header.frame_len()..];
    }
    frames
}

#[test]
fn every_row_equals_what_upstream_says() {
    let log = fixture("peer-store/audit/current.binlog");
    let expected = fixture("peer-store.expected.jsonl");
    let mut expected = expected.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut prev = Digest::ZERO;
    for (header, payload) in frames(&log) {
        let expected = Value::parse(expected.next().unwrap()).unwrap();
        let row = Row::parse(payload).unwrap();
        let text = |key: &str| expected.get(key).unwrap().as_str().unwrap();
        assert_eq!(row.payload(), payload);
        assert_eq!(row.actor(), text("actor"));
        assert_eq!(row.op(), text("op"));
        assert_eq!(row.path(), text("path"));
        assert_eq!(row.content_sha256(), text("content_sha256"));
        assert_eq!(row.chain().to_hex(), text("chain"));
        assert_eq!(row.prev_chain().to_hex(), text("prev_chain"));
        assert_eq!(Some(i128::from(row.ts_ns())), expected.get("ts_ns").unwrap().as_int());
        assert_eq!(Some(i128::from(header.seq)), expected.get("seq").unwrap().as_int());
        assert_eq!(&Value::parse(row.extra()).unwrap(), expected.get("extra").unwrap());
        assert_eq!(row.prev_chain(), prev);
        assert_eq!(row.ts_ns(), header.ts_ns);
        assert!(row.chain_is_right());
        prev = row.chain();
    }
    assert_eq!(expected.next(), None);
}

#[test]
fn every_row_is_sealed_to_the_same_bytes() {
    let log = fixture("peer-store/audit/current.binlog");
    let frames = frames(&log);
    assert_eq!(frames.len(), 424);
    for (_, payload) in frames {
        let row = Row::parse(payload).unwrap();
        let draft = RowDraft {
            op: row.op().into_owned(),
            path: row.path().into_owned(),
            actor: row.actor().into_owned(),
            content_sha256: row.content_sha256().into_owned(),
            extra: Value::parse(row.extra()).unwrap().as_object().unwrap().clone(),
            ts_ns: row.ts_ns(),
        };
        assert_eq!(draft.seal(&row.prev_chain()).unwrap(), (payload.to_vec(), row.chain()));
    }
}

#[test]
fn touches_name_every_path_of_the_row() {
    let log = fixture("peer-store/audit/current.binlog");
    let frames = frames(&log);
    let touches = |seq: usize| {
        let touches = Row::parse(frames[seq - 1].1).unwrap().touches();
        touches.map(|(path, touch)| (path.into_owned(), touch)).collect::<Vec<_>>()
    };
    let pair = |path: &str, touch| (path.to_owned(), touch);
    assert_eq!(touches(1), [pair("memories/facts/01/01/fact-001.md", Touch::Write)]);
    assert_eq!(touches(4), [pair("memories/facts/03/03/fact-003.md", Touch::Delete)]);
    assert_eq!(touches(6), [pair("memories/facts/02/04/fact-009.md", Touch::Annotation)]);
    let moved = [
        pair("memories/facts/02/04/fact-009.md", Touch::MoveFrom),
        pair("memories/facts/moved/fact-009-7.md", Touch::MoveTo),
    ];
    assert_eq!(touches(8), moved);
    let dream = [
        pair("memories/facts/05/02/fact-012.md", Touch::Annotation),
        pair("memories/facts/moved/fact-009-7.md", Touch::Annotation),
        pair("memories/facts/02/02/fact-002.md", Touch::Annotation),
    ];
    assert_eq!(touches(51), dream);
    assert_eq!(touches(54), []);
    let renamed =
        [pair("memories/facts/legacy-old.md", Touch::MoveFrom), pair("memories/facts/legacy-new.md", Touch::MoveTo)];
    assert_eq!(touches(423), renamed);
    assert_eq!(touches(424), [pair("memories/facts/legacy-new.md", Touch::Write)]);
}
