//! Which paths a row is about, and how.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Row;
use crate::json::members;
use crate::json::scan::{Scanner, items};

/// What a row does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Touch {
    /// The path has new content: `put`, `create`, `str_replace`, `insert`.
    Write = 0,
    /// The memory left this path for another.
    MoveFrom = 1,
    /// The memory came to this path from another.
    MoveTo = 2,
    /// The memory is gone.
    Delete = 3,
    /// The row only speaks of the path.
    Annotation = 4,
}

impl Touch {
    const ALL: [Self; 5] = [Self::Write, Self::MoveFrom, Self::MoveTo, Self::Delete, Self::Annotation];

    /// Returns the number that stands for this in an index; below 16, and never changed.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns what a [`Touch::code`] stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|touch| touch.code() == code)
    }
}

/// What `extra` says of other paths. Only strings that are not empty count.
#[derive(Default)]
struct ExtraPaths<'a> {
    path: Option<Cow<'a, str>>,
    target_path: Option<Cow<'a, str>>,
    to: Option<Cow<'a, str>>,
    src: Option<Cow<'a, str>>,
    dst: Option<Cow<'a, str>>,
    affected_paths: &'a str,
}

impl<'a> Row<'a> {
    /// Returns the paths that the row touches, each once, the one it is about first.
    pub fn touches(&self) -> impl Iterator<Item = (Cow<'a, str>, Touch)> + use<'a> {
        let extra = self.extra_paths();
        let path = self.path();
        let mut touches = Vec::with_capacity(2);
        let mut add = |path: Option<Cow<'a, str>>, touch: Touch| {
            if let Some(path) = path.filter(|path| !path.is_empty())
                && touches.iter().all(|(seen, _)| *seen != path)
            {
                touches.push((path, touch));
            }
        };
        match self.op.raw() {
            "put" | "create" | "str_replace" | "insert" => add(Some(path), Touch::Write),
            "delete" => add(Some(path), Touch::Delete),
            "move" | "rename" => {
                if let Some((source, destination)) = extra.move_ends(&path) {
                    add(Some(source), Touch::MoveFrom);
                    add(Some(destination), Touch::MoveTo);
                }
                add(Some(path), Touch::Annotation);
            }
            _ => add(Some(path), Touch::Annotation),
        }
        for other in [extra.path, extra.target_path, extra.to, extra.src, extra.dst] {
            add(other, Touch::Annotation);
        }
        if !extra.affected_paths.is_empty() {
            let mut seen: HashSet<_> = touches.iter().map(|(path, _)| path.clone()).collect();
            let affected = items(extra.affected_paths).filter_map(string).filter(|path| seen.insert(path.clone()));
            touches.extend(affected.map(|path| (path, Touch::Annotation)));
        }
        touches.into_iter()
    }

    /// Returns source and destination of a `move` or legacy `rename`.
    ///
    /// `None` for every other row, and for one that names no destination or goes nowhere.
    pub fn move_ends(&self) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        matches!(self.op.raw(), "move" | "rename").then(|| self.extra_paths().move_ends(&self.path()))?
    }

    fn extra_paths(&self) -> ExtraPaths<'a> {
        let mut found = ExtraPaths::default();
        for (key, value) in members(self.extra) {
            match key.raw() {
                "path" => found.path = string(value),
                "target_path" => found.target_path = string(value),
                "to" => found.to = string(value),
                "src" => found.src = string(value),
                "dst" => found.dst = string(value),
                "affected_paths" => found.affected_paths = value,
                _ => {}
            }
        }
        found
    }
}

impl<'a> ExtraPaths<'a> {
    /// Upstream writes the source as the row's `path` and the destination as `extra.to`; others write `src` and `dst`.
    fn move_ends(&self, path: &Cow<'a, str>) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        let (source, destination) = match (&self.to, &self.dst) {
            (Some(to), _) => (path, to),
            (None, Some(dst)) => (self.src.as_ref().unwrap_or(path), dst),
            (None, None) => return None,
        };
        (!source.is_empty() && source != destination).then(|| (source.clone(), destination.clone()))
    }
}

/// Returns the string that a canonical value is, unless it is another value or empty.
fn string(value: &str) -> Option<Cow<'_, str>> {
    let text = Scanner::trusted(value).string().ok()?.decode();
    (!text.is_empty()).then_some(text)
}
