//! Turning requests into staged rows, bodies and changes of working files. Nothing is written here.

use std::collections::{BTreeMap, HashMap};

use super::current::{Current, Held, OnDisk};
use super::request::{DeleteMode, Expected, Op, Outcome, Prepared, PreparedBody, Request};
use super::view::Action;
use super::writer::Core;
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::history::is_memory;
use crate::json::Value;
use crate::objects::compress;
use crate::row::RowDraft;
use crate::time::iso;

/// Who is named for edits made by hand.
const BY_HAND: &str = "filesystem";

/// What one group will do.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What paths will hold.
    pub overlay: HashMap<String, Current>,
    /// What happens to working files, in order.
    pub actions: Vec<Action>,
    /// Bodies to erase once the rows are acknowledged.
    pub erase: Vec<Digest>,
}

/// Why a request was turned down.
#[derive(Debug)]
pub(super) struct Rejected {
    pub error: LogError,
    /// A row that records the attempt.
    pub record: Option<RowDraft>,
}

impl From<LogError> for Box<Rejected> {
    fn from(error: LogError) -> Self {
        Self::new(Rejected { error, record: None })
    }
}

impl Core {
    /// Stages one request.
    pub(super) fn plan(&mut self, plan: &mut Plan, prepared: Prepared) -> Result<Outcome, Box<Rejected>> {
        let Prepared { request, body } = prepared;
        let Request { actor, ts_ns, op, extra } = request;
        let who = Who { actor, ts_ns, extra };
        match (op, body) {
            (Op::Put { path, body: bytes, expected }, Some(body)) => {
                self.plan_put(plan, who, path, bytes, body, expected)
            }
            (Op::Put { .. }, None) => Err(LogError::Invalid("a put without a prepared body".into()).into()),
            (Op::Move { from, to }, _) => self.plan_move(plan, who, from, to),
            (Op::Delete { path, mode, reason }, _) => self.plan_delete(plan, who, path, mode, reason),
            (Op::Aux { kind, path }, _) => {
                let staged = self.log.stage(&who.row(&kind, &path, None))?;
                Ok(Outcome { seq: Some(staged.seq), chain: Some(staged.chain), ..Outcome::default() })
            }
        }
    }

    fn plan_put(
        &mut self,
        plan: &mut Plan,
        mut who: Who,
        path: String,
        bytes: Vec<u8>,
        mut body: PreparedBody,
        expected: Option<Expected>,
    ) -> Result<Outcome, Box<Rejected>> {
        let (mut current, adopted) = self.settle(plan, &path, &who)?;
        let held = current.version.and_then(|held| held.sha);
        let unchanged = current.version.is_some() && held == Some(body.sha);
        if unchanged {
            // Also for a put that expected something else: a retry whose content is already in place has succeeded.
            self.ensure_file(plan, &path, &current, body.sha, bytes)?;
            plan.overlay.insert(path, current);
            return Ok(Outcome { content_sha256: held, adopted, ..Outcome::default() });
        }
        let as_expected = match expected {
            None => true,
            Some(Expected::Absent) => current.version.is_none(),
            Some(Expected::Content(sha)) => held == Some(sha),
        };
        if !as_expected {
            return Err(who.precondition_failed(path, expected, held));
        }
        if let Some(held) = held {
            who.extra.insert("before_sha256".into(), Value::Str(held.to_hex()));
        }
        who.extra.entry("kind".into()).or_insert(Value::Str(body.kind));
        let staged = self.log.stage(&who.row("put", &path, Some(body.sha)))?;
        if let Some(compressed) = body.compressed.take() {
            self.bodies.append_compressed(compressed)?;
        }
        current = Current { version: Some(Held { sha: Some(body.sha) }), disk: None };
        plan.overlay.insert(path.clone(), current);
        plan.actions.push(Action::Write { path, body: bytes });
        Ok(Outcome {
            seq: Some(staged.seq),
            chain: Some(staged.chain),
            content_sha256: Some(body.sha),
            adopted,
            ..Outcome::default()
        })
    }

