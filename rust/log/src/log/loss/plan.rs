//! The plan of renames that puts a new end in the old one's place, and carrying it out.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{LogError, Result};
use crate::format::tip::{SLOT, Tip};
use crate::hash::Digest;
use crate::json::Value;
use crate::log::{HEAD, TipFile, TipState, tip, write_head};
use crate::medium::{Medium, Open, SharedMedium};

/// The plan, in `audit/`.
const PLAN: &str = "loss.json";
const TEMPORARY: &str = "loss.json.tmp";
const TIP_TEMPORARY: &str = "loss-tip.tmp";
/// A tip that says nothing.
const OBSCURED: [u8; 2 * SLOT] = [0; 2 * SLOT];
/// The good part of a segment that is good only in part.
pub(super) const PREFIX: &str = "loss-prefix.tmp";
/// The new end.
pub(super) const ROWS: &str = "loss-rows.tmp";

/// What is still to be done when everything new has been written.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Files in `audit/` and their new names, in order.
    pub renames: Vec<(String, String)>,
    /// The files that are moved aside, and how long they are.
    pub old: Vec<(String, u64)>,
    /// The copy of the tip, where there was one.
    pub tip_copy: Option<String>,
    /// What is acknowledged afterwards.
    pub tip: Option<Tip>,
}

/// Whether there is a plan that was not carried out to its end.
pub(super) fn is_pending(medium: &dyn Medium, dir: &Path) -> Result<bool> {
    let path = dir.join(PLAN);
    Ok(medium.stat(&path).map_err(LogError::io("inspect", path))?.is_some())
}

/// Carries out the plan that is there, from wherever it was interrupted; returns the number of the row that says so.
///
/// The caller holds the store's lock.
pub fn finish_loss(medium: &SharedMedium, audit_dir: &Path) -> Result<u64> {
    let plan = Plan::load(medium.as_ref(), audit_dir)?;
    let Some(new) = plan.tip else { return Err(malformed()) };
    let state = tip::read(medium.as_ref(), audit_dir)?;
    let first = new.segment;
    // Once the new end has its place, a tip that can be read is the new one, and rows may have followed.
    let is_done = !exists(medium.as_ref(), audit_dir, ROWS)? && matches!(state, TipState::Valid(_));
    if !is_done {
        if !is_begun(medium.as_ref(), audit_dir)? && !plan.is_of(medium.as_ref(), audit_dir)? {
            plan.abandon(medium.as_ref(), audit_dir)?;
            return Err(LogError::Refused(
                "rows were appended since it was planned what to give up: begin again".into(),
            ));
        }
        obscure(medium.as_ref(), audit_dir)?;
        plan.rename(medium.as_ref(), audit_dir)?;
        // The peaks are the old log's; nothing tells them from this one's.
        let peaks = audit_dir.join("mmr").join("peaks.bin");
        medium.remove(&peaks).map_err(LogError::io("remove", peaks))?;
        set_head(medium.as_ref(), audit_dir, new.seq)?;
        TipFile::create(medium.as_ref(), audit_dir, new)?;
    }
    let path = audit_dir.join(PLAN);
    medium.remove(&path).map_err(LogError::io("remove", &path))?;
    medium.sync_dir(audit_dir).map_err(LogError::io("sync", audit_dir))?;
    Ok(first)
}

/// Takes HEAD, where there is one, back to the new end, durably: ahead of the log it would say that rows are missing.
fn set_head(medium: &dyn Medium, audit_dir: &Path, seq: u64) -> Result<()> {
    let root = audit_dir.parent().unwrap_or(audit_dir);
    if !exists(medium, root, HEAD)? {
        return Ok(());
    }
    write_head(medium, root, seq)?;
    medium.sync_one(&root.join(HEAD)).map_err(LogError::io("sync", root.join(HEAD)))
}

fn exists(medium: &dyn Medium, dir: &Path, name: &str) -> Result<bool> {
    let path = dir.join(name);
    Ok(medium.stat(&path).map_err(LogError::io("inspect", path))?.is_some())
}

/// Makes the tip unreadable, durably: until the new end has its place nobody may append.
fn obscure(medium: &dyn Medium, dir: &Path) -> Result<()> {
    let (temporary, path) = (dir.join(TIP_TEMPORARY), dir.join("tip"));
    let write = || {
        let file = medium.open(&temporary, Open::Create)?;
        file.set_len(0)?;
        file.write_all_at(&OBSCURED, 0)?;
        file.sync()?;
        medium.rename(&temporary, &path)?;
        medium.sync_dir(dir)
    };
    write().map_err(LogError::io("replace", &path))
}

/// Whether it was begun to carry the plan out. From then on the tip is unreadable, so that nothing was appended since.
fn is_begun(medium: &dyn Medium, dir: &Path) -> Result<bool> {
    let path = dir.join("tip");
    let tip = medium.read(&path).map_err(LogError::io("read", path))?;
    Ok(tip.is_some_and(|tip| tip == OBSCURED) || !exists(medium, dir, ROWS)?)
}

fn malformed() -> LogError {
    LogError::corrupt(format!("audit/{PLAN}"), 0, None, "this is not the plan that was written")
}

