//! Writing the new end of a damaged log beside the old one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::old::{Good, Old, Whole, again, read_old};
use super::plan::{PREFIX, Plan, ROWS};
use super::{Kept, Loss, LossPlan};
use crate::error::{LogError, Result};
use crate::format::frame;
use crate::format::tip::Tip;
use crate::hash::{Digest, Hasher};
use crate::json::Value;
use crate::log::LogReader;
use crate::medium::{Medium, MediumFile, Open, SharedMedium};
use crate::row::RowDraft;
use crate::segment::{ACTIVE, Segment, free_sealed_name};

/// Bytes copied or written at once.
const CHUNK: usize = 1 << 20;

/// Writes everything that the new end needs, and the plan. Until the plan is there nothing has changed.
pub(super) fn prepare(log: &LogReader, old: Old, actor: &str, ts_ns: u64) -> Result<Loss> {
    let (medium, dir) = (log.segments().medium().clone(), log.segments().dir());
    let Old { good, plan: loss } = old;
    let mut plan = Plan::default();
    let kept = keep(&medium, dir, log, &good, &loss, &mut plan)?;
    let mut out = Output::create(&medium, dir, ROWS)?;
    let (mut seq, mut chain) = (good.seq, good.chain);
    let mut write = |draft: &RowDraft| -> Result<()> {
        let (payload, sealed) = draft.seal(&chain).map_err(|error| LogError::Invalid(error.to_string()))?;
        (seq, chain) = (seq + 1, sealed);
        frame::encode(&mut out.buffer, seq, draft.ts_ns, &payload);
        out.flush(CHUNK)
    };
    write(&record(&loss, &kept, actor, ts_ns))?;
    read_old(log, &mut |Whole { seq, row }| again(row, *seq, actor, ts_ns).map_or(Ok(()), |draft| write(&draft)))?;
    let offset = out.finish()?;
    let view_seq = log.tip().map_or(0, |tip| tip.view_seq).min(good.seq);
    plan.tip = Some(Tip { generation: 0, seq, segment: good.seq + 1, offset, chain, view_seq, boot: 0, bodies: 0 });
    plan.save(medium.as_ref(), dir)?;
    Ok(Loss { plan: loss, kept, last_seq: seq })
}

/// The row that says what was given up.
fn record(loss: &LossPlan, kept: &[Kept], actor: &str, ts_ns: u64) -> RowDraft {
    /// So many ranges are named; they are in the old bytes all the same.
    const MOST: usize = 1_000;
    let int = |n: u64| Value::Int(n.into());
    let rows_lost: u64 = loss.lost.iter().map(|(from, to)| to - from + 1).sum();
    let ranges = loss.lost.iter().take(MOST).map(|(from, to)| Value::Array(vec![int(*from), int(*to)]));
    let kept = kept.iter().map(|kept| {
        Value::Object(BTreeMap::from([
            ("bytes".into(), int(kept.bytes)),
            ("file".into(), Value::Str(kept.file.clone())),
            ("kept_as".into(), Value::Str(kept.kept_as.clone())),
            ("sha256".into(), Value::Str(kept.sha256.to_hex())),
        ]))
    });
    let extra = BTreeMap::from([
        ("file".into(), Value::Str(loss.place.0.clone())),
        ("from_seq".into(), int(loss.from_seq)),
        ("kept".into(), Value::Array(kept.collect())),
        ("lost".into(), Value::Array(ranges.collect())),
        ("offset".into(), int(loss.place.1)),
        ("reason".into(), Value::Str(loss.what.clone())),
        ("rows_lost".into(), int(rows_lost)),
        ("rows_recovered".into(), int(loss.whole)),
        ("to_seq".into(), int(loss.to_seq)),
    ]);
    let (op, path, content_sha256) = ("log.loss_accepted".into(), String::new(), String::new());
    RowDraft { op, path, actor: actor.into(), content_sha256, extra, ts_ns }
}

