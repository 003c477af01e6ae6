//! What must hold for any bytes. Run by `fuzz_targets.rs` as plain tests and by `rust/log/fuzz` under libFuzzer.

use cyberos_log::json::{Value, scan};
use cyberos_log::row::{Row, RowDraft};

/// Both readers of JSON agree on which texts are canonical, and what one reads the writer writes.
pub fn json(bytes: &[u8]) {
    let canonical = Value::parse(bytes).and_then(|value| value.to_canonical());
    assert_eq!(scan::check(bytes).is_ok(), canonical.as_deref() == Ok(bytes));
    if let Ok(canonical) = canonical {
        assert_eq!(scan::check(&canonical), Ok(()));
        assert_eq!(Value::parse(&canonical).and_then(|value| value.to_canonical()).as_ref(), Ok(&canonical));
    }
}

/// A payload that reads as a row can be asked everything, and is what sealing the same row makes.
pub fn row(bytes: &[u8]) {
    let Ok(row) = Row::parse(bytes) else { return };
    assert_eq!(row.payload(), bytes);
    let touches: Vec<_> = row.touches().collect();
    assert!(touches.iter().all(|(path, _)| !path.is_empty()));
    if let Some((source, destination)) = row.move_ends() {
        assert_eq!(touches.iter().take(2).map(|(path, _)| path).collect::<Vec<_>>(), [&source, &destination]);
    }
    let Ok(Value::Object(extra)) = Value::parse(row.extra()) else { panic!("extra is an object") };
    let draft = RowDraft {
        op: row.op().into_owned(),
        path: row.path().into_owned(),
        actor: row.actor().into_owned(),
        content_sha256: row.content_sha256().into_owned(),
        extra,
        ts_ns: row.ts_ns(),
    };
    if let Ok((payload, chain)) = draft.seal(&row.prev_chain()) {
        assert_eq!(row.chain_is_right(), chain == row.chain());
        assert_eq!(payload == bytes, row.chain_is_right());
    }
}
