//! Reading YAML: frontmatter, `STORE.yaml` and values from a command line.
//!
//! Scalars follow the core schema of YAML 1.2, so timestamps are strings as written, and so are `.inf` and `.nan`, which JSON
//! cannot express. A merge key (`<<`) is a key like any other. What would be lost in a [`Value`] (unknown tags, keys that are
//! collections, a second document) is an error, not a guess.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use granit_parser::{Event, Parser, ScalarStyle, Tag};

use crate::json::{MAX_DEPTH, Value};

/// A document is at most this many bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// What a document may grow to once its aliases are followed, in bytes as [`Budget`] counts them.
const MAX_WEIGHT: usize = 16 << 20;

/// About what a node costs in memory beyond its text.
const NODE_WEIGHT: usize = 64;

/// Why a text is not YAML that this product reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// The line where reading stopped, counted from 1.
    pub line: usize,
    /// What is wrong, in one clause.
    pub what: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}", self.what, self.line)
    }
}

impl std::error::Error for YamlError {}

/// Reads one YAML document. An empty one is `null`.
pub fn parse_yaml(bytes: &[u8]) -> Result<Value, YamlError> {
    let whole = |what: &str| YamlError { line: 1, what: what.to_owned() };
    if bytes.len() > MAX_BYTES {
        return Err(whole("more than 1 MiB of YAML"));
    }
    let text = str::from_utf8(bytes).map_err(|_| whole("bytes that are not UTF-8"))?;
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| YamlError { line: error.marker().line(), what: error.info() })?;
        builder.take(&event).map_err(|what| YamlError { line: span.start.line(), what })?;
    }
    Ok(builder.root.unwrap_or(Value::Null))
}

/// Reads a value from a command line: a quoted scalar, or the whole text as a plain one.
///
/// Every text is a value; one that is no number, truth value or null is a string, also where it holds `: ` or ` #`.
pub fn parse_scalar(text: &str) -> Value {
    if text.starts_with(['"', '\'']) {
        let mut nodes = Parser::new_from_str(text).filter(|event| event.as_ref().map_or(true, |(e, _)| e.is_node()));
        if let (Some(Ok((Event::Scalar(value, ..), span))), None) = (nodes.next(), nodes.next())
            && span.byte_range() == Some(0..text.len())
        {
            return Value::Str(value.into_owned());
        }
    }
    plain(text)
}

/// The keys of a document that is a mapping in block style, in their order, each with the byte where it begins.
///
/// `None` for every other document, and where a key is not written out.
pub(super) fn top_level_keys(text: &str) -> Option<Vec<(String, usize)>> {
    let (mut keys, mut depth, mut is_key) = (Vec::new(), 0_usize, true);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let starts = matches!(event, Event::MappingStart(..) | Event::SequenceStart(..));
        match (&event, depth) {
            (Event::MappingStart(..), 0) if !text.get(span.start.byte_offset()?..)?.starts_with('{') => {}
            (event, 0) if event.is_node() => return None,
            (event, 1) if event.is_node() => {
                if is_key {
                    let Event::Scalar(key, ..) = event else { return None };
                    keys.push((key.to_string(), span.start.byte_offset()?));
                }
                is_key = !is_key;
            }
            _ => {}
        }
        if starts {
            depth += 1;
        } else if matches!(event, Event::MappingEnd | Event::SequenceEnd) {
            depth -= 1;
        }
    }
    Some(keys)
}

/// Gives the value of an unquoted scalar by the core schema.
pub(super) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => integer(text).or_else(|| float(text)).unwrap_or_else(|| Value::from(text)),
    }
}

fn integer(text: &str) -> Option<Value> {
    let from_number = |number: i128| {
        let fits = (i64::MIN.into()..=u64::MAX.into()).contains(&number);
        if fits { Value::Int(number) } else { Value::BigInt(number.to_string()) }
    };
    let radix = |digits: &str, radix| {
        let valid = digits.chars().all(|digit| digit.is_digit(radix));
        valid.then(|| i128::from_str_radix(digits, radix).ok()).flatten().map(from_number)
    };
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    let big = || Value::BigInt(format!("{sign}{}", digits.trim_start_matches('0')));
    Some(text.parse().map_or_else(|_| big(), from_number))
}

fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.strip_prefix(['-', '+']).unwrap_or(exponent)),
        None => (unsigned, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let valid = digits(whole) && digits(fraction) && digits(exponent);
    if !valid || exponent.is_empty() || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float)
}

/// Puts the events of a document together, without recursion.
#[derive(Default)]
struct Builder {
    root: Option<Value>,
    open: Vec<Collection>,
    anchors: HashMap<usize, Value>,
    budget: Budget,
}

/// A sequence or mapping whose end was not met yet.
struct Collection {
    anchor: usize,
    kind: Kind,
}

enum Kind {
    Sequence(Vec<Value>),
    /// With the key whose value comes next.
    Mapping(BTreeMap<String, Value>, Option<String>),
}