    fn plan_move(&mut self, plan: &mut Plan, mut who: Who, from: String, to: String) -> Result<Outcome, Box<Rejected>> {
        if from == to {
            return Err(LogError::Invalid(format!("{from} cannot be moved onto itself")).into());
        }
        let (current, adopted) = self.settle(plan, &from, &who)?;
        let Some(held) = current.version else { return Err(not_found(&from)) };
        check_place(&to)?;
        let mut target = self.current(plan, &to)?;
        let occupied = target.version.is_some() || {
            let file = self.root.join(&to);
            self.inspect(&to, &mut target)?;
            let planned = plan.overlay.contains_key(&to) || self.view.put_off.contains(&to);
            !planned && self.medium.stat(&file).map_err(LogError::io("inspect", &file))?.is_some()
        };
        if occupied {
            return Err(LogError::Exists(to).into());
        }
        who.extra.insert("to".into(), Value::Str(to.clone()));
        let staged = self.log.stage(&who.row("move", &from, held.sha))?;
        plan.overlay.insert(from.clone(), Current::default());
        let moved = Current { version: Some(held), disk: None };
        plan.overlay.insert(to.clone(), moved);
        plan.actions.push(Action::Rename { from, to, sha: held.sha });
        Ok(Outcome {
            seq: Some(staged.seq),
            chain: Some(staged.chain),
            content_sha256: held.sha,
            adopted,
            ..Outcome::default()
        })
    }

    fn plan_delete(
        &mut self,
        plan: &mut Plan,
        mut who: Who,
        path: String,
        mode: DeleteMode,
        reason: String,
    ) -> Result<Outcome, Box<Rejected>> {
        let (current, adopted) = self.settle(plan, &path, &who)?;
        let mut sha = current.version.and_then(|held| held.sha);
        let mut erase = Vec::new();
        if mode == DeleteMode::Purge {
            if reason.trim().is_empty() {
                return Err(LogError::Invalid("a purge needs a reason".into()).into());
            }
            let mut bodies = self.lineage(&path)?;
            sha = sha.or(bodies.first().copied());
            if sha.is_none() && current.version.is_none() {
                return Err(not_found(&path));
            }
            bodies.extend(current.version.and_then(|held| held.sha));
            bodies.sort_unstable();
            bodies.dedup();
            if current.version.is_none() && self.is_purged(&path, &bodies)? {
                return Ok(Outcome { content_sha256: sha, ..Outcome::default() });
            }
            let shared_with = self.sharing(&path, &bodies)?;
            if !shared_with.is_empty() {
                return Err(LogError::Shared { path, shared_with }.into());
            }
            erase = bodies;
            let redacted = sha.map_or(Value::Null, |sha| Value::Str(sha.to_hex()));
            who.extra.insert("redacted_sha256".into(), redacted);
        } else if current.version.is_none() {
            return Err(not_found(&path));
        }
        let name = if mode == DeleteMode::Purge { "purge" } else { "tombstone" };
        who.extra.insert("mode".into(), Value::Str(name.into()));
        if !reason.is_empty() {
            who.extra.insert("reason".into(), Value::Str(reason));
        }
        let staged = self.log.stage(&who.row("delete", &path, sha))?;
        // Only now: a purge that is turned down erases nothing.
        plan.erase.append(&mut erase);
        plan.overlay.insert(path.clone(), Current::default());
        plan.actions.push(Action::Remove { path });
        Ok(Outcome {
            seq: Some(staged.seq),
            chain: Some(staged.chain),
            content_sha256: sha,
            adopted,
            ..Outcome::default()
        })
    }

    /// What a path will hold once the plan so far is carried out.
    pub(super) fn current(&mut self, plan: &Plan, path: &str) -> Result<Current> {
        plan.overlay.get(path).cloned().map_or_else(|| self.look_up(path), Ok)
    }

