//! Whether writers share their syncs: `group_commit [PUTS [MILLISECONDS]]` lets one thread put, then eight, each PUTS times on a
//! disk in memory whose every sync takes so long, and checks that every row is there.
//!
//! Prints one JSON object: rows per second of one thread and of eight, and syncs per row of each.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cyberos_log::log::SegmentPolicy;
use cyberos_log::medium::SharedMedium;
use cyberos_log::medium::fake::Fake;
use cyberos_log::store::{Lock, Op, Options, Request, Writer};

const THREADS: u64 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let puts = args.next().map_or(Ok(100), |text| text.parse())?;
    let delay = args.next().map_or(Ok(2), |text| text.parse())?;
    let delay = Duration::from_millis(delay);
    let (one, one_syncs) = run(1, puts, delay)?;
    let (many, many_syncs) = run(THREADS, puts, delay)?;
    let json = format!(
        r#"{{"threads": {THREADS}, "one_rows_per_s": {one:.1}, "many_rows_per_s": {many:.1}, "one_syncs_per_row": {one_syncs:.2}, "many_syncs_per_row": {many_syncs:.2}}}"#
    );
    writeln!(std::io::stdout(), "{json}")?;
    Ok(())
}

/// Returns rows per second, and syncs per row.
#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn run(threads: u64, puts: u64, delay: Duration) -> Result<(f64, f64), Box<dyn Error>> {
    let root = Path::new("/store");
    let fake = Fake::with_dir(root.join("audit"));
    let medium: SharedMedium = Arc::new(fake.clone());
    let options = Options {
        segments: SegmentPolicy::default(),
        patience: Duration::ZERO,
        actor: String::new(),
        puts_files_off: false,
    };
    let writer = Writer::open(medium, root, Lock::Free, options)?;
    fake.reset_counts();
    fake.delay_syncs(delay);
    let start = Instant::now();
    std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let writer = &writer;
        let running: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || (0..puts).try_for_each(|n| writer.submit(put(thread, n)).map(drop))))
            .collect();
        for thread in running {
            thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok(())
    })?;
    let took = start.elapsed().as_secs_f64();
    let rows = threads * puts;
    if writer.last_seq() != rows {
        return Err(format!("{rows} rows were acknowledged, {} are there", writer.last_seq()).into());
    }
    let syncs = fake.synced().len();
    Ok((rows as f64 / took, syncs as f64 / rows as f64))
}

fn put(thread: u64, n: u64) -> Request {
    let (path, body) = (format!("memories/{thread}/{}.md", n % 10), format!("{thread} says {n}\n").into_bytes());
    Request {
        actor: format!("thread-{thread}"),
        ts_ns: 1_800_000_000_000_000_000 + n,
        op: Op::Put { path, body, expected: None },
        extra: BTreeMap::new(),
    }
}
