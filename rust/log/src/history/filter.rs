//! Which rows a query keeps.

use crate::json::Value;
use crate::json::scan::members;
use crate::row::Row;

/// Folders of a store that hold memories.
const ROOTS: [&str; 8] = ["memories", "meta", "company", "module", "member", "client", "project", "persona"];

/// Whether a path lies in one of the folders that hold memories.
pub fn is_memory(path: &str) -> bool {
    path.split_once('/').is_some_and(|(root, _)| ROOTS.contains(&root))
}

/// One condition on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// The row's `actor` is this.
    Actor(String),
    /// The row's `op` is this.
    Kind(String),
    /// `extra` has a text of this name with this value.
    Extra(String, String),
}

impl Filter {
    /// Whether the row meets the condition.
    pub fn keeps(&self, row: &Row<'_>) -> bool {
        match self {
            Self::Actor(actor) => row.actor() == actor.as_str(),
            Self::Kind(kind) => row.op() == kind.as_str(),
            Self::Extra(name, wanted) => {
                let value = members(row.extra()).find(|(key, _)| key.decode() == name.as_str()).map(|(_, value)| value);
                value.and_then(|text| Value::parse(text).ok()).is_some_and(|value| value.as_str() == Some(wanted))
            }
        }
    }
}
