//! Stores to test on, and requests to make.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cyberos_log::history::Query;
use cyberos_log::log::SegmentPolicy;
use cyberos_log::medium::fake::Fake;
use cyberos_log::medium::{Medium, Os, SharedMedium};
use cyberos_log::store::{DeleteMode, Lock, Op, Options, Request, Writer};
use cyberos_log::{Digest, Result};

/// The folder of a store on a [`Fake`].
pub const ROOT: &str = "/store";

pub fn options() -> Options {
    Options {
        segments: SegmentPolicy { max_bytes: 3_000 },
        patience: Duration::from_secs(5),
        actor: "test".into(),
        puts_files_off: false,
    }
}

pub fn on_disk(root: &Path) -> Writer {
    try_on_disk(root).unwrap()
}

/// A writer that writes working files only when it is told to, and at closing.
pub fn on_disk_putting_off(root: &Path) -> Writer {
    on_disk_with(root, Options { puts_files_off: true, ..options() }).unwrap()
}

pub fn try_on_disk(root: &Path) -> Result<Writer> {
    on_disk_with(root, Options { segments: SegmentPolicy::default(), ..options() })
}

fn on_disk_with(root: &Path, options: Options) -> Result<Writer> {
    let medium: SharedMedium = Arc::new(Os);
    std::fs::create_dir_all(root.join("audit")).unwrap();
    Writer::open(medium, root, Lock::open(root, options.patience).unwrap(), options)
}

/// A medium with the folders of an empty store.
pub fn fake() -> Fake {
    let fake = Fake::with_dir(ROOT);
    fake.create_dir_all(&Path::new(ROOT).join("audit")).unwrap();
    fake.copy()
}

pub fn on_fake(fake: &Fake) -> Result<Writer> {
    on_fake_with(fake, false)
}

/// As [`on_fake`]; working files may be put off until the writer closes.
pub fn on_fake_with(fake: &Fake, puts_files_off: bool) -> Result<Writer> {
    let options = Options { puts_files_off, ..options() };
    Writer::open(Arc::new(fake.clone()), Path::new(ROOT), Lock::Free, options)
}

pub fn request(op: Op) -> Request {
    Request { actor: "ann".into(), ts_ns: 1_800_000_000_000_000_000, op, extra: BTreeMap::new() }
}

pub fn put(path: &str, body: &str) -> Request {
    request(Op::Put { path: path.into(), body: body.into(), expected: None })
}

pub fn delete(path: &str, mode: DeleteMode, reason: &str) -> Request {
    request(Op::Delete { path: path.into(), mode, reason: reason.into() })
}

pub fn rename(from: &str, to: &str) -> Request {
    request(Op::Move { from: from.into(), to: to.into() })
}

pub fn sha(body: &str) -> Digest {
    Digest::of(&[body.as_bytes()])
}

/// Everything that ever happened.
pub fn all() -> Query {
    Query { path: None, follow_moves: true, limit: None, since_ns: None, above: 0, below: None, filters: Vec::new() }
}
