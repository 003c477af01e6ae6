//! What changed between the frontmatter of two versions.

use std::collections::BTreeMap;

use crate::json::Value;

use super::body::{BodyDiff, body_diff};
use super::frontmatter::{Fields, Frontmatter};

/// The fields that differ. One that is in neither map is equal in both versions, or in none of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldDiff {
    /// Fields of the new version only.
    pub added: Fields,
    /// Fields of the old version only.
    pub removed: Fields,
    /// Fields of both whose values differ, as (old, new).
    pub changed: BTreeMap<String, (Value, Value)>,
}

/// A comparison of two frontmatter blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum FrontmatterDiff<'a> {
    /// Both have fields, or none.
    Fields(FieldDiff),
    /// At least one has no fields because it cannot be read, so the blocks are compared as text.
    Text {
        /// Which side, and why.
        why: String,
        /// The difference of the blocks as written.
        diff: BodyDiff<'a>,
    },
}

impl FieldDiff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// The form of `history --json`: `{"added": {f: v}, "removed": {f: v}, "changed": {f: {"old": …, "new": …}}}`.
    pub fn into_value(self) -> Value {
        let pair = |(old, new)| Value::Object([("old".to_owned(), old), ("new".to_owned(), new)].into());
        let changed = self.changed.into_iter().map(|(field, values)| (field, pair(values))).collect();
        let parts = [("added", self.added), ("removed", self.removed), ("changed", changed)];
        Value::Object(parts.map(|(part, fields)| (part.to_owned(), Value::Object(fields))).into())
    }
}

impl FrontmatterDiff<'_> {
    /// The form of `history --json`: that of the fields, or `{"unparseable": why, "diff": unified diff of the blocks}`.
    pub fn into_value(self, old_path: &str, new_path: &str) -> Value {
        match self {
            Self::Fields(diff) => diff.into_value(),
            Self::Text { why, diff } => {
                let text = match diff {
                    BodyDiff::Text(diff) => Value::Str(diff.unified(Some(old_path), Some(new_path))),
                    BodyDiff::Same => Value::Str(String::new()),
                    BodyDiff::Binary | BodyDiff::TooLarge => Value::Null,
                };
                Value::Object([("unparseable".to_owned(), Value::Str(why)), ("diff".to_owned(), text)].into())
            }
        }
    }
}

/// Compares two sets of fields.
///
/// Numbers are equal by what they are worth, at any depth: `1` and `1.0` are no change, since writers of YAML and JSON differ
/// in how they spell them. Nothing else is equal across kinds.
pub fn field_diff(old: &Fields, new: &Fields) -> FieldDiff {
    let mut diff = FieldDiff::default();
    for (field, value) in old {
        match new.get(field) {
            None => drop(diff.removed.insert(field.clone(), value.clone())),
            Some(now) if !same(value, now) => {
                diff.changed.insert(field.clone(), (value.clone(), now.clone()));
            }
            Some(_) => {}
        }
    }
    let added = new.iter().filter(|(field, _)| !old.contains_key(*field));
    diff.added = added.map(|(field, value)| (field.clone(), value.clone())).collect();
    diff
}

/// Compares the frontmatter of two versions; a version without any counts as one without fields.
pub fn frontmatter_diff<'a>(old: Option<&Frontmatter<'a>>, new: Option<&Frontmatter<'a>>) -> FrontmatterDiff<'a> {
    let none = Ok(Fields::new());
    let [old_fields, new_fields] = [old, new].map(|side| side.map_or(&none, |side| &side.fields));
    let why = match (old_fields, new_fields) {
        (Ok(old), Ok(new)) => return FrontmatterDiff::Fields(field_diff(old, new)),
        (Err(old), Ok(_)) => format!("old frontmatter: {old}"),
        (Ok(_), Err(new)) => format!("new frontmatter: {new}"),
        (Err(old), Err(new)) if old == new => format!("both frontmatters: {old}"),
        (Err(old), Err(new)) => format!("old frontmatter: {old}; new frontmatter: {new}"),
    };
    let text = |side: Option<&Frontmatter<'a>>| side.map_or(&b""[..], |side| side.text);
    FrontmatterDiff::Text { why, diff: body_diff(text(old), text(new)) }
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Int(integer), Value::Float(float)) | (Value::Float(float), Value::Int(integer)) => {
            equals(*float, *integer)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|((key, left), (other, right))| key == other && same(left, right))
        }
        _ => left == right,
    }
}

/// Whether a float is worth exactly an integer of 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "a float without a fraction is cast exactly, or saturates")]
fn equals(float: f64, integer: i128) -> bool {
    float.fract() == 0.0 && float as i128 == integer
}
