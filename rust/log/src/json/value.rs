//! JSON as a tree.

use std::collections::BTreeMap;

use super::text::escape;
use super::{JsonError, MAX_DEPTH, TOO_DEEP};

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits: `i64::MIN..=u64::MAX`.
    Int(i128),
    /// An integer outside of that range, as its decimal digits. Upstream keeps them; rows of ours never hold one.
    BigInt(String),
    /// A number that was written with a fraction or an exponent.
    Float(f64),
    /// A string.
    Str(String),
    /// An array.
    Array(Vec<Self>),
    /// An object; its keys ascend by code point.
    Object(BTreeMap<String, Self>),
}

impl Value {
    /// Reads any JSON of RFC 8259, canonical or not.
    ///
    /// Refused beyond the grammar: repeated keys, halves of surrogate pairs, numbers too large for a float, nesting beyond
    /// [`MAX_DEPTH`].
    pub fn parse(text: &[u8]) -> Result<Self, JsonError> {
        let text = std::str::from_utf8(text)
            .map_err(|error| JsonError { offset: error.valid_up_to(), what: "bytes that are not UTF-8" })?;
        let mut parser = Parser { text, at: 0, depth: 0 };
        let value = parser.value()?;
        parser.space();
        if parser.at == text.len() { Ok(value) } else { parser.error("bytes behind the value") }
    }

    /// Returns the canonical form.
    pub fn to_canonical(&self) -> Result<Vec<u8>, JsonError> {
        let mut out = Vec::new();
        self.write_canonical(&mut out)?;
        Ok(out)
    }

    /// Returns the member of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Returns the members, where this is an object.
    pub const fn as_object(&self) -> Option<&BTreeMap<String, Self>> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    /// Returns the items, where this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// Returns the string, where this is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self { Some(text) } else { None }
    }

    /// Returns the integer, where this is one of 64 bits.
    pub const fn as_int(&self) -> Option<i128> {
        if let Self::Int(number) = self { Some(*number) } else { None }
    }

    /// Returns the truth value, where this is one.
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Int(number.into())
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    const fn error<T>(&self, what: &'static str) -> Result<T, JsonError> {
        Err(JsonError { offset: self.at, what })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = rest.bytes().take_while(|&byte| wanted(byte)).count();
        self.at += count;
        rest.get(..count).unwrap_or_default()
    }

    fn space(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(token.as_bytes()));
        if found {
            self.at += token.len();
        }
        found
    }

    fn value(&mut self) -> Result<Value, JsonError> {
        self.space();
        match self.peek() {
            Some(b'"') => self.string().map(Value::Str),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.accept("null") => Ok(Value::Null),
            _ if self.accept("true") => Ok(Value::Bool(true)),
            _ if self.accept("false") => Ok(Value::Bool(false)),
            _ => self.error("no value where one must stand"),
        }
    }

    fn nested(&mut self, read: impl Fn(&mut Self) -> Result<Value, JsonError>) -> Result<Value, JsonError> {
        if self.depth == MAX_DEPTH {
            return self.error(TOO_DEEP);
        }
        self.depth += 1;
        self.at += 1;
        self.space();
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value, JsonError> {
        let mut fields = BTreeMap::new();
        if self.accept("}") {
            return Ok(Value::Object(fields));
        }
        loop {
            self.space();
            let at = self.at;
            let key = self.string()?;
            self.space();
            if !self.accept(":") {
                return self.error("no colon behind a key");
            }
            if fields.insert(key, self.value()?).is_some() {
                return Err(JsonError { offset: at, what: "a repeated key" });
            }
            self.space();
            if self.accept("}") {
                return Ok(Value::Object(fields));
            }
            if !self.accept(",") {
                return self.error("an unfinished object");
            }
        }
    }

    fn array(&mut self) -> Result<Value, JsonError> {
        let mut items = Vec::new();
        if self.accept("]") {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.space();
            if self.accept("]") {
                return Ok(Value::Array(items));
            }
            if !self.accept(",") {
                return self.error("an unfinished array");
            }
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        if !self.accept("\"") {
            return self.error("no string where one must stand");
        }
        let mut out = String::new();
        loop {
            out.push_str(self.skip(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\'));
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    let Some((meant, used)) = self.text.as_bytes().get(self.at..).and_then(escape) else {
                        return self.error("an escape that means no character");
                    };
                    out.push(meant);
                    self.at += used;
                }
                Some(_) => return self.error("a control character"),
                None => return self.error("an unfinished string"),
            }
        }
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        let digit = |byte: u8| byte.is_ascii_digit();
        let _sign = self.accept("-");
        let whole = self.skip(digit);
        let mut valid = whole == "0" || !(whole.is_empty() || whole.starts_with('0'));
        let mut integer = true;
        if self.accept(".") {
            integer = false;
            valid &= !self.skip(digit).is_empty();
        }
        if self.accept("e") || self.accept("E") {
            integer = false;
            let _sign = self.accept("+") || self.accept("-");
            valid &= !self.skip(digit).is_empty();
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        let refuse = |what| Err(JsonError { offset: start, what });
        if !valid {
            return refuse("a number that is not one of JSON");
        }
        if integer {
            let number = text.parse::<i128>().ok();
            return Ok(match number.filter(|number| (i64::MIN.into()..=u64::MAX.into()).contains(number)) {
                Some(number) => Value::Int(number),
                None => Value::BigInt(text.to_owned()),
            });
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Float(number)),
            _ => refuse("a number too large for a float"),
        }
    }
}