impl Plan {
    /// Writes the plan, durably.
    pub(super) fn save(&self, medium: &dyn Medium, dir: &Path) -> Result<()> {
        let text = |text: &str| Value::Str(text.to_owned());
        let int = |n: u64| Value::Int(n.into());
        let renames = self.renames.iter().map(|(from, to)| Value::Array(vec![text(from), text(to)]));
        let old = self.old.iter().map(|(name, bytes)| Value::Array(vec![text(name), int(*bytes)]));
        let Some(tip) = self.tip else { return Err(malformed()) };
        let plan = Value::Object(BTreeMap::from([
            ("chain".into(), text(&tip.chain.to_hex())),
            ("offset".into(), int(tip.offset)),
            ("old".into(), Value::Array(old.collect())),
            ("renames".into(), Value::Array(renames.collect())),
            ("segment".into(), int(tip.segment)),
            ("seq".into(), int(tip.seq)),
            ("tip_copy".into(), self.tip_copy.as_deref().map_or(Value::Null, text)),
            ("view_seq".into(), int(tip.view_seq)),
        ]));
        let bytes = plan.to_canonical().map_err(|error| LogError::Invalid(error.to_string()))?;
        let (temporary, path) = (dir.join(TEMPORARY), dir.join(PLAN));
        let write = || {
            let file = medium.open(&temporary, Open::Create)?;
            file.set_len(0)?;
            file.write_all_at(&bytes, 0)?;
            file.sync()?;
            medium.rename(&temporary, &path)?;
            medium.sync_dir(dir)
        };
        write().map_err(LogError::io("write", &path))
    }

    fn load(medium: &dyn Medium, dir: &Path) -> Result<Self> {
        let path = dir.join(PLAN);
        let bytes = medium.read(&path).map_err(LogError::io("read", path))?;
        let bytes = bytes.ok_or_else(|| LogError::NotFound("giving up rows was not begun".into()))?;
        let value = Value::parse(&bytes).map_err(|_| malformed())?;
        Self::decode(&value).ok_or_else(malformed)
    }

    fn decode(value: &Value) -> Option<Self> {
        let int = |name: &str| u64::try_from(value.get(name)?.as_int()?).ok();
        let pair = |item: &Value| match item.as_array()? {
            [from, to] => Some((plain_name(from.as_str()?)?, plain_name(to.as_str()?)?)),
            _ => None,
        };
        let tip = Tip {
            generation: 0,
            seq: int("seq")?,
            segment: int("segment")?,
            offset: int("offset")?,
            chain: Digest::from_hex(value.get("chain")?.as_str()?.as_bytes())?,
            view_seq: int("view_seq")?,
            boot: 0,
            bodies: 0,
        };
        let renames = value.get("renames")?.as_array()?.iter().map(pair).collect::<Option<_>>()?;
        let file = |item: &Value| match item.as_array()? {
            [name, bytes] => Some((plain_name(name.as_str()?)?, u64::try_from(bytes.as_int()?).ok()?)),
            _ => None,
        };
        let old = value.get("old")?.as_array()?.iter().map(file).collect::<Option<_>>()?;
        let tip_copy = value.get("tip_copy")?.as_str().and_then(plain_name);
        Some(Self { renames, old, tip_copy, tip: Some(tip) })
    }

    /// Whether the log is still the one that the plan was made for.
    fn is_of(&self, medium: &dyn Medium, dir: &Path) -> Result<bool> {
        let read = |name: &str| medium.read(&dir.join(name)).map_err(LogError::io("read", dir.join(name)));
        for (name, bytes) in &self.old {
            let stat = medium.stat(&dir.join(name)).map_err(LogError::io("inspect", dir.join(name)))?;
            if stat.is_none_or(|stat| stat.len != *bytes) {
                return Ok(false);
            }
        }
        let copy = self.tip_copy.as_deref().map_or(Ok(None), read)?;
        Ok(read("tip")? == copy)
    }

    /// Removes the plan, and then what was written for it.
    fn abandon(&self, medium: &dyn Medium, dir: &Path) -> Result<()> {
        for name in [Some(PLAN), Some(PREFIX), Some(ROWS), self.tip_copy.as_deref()].into_iter().flatten() {
            medium.remove(&dir.join(name)).map_err(LogError::io("remove", dir.join(name)))?;
            medium.sync_dir(dir).map_err(LogError::io("sync", dir))?;
        }
        Ok(())
    }

    fn rename(&self, medium: &dyn Medium, dir: &Path) -> Result<()> {
        for (from, to) in &self.renames {
            // What is new takes a name that was left; what is old never takes one that is taken, so that doing it again is safe.
            let is_new = from == PREFIX || from == ROWS;
            if exists(medium, dir, from)? && (is_new || !exists(medium, dir, to)?) {
                medium.rename(&dir.join(from), &dir.join(to)).map_err(LogError::io("rename", dir.join(from)))?;
                medium.sync_dir(dir).map_err(LogError::io("sync", dir))?;
            }
        }
        Ok(())
    }
}

/// A name that stays inside the folder.
fn plain_name(name: &str) -> Option<String> {
    (!name.is_empty() && !name.contains('/') && name != "." && name != "..").then(|| name.to_owned())
}