impl Builder {
    fn take(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => Err("a second document".to_owned()),
            Event::Scalar(text, style, anchor, tag) => {
                self.budget.spend(text.len() + NODE_WEIGHT)?;
                if let Some(key) = self.awaited_key() {
                    *key = Some(text.to_string());
                    return self.remember(*anchor, &Value::from(text.as_ref()));
                }
                let value = scalar(text, *style, tag.as_deref())?;
                self.remember(*anchor, &value)?;
                self.put(value)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open("seq", *anchor, tag.as_deref(), Kind::Sequence(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                self.open("map", *anchor, tag.as_deref(), Kind::Mapping(BTreeMap::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => {
                let Some(value) = self.anchors.get(anchor) else {
                    return Err("an alias inside the collection that it names".to_owned());
                };
                let size = Size::of(value);
                self.budget.spend(size.weight)?;
                if self.open.len() + size.depth > MAX_DEPTH {
                    return Err(too_deep());
                }
                let value = value.clone();
                match (self.awaited_key(), value) {
                    (None, value) => self.put(value),
                    (Some(key), Value::Str(text)) => {
                        *key = Some(text);
                        Ok(())
                    }
                    (Some(_), _) => Err("a key that is an alias of something else than text".to_owned()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The place for a key, where a key comes next.
    fn awaited_key(&mut self) -> Option<&mut Option<String>> {
        match self.open.last_mut() {
            Some(Collection { kind: Kind::Mapping(_, key @ None), .. }) => Some(key),
            _ => None,
        }
    }

    fn remember(&mut self, anchor: usize, value: &Value) -> Result<(), String> {
        if anchor != 0 {
            self.budget.spend(Size::of(value).weight)?;
            self.anchors.insert(anchor, value.clone());
        }
        Ok(())
    }

    fn open(&mut self, core: &str, anchor: usize, tag: Option<&Tag>, kind: Kind) -> Result<(), String> {
        if self.awaited_key().is_some() {
            return Err("a key that is a collection".to_owned());
        }
        if tag.is_some_and(|tag| !tag.is_yaml_core_schema_tag(core) && tag.original() != "!") {
            return Err(unknown_tag(tag));
        }
        self.budget.spend(NODE_WEIGHT)?;
        self.open.push(Collection { anchor, kind });
        if self.open.len() > MAX_DEPTH { Err(too_deep()) } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(Collection { anchor, kind }) = self.open.pop() else { return Ok(()) };
        let value = match kind {
            Kind::Sequence(items) => Value::Array(items),
            Kind::Mapping(fields, _) => Value::Object(fields),
        };
        self.remember(anchor, &value)?;
        self.put(value)
    }

    fn put(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut().map(|collection| &mut collection.kind) {
            None => self.root = Some(value),
            Some(Kind::Sequence(items)) => items.push(value),
            Some(Kind::Mapping(fields, key)) => {
                let key = key.take().unwrap_or_default();
                if fields.contains_key(&key) {
                    return Err(format!("the repeated key {key:?}"));
                }
                fields.insert(key, value);
            }
        }
        Ok(())
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let Some(tag) = tag else {
        return Ok(if style == ScalarStyle::Plain { plain(text) } else { Value::from(text) });
    };
    match (tag.core_suffix(), plain(text)) {
        (Some("str"), _) => Ok(Value::from(text)),
        (None, _) if tag.original() == "!" => Ok(Value::from(text)),
        (Some("null"), value @ Value::Null)
        | (Some("bool"), value @ Value::Bool(_))
        | (Some("int"), value @ (Value::Int(_) | Value::BigInt(_)))
        | (Some("float"), value @ Value::Float(_)) => Ok(value),
        (Some("float"), Value::Int(_) | Value::BigInt(_)) => {
            float(text).ok_or_else(|| format!("{text:?} that is no float"))
        }
        (Some(kind @ ("null" | "bool" | "int" | "float")), _) => Err(format!("{text:?} that is no {kind}")),
        _ => Err(unknown_tag(Some(tag))),
    }
}

fn unknown_tag(tag: Option<&Tag>) -> String {
    format!("the unknown tag {}", tag.map(Tag::original).unwrap_or_default())
}

fn too_deep() -> String {
    format!("nesting beyond {MAX_DEPTH} levels")
}

/// What is left of [`MAX_WEIGHT`]; keeps aliases of aliases from filling the memory.
struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_WEIGHT)
    }
}

impl Budget {
    fn spend(&mut self, weight: usize) -> Result<(), String> {
        self.0 = self.0.checked_sub(weight).ok_or("more content than 16 MiB of memory hold")?;
        Ok(())
    }
}

/// How much an alias adds where it stands.
struct Size {
    weight: usize,
    depth: usize,
}

impl Size {
    fn of(value: &Value) -> Self {
        let text = |text: &str| Self { weight: NODE_WEIGHT + text.len(), depth: 0 };
        let collection = |members: &mut dyn Iterator<Item = Self>| {
            members.fold(Self { weight: NODE_WEIGHT, depth: 1 }, |sum, member| Self {
                weight: sum.weight + member.weight,
                depth: sum.depth.max(member.depth + 1),
            })
        };
        match value {
            Value::Str(content) | Value::BigInt(content) => text(content),
            Value::Array(items) => collection(&mut items.iter().map(Self::of)),
            Value::Object(fields) => collection(&mut fields.iter().map(|(key, value)| {
                let size = Self::of(value);
                Self { weight: size.weight + key.len() + NODE_WEIGHT, ..size }
            })),
            _ => text(""),
        }
    }
}
