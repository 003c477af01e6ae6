//! Content that was purged, and that somebody writes again and dies: where no row came of it, none of it may stay.

use std::path::Path;
use std::sync::Arc;

use cyberos_log::format::tip::{SLOT, Tip};
use cyberos_log::history::Chain;
use cyberos_log::medium::fake::{Fake, Fault, Op as Step};
use cyberos_log::medium::{Medium, SharedMedium};
use cyberos_log::objects::{Body, BodyReader};
use cyberos_log::store::{DeleteMode, Request, Writer};

use crate::stores::{ROOT, delete, fake, on_fake, put, sha};

const SECRET: &str = "what was purged\n";
const NAME: &str = "memories/new.md";

/// A store in which `SECRET` was purged long ago: behind the watermark, so that no opening carries the purge out again.
fn purged_long_ago() -> Fake {
    let medium = fake();
    let writer = on_fake(&medium).unwrap();
    writer.submit(put("memories/old.md", SECRET)).unwrap();
    writer.submit(delete("memories/old.md", DeleteMode::Purge, "asked for")).unwrap();
    writer.submit_all((0..80).map(|n| put(&format!("memories/{n}.md"), "other\n")).collect()).unwrap();
    writer.close().unwrap();
    assert!(tip(&medium).view_seq > 2);
    medium
}

fn tip(medium: &Fake) -> Tip {
    let bytes = medium.read(&Path::new(ROOT).join("audit/tip")).unwrap().unwrap();
    bytes.chunks(SLOT).filter_map(Tip::decode).max_by_key(|tip| tip.generation).unwrap()
}

fn stored(medium: &Fake) -> Body {
    let root = Path::new(ROOT);
    let medium: SharedMedium = Arc::new(medium.clone());
    BodyReader::open(medium, root.join("audit/objects"), root.join("index/objects")).unwrap().get(&sha(SECRET)).unwrap()
}

/// Whether a row has written it since.
fn was_written(medium: &Fake) -> bool {
    let medium: SharedMedium = Arc::new(medium.clone());
    Chain::open(&medium, Path::new(ROOT)).unwrap().lineage(NAME, u64::MAX).unwrap().contains(&sha(SECRET))
}

/// A new memory with that content, which lives or is only history.
fn writes(lives: bool) -> Vec<Request> {
    let mut writes = vec![put("memories/beside.md", "beside it\n"), put(NAME, SECRET)];
    writes.extend((!lives).then(|| delete(NAME, DeleteMode::Tombstone, "")));
    writes
}

/// Opens what is left, twice; what was purged is stored exactly where a row has written it since. Returns whether one has.
fn check(left: &Fake, what: &str) -> bool {
    for _ in 0..2 {
        drop(on_fake(left).unwrap_or_else(|error| panic!("{what}: {error}")));
        let expected = if was_written(left) { Body::Found(SECRET.into()) } else { Body::Purged };
        assert_eq!(stored(left), expected, "{what}");
    }
    was_written(left)
}

#[test]
fn what_was_purged_is_stored_again_only_where_a_row_says_so_wherever_its_writer_dies() {
    let (mut came_back, mut brought) = (0, 0);
    for (at, lives) in (1..=5).flat_map(|at| [(at, true), (at, false)]) {
        let dying = purged_long_ago();
        let writer = on_fake(&dying).unwrap();
        dying.freeze_at(at);
        let acknowledged = writer.submit_all(writes(lives)).is_ok();
        let killed = dying.copy();
        came_back += u32::from(stored(&killed) == Body::Found(SECRET.into()) && !was_written(&killed));
        let what = format!("dies at sync {at}, the memory lives: {lives}");
        assert!(check(&killed, &what) || !acknowledged, "{what}: acknowledged and gone");
        for seed in 0..10 {
            let image = dying.crash_image_with(seed);
            brought += u32::from(check(&image, &format!("{what}, seed {seed}")));
        }
    }
    assert!(came_back > 0 && brought > 0, "what is to be seen was seen: {came_back} {brought}");
}

/// Writes bodies and fails before their rows are in the log.
fn fail_between(medium: &Fake, writer: &Writer) {
    medium.fail(Fault::nth(Step::Write, 1).on("current.binlog"));
    writer.submit_all(writes(true)).unwrap_err();
    assert_eq!((stored(medium), was_written(medium)), (Body::Found(SECRET.into()), false));
}

#[test]
fn what_a_write_that_failed_or_another_process_brought_back_is_gone_before_the_next_row() {
    for another in [false, true] {
        let medium = purged_long_ago();
        let (writer, other) = (on_fake(&medium).unwrap(), on_fake(&medium).unwrap());
        fail_between(&medium, if another { &other } else { &writer });
        drop(other);
        writer.submit(put("memories/next.md", "next\n")).unwrap();
        assert_eq!(stored(&medium), Body::Purged, "by another process: {another}");
        assert!(!check(&medium, "and stays so"));
    }
}

#[test]
fn the_tip_says_how_many_bodies_rows_account_for() {
    let medium = purged_long_ago();
    let writer = on_fake(&medium).unwrap();
    writer.submit_all(writes(true)).unwrap();
    drop(writer);
    let packs = Path::new(ROOT).join("audit/objects");
    let frames = BodyReader::open(Arc::new(medium.clone()), packs, Path::new(ROOT).join("none")).unwrap();
    assert_eq!(tip(&medium).bodies, frames.iterate().unwrap().count() as u64);
    assert!(check(&medium, "opened again"));
}