    /// What a path holds, after recording an edit that was made by hand.
    fn settle(&mut self, plan: &mut Plan, path: &str, who: &Who) -> Result<(Current, Option<u64>)> {
        check_place(path)?;
        let planned = plan.overlay.contains_key(path);
        let mut current = self.current(plan, path)?;
        if planned {
            return Ok((current, None));
        }
        let bytes = match self.inspect(path, &mut current)? {
            OnDisk::AsKnown => return Ok((current, None)),
            OnDisk::Unkept(bytes) => {
                // The working file is the only copy, and about to change.
                let sha = Digest::of(&[&bytes]);
                self.bodies.append_compressed(compress(&bytes, sha)?)?;
                return Ok((current, None));
            }
            OnDisk::Edited(bytes) => bytes,
        };
        if current.version.is_none() && !may_become_memory(path) {
            // Some other file: an access list, a picture. It is not ours to record, and so not to move or delete either.
            return Ok((current, None));
        }
        let body = PreparedBody::new(&bytes)?;
        let mut extra =
            BTreeMap::from([("adopted".to_owned(), Value::Bool(true)), ("kind".to_owned(), Value::Str(body.kind))]);
        if let Some(before) = current.version.and_then(|held| held.sha) {
            extra.insert("before_sha256".into(), Value::Str(before.to_hex()));
        }
        let by_hand = Who { actor: BY_HAND.into(), ts_ns: who.ts_ns, extra };
        let staged = self.log.stage(&by_hand.row("put", path, Some(body.sha)))?;
        if let Some(compressed) = body.compressed {
            self.bodies.append_compressed(compressed)?;
        }
        let current = Current { version: Some(Held { sha: Some(body.sha) }), disk: None };
        plan.overlay.insert(path.to_owned(), current.clone());
        Ok((current, Some(staged.seq)))
    }

    /// Puts a working file back that is missing though its content is not to change.
    fn ensure_file(&self, plan: &mut Plan, path: &str, current: &Current, sha: Digest, bytes: Vec<u8>) -> Result<()> {
        let file = self.root.join(path);
        let known = current.disk.is_some() || plan.overlay.contains_key(path) || self.view.put_off.contains(path);
        if !known && self.medium.stat(&file).map_err(LogError::io("inspect", &file))?.is_none() {
            debug_assert_eq!(Digest::of(&[&bytes]), sha, "the content is what the chain says");
            plan.actions.push(Action::Write { path: path.to_owned(), body: bytes });
        }
        Ok(())
    }
}

/// Whether a file that no row speaks of is a memory made by hand.
fn may_become_memory(path: &str) -> bool {
    match path.rsplit_once('.') {
        Some((_, "md")) => true,
        Some((name, "json")) => name.strip_suffix(".meta").is_none(),
        _ => false,
    }
}

/// Refuses what is the store's own: its log above all must not be taken for a memory that somebody edited.
fn check_place(path: &str) -> Result<()> {
    if is_memory(path) { Ok(()) } else { Err(LogError::Refused(format!("{path} is not in a folder of memories"))) }
}

fn not_found(path: &str) -> Box<Rejected> {
    LogError::NoMemory(path.to_owned()).into()
}

/// Who asked and when, and what the row says besides.
struct Who {
    actor: String,
    ts_ns: u64,
    extra: BTreeMap<String, Value>,
}

impl Who {
    fn row(self, op: &str, path: &str, sha: Option<Digest>) -> RowDraft {
        RowDraft {
            op: op.into(),
            path: path.into(),
            actor: self.actor,
            content_sha256: sha.map(Digest::to_hex).unwrap_or_default(),
            extra: self.extra,
            ts_ns: self.ts_ns,
        }
    }

    fn precondition_failed(self, path: String, expected: Option<Expected>, actual: Option<Digest>) -> Box<Rejected> {
        let expected = match expected {
            Some(Expected::Content(sha)) => Some(sha),
            Some(Expected::Absent) | None => None,
        };
        let text = |sha: Option<Digest>| sha.map_or(Value::Null, |sha| Value::Str(sha.to_hex()));
        let mut extra = BTreeMap::from([
            ("actor".to_owned(), Value::Str(self.actor.clone())),
            ("actual".to_owned(), text(actual)),
            ("attempt_at".to_owned(), Value::Str(iso(self.ts_ns))),
            ("expected".to_owned(), text(expected)),
            ("path".to_owned(), Value::Str(path.clone())),
        ]);
        if let Some(session) = self.extra.get("session_id") {
            extra.insert("session_id".into(), session.clone());
        }
        let record =
            Self { actor: self.actor, ts_ns: self.ts_ns, extra }.row("memory.precondition_failed", &path, None);
        Box::new(Rejected { error: LogError::Precondition { path, expected, actual }, record: Some(record) })
    }
}