/// Plans what becomes of the segments and the tip, and writes the good part of a segment that is good only in part.
fn keep(
    medium: &SharedMedium,
    dir: &Path,
    log: &LogReader,
    good: &Good,
    loss: &LossPlan,
    plan: &mut Plan,
) -> Result<Vec<Kept>> {
    let names = medium.list(dir).map_err(LogError::io("list", dir))?;
    let mut kept = Vec::new();
    let mut aside = |name: &str, plan: &mut Plan| -> Result<()> {
        let stem = format!("lost-{:020}-{name}", loss.from_seq);
        let to = (1..=u32::MAX)
            .map(|n| if n == 1 { format!("{stem}.bin") } else { format!("{stem}-{n}.bin") })
            .find(|to| !names.contains(to))
            .unwrap_or(stem);
        let (bytes, sha256) = measure(medium.as_ref(), &dir.join(name))?;
        kept.push(Kept { file: format!("audit/{name}"), kept_as: format!("audit/{to}"), bytes, sha256 });
        plan.old.push((name.to_owned(), bytes));
        plan.renames.push((name.to_owned(), to));
        Ok(())
    };
    let mut sealed = None;
    for (place, segment) in log.segments().list().iter().enumerate() {
        let is_last_good = good.place == Some(place);
        if good.place.is_some_and(|last| place < last) || (is_last_good && segment.len()? == good.offset) {
            if segment.is_active() {
                plan.renames.push((segment.name.clone(), sealed_name(medium, dir, segment)?));
            }
            continue;
        }
        if is_last_good {
            copy(medium, dir, segment, good.offset)?;
            let uncompressed = segment.name.strip_suffix(".zst").unwrap_or(&segment.name);
            sealed =
                Some(if segment.is_active() { sealed_name(medium, dir, segment)? } else { uncompressed.to_owned() });
        }
        aside(&segment.name, plan)?;
        // The compacted twin of a plain segment must not be read in its place.
        let twin = format!("{}.zst", segment.name);
        if names.contains(&twin) {
            aside(&twin, plan)?;
        }
    }
    for unreadable in log.segments().unreadable() {
        aside(unreadable.file.strip_prefix("audit/").unwrap_or(&unreadable.file), plan)?;
    }
    if let Some(name) = sealed {
        plan.renames.push((PREFIX.to_owned(), name));
    }
    plan.renames.push((ROWS.to_owned(), ACTIVE.to_owned()));
    if names.iter().any(|name| name == "tip") {
        let to = format!("lost-{:020}-tip.bin", loss.from_seq);
        let to = (1..=u32::MAX)
            .map(|n| if n == 1 { to.clone() } else { format!("lost-{:020}-tip-{n}.bin", loss.from_seq) })
            .find(|to| !names.contains(to))
            .unwrap_or(to);
        let (bytes, sha256) = measure(medium.as_ref(), &dir.join("tip"))?;
        let whole = medium.read(&dir.join("tip")).map_err(LogError::io("read", dir.join("tip")))?.unwrap_or_default();
        let mut out = Output::create(medium, dir, &to)?;
        out.buffer = whole;
        out.finish()?;
        plan.tip_copy = Some(to.clone());
        kept.push(Kept { file: "audit/tip".into(), kept_as: format!("audit/{to}"), bytes, sha256 });
    }
    Ok(kept)
}

fn sealed_name(medium: &SharedMedium, dir: &Path, segment: &Segment) -> Result<String> {
    let mut head = [0; frame::HEADER];
    segment.read(&mut head, 0)?;
    let ts_ns = frame::Header::decode(&head).map_or(0, |header| header.ts_ns);
    let name = free_sealed_name(medium.as_ref(), dir, ts_ns)?;
    name.ok_or_else(|| LogError::Invalid("there is no name left for a segment".into()))
}

fn copy(medium: &SharedMedium, dir: &Path, segment: &Segment, end: u64) -> Result<()> {
    let mut out = Output::create(medium, dir, PREFIX)?;
    let mut offset = 0;
    while offset < end {
        let len = usize::try_from(end - offset).unwrap_or(CHUNK).min(CHUNK);
        out.buffer.resize(len, 0);
        let read = segment.read(&mut out.buffer, offset)?;
        out.buffer.truncate(read);
        if read == 0 {
            return Err(LogError::corrupt(segment.label(), offset, None, "the file became shorter"));
        }
        offset += read as u64;
        out.flush(0)?;
    }
    out.finish().map(drop)
}

fn measure(medium: &dyn Medium, path: &Path) -> Result<(u64, Digest)> {
    let file = medium.open(path, Open::Read).map_err(LogError::io("open", path))?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; CHUNK];
    let mut done = 0;
    loop {
        let read = file.read_full_at(&mut buffer, done).map_err(LogError::io("read", path))?;
        if read == 0 {
            return Ok((done, hasher.finish()));
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
        done += read as u64;
    }
}

/// A new file, written in order and durable when it is finished.
struct Output {
    file: Arc<dyn MediumFile>,
    medium: SharedMedium,
    path: std::path::PathBuf,
    done: u64,
    buffer: Vec<u8>,
}

impl Output {
    fn create(medium: &SharedMedium, dir: &Path, name: &str) -> Result<Self> {
        let path = dir.join(name);
        let file: Arc<dyn MediumFile> =
            Arc::from(medium.open(&path, Open::Create).map_err(LogError::io("create", &path))?);
        file.set_len(0).map_err(LogError::io("empty", &path))?;
        Ok(Self { file, medium: medium.clone(), path, done: 0, buffer: Vec::new() })
    }

    /// Writes what is buffered if it is more than `least` bytes.
    fn flush(&mut self, least: usize) -> Result<()> {
        if self.buffer.len() > least {
            self.file.write_all_at(&self.buffer, self.done).map_err(LogError::io("write", &self.path))?;
            self.done += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Makes the file durable; returns its length.
    fn finish(mut self) -> Result<u64> {
        self.flush(0)?;
        self.file.sync().map_err(LogError::io("sync", &self.path))?;
        if let Some(dir) = self.path.parent() {
            self.medium.sync_dir(dir).map_err(LogError::io("sync", dir))?;
        }
        Ok(self.done)
    }
}
