//! Which paths a row is about, and how.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Row;
use crate::json::scan::{Scanner, items};
use crate::json::{Text, members};

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
    path: Option<Text<'a>>,
    target_path: Option<Text<'a>>,
    to: Option<Text<'a>>,
    src: Option<Text<'a>>,
    dst: Option<Text<'a>>,
    affected_paths: &'a [u8],
    session_id: Option<Text<'a>>,
}

/// The name under which every start, end and purge of a session is found.
pub const SESSIONS: &str = "sessions";

/// Returns the name under which the start, the end and the purge of one session are found.
pub fn session_name(id: &str) -> String {
    format!("{SESSIONS}/{id}")
}

/// Returns the name under which the other rows that carry a session's id are found: what was written meanwhile.
pub fn session_writes_name(id: &str) -> String {
    format!("{SESSIONS}/{id}/writes")
}

impl<'a> Row<'a> {
    /// Returns the paths that the row touches, each once, the one it is about first, and then the names of its session.
    pub fn touches(&self) -> impl Iterator<Item = (Cow<'a, str>, Touch)> + use<'a> {
        let extra = ExtraPaths::of(self.extra);
        let mut touches = Vec::with_capacity(2);
        let mut add = |path: Option<Text<'a>>, touch| {
            if let Some(path) = path
                && touches.iter().all(|(seen, _)| *seen != path)
            {
                touches.push((path, touch));
            }
        };
        let own = Some(self.path).filter(|path| !path.raw().is_empty());
        if let Some((source, destination)) = self.ends(&extra) {
            add(Some(source), Touch::MoveFrom);
            add(Some(destination), Touch::MoveTo);
        }
        add(own, self.touch());
        for path in [extra.path, extra.target_path, extra.to, extra.src, extra.dst] {
            add(path, Touch::Annotation);
        }
        if !extra.affected_paths.is_empty() {
            let mut seen: HashSet<_> = touches.iter().map(|(path, _)| path.raw()).collect();
            let affected = items(extra.affected_paths).filter_map(path_of).filter(|path| seen.insert(path.raw()));
            touches.extend(affected.map(|path| (path, Touch::Annotation)));
        }
        let paths = touches.into_iter().map(|(path, touch)| (path.decode(), touch));
        paths.chain(self.session_names(extra.session_id).into_iter().flatten())
    }

    /// Returns the names by which a row that carries a session's id is found.
    fn session_names(&self, id: Option<Text<'a>>) -> [Option<(Cow<'a, str>, Touch)>; 2] {
        let annotation = |name: String| Some((Cow::Owned(name), Touch::Annotation));
        match (id, self.op.raw()) {
            (None, _) => [None, None],
            (Some(id), b"session.start" | b"session.end" | b"session.purged") => {
                [annotation(session_name(&id.decode())), Some((Cow::Borrowed(SESSIONS), Touch::Annotation))]
            }
            (Some(id), _) => [annotation(session_writes_name(&id.decode())), None],
        }
    }

    /// Returns source and destination of a `move` or legacy `rename`.
    ///
    /// `None` for every other row, and for one that names no destination or goes nowhere.
    pub fn move_ends(&self) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        let (source, destination) = self.ends(&ExtraPaths::of(self.extra))?;
        Some((source.decode(), destination.decode()))
    }

    /// What the row does to its `path`, unless it moves it.
    const fn touch(&self) -> Touch {
        match self.op.raw() {
            b"put" | b"create" | b"str_replace" | b"insert" => Touch::Write,
            b"delete" => Touch::Delete,
            _ => Touch::Annotation,
        }
    }

    /// Upstream writes the source as the row's `path` and the destination as `extra.to`; others write `src` and `dst`.
    fn ends(&self, extra: &ExtraPaths<'a>) -> Option<(Text<'a>, Text<'a>)> {
        if !matches!(self.op.raw(), b"move" | b"rename") {
            return None;
        }
        let (source, destination) = match extra.to {
            Some(to) => (self.path, to),
            None => (extra.src.unwrap_or(self.path), extra.dst?),
        };
        (!source.raw().is_empty() && source != destination).then_some((source, destination))
    }
}

impl<'a> ExtraPaths<'a> {
    fn of(extra: &'a [u8]) -> Self {
        let mut found = Self::default();
        for (key, value) in members(extra) {
            match key.raw() {
                b"path" => found.path = path_of(value),
                b"target_path" => found.target_path = path_of(value),
                b"to" => found.to = path_of(value),
                b"src" => found.src = path_of(value),
                b"dst" => found.dst = path_of(value),
                b"affected_paths" => found.affected_paths = value,
                b"session_id" => found.session_id = path_of(value),
                _ => {}
            }
        }
        found
    }
}

/// Returns the string that a canonical value is, unless it is another value or empty.
fn path_of(value: &[u8]) -> Option<Text<'_>> {
    Scanner::trusted(value).string().filter(|path| !path.raw().is_empty())
}
