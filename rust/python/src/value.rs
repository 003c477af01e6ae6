//! JSON values as Python objects, and back.

use std::collections::BTreeMap;

use cyberos_log::LogError;
use cyberos_log::json::{MAX_DEPTH, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors::{BadArgument, Result};

/// Returns the Python object that a value is: `dict`, `list`, `str`, `int`, `float`, `bool` or `None`.
///
/// An integer with more digits than the interpreter converts (`sys.get_int_max_str_digits`) becomes its digits as `str`.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(truth) => truth.into_bound_py_any(py),
        Value::Int(number) => match i64::try_from(*number) {
            Ok(number) => number.into_bound_py_any(py),
            Err(_) => number.into_bound_py_any(py),
        },
        Value::BigInt(digits) => py.get_type::<PyInt>().call1((digits,)).or_else(|_| digits.into_bound_py_any(py)),
        Value::Float(number) => number.into_bound_py_any(py),
        Value::Str(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            Ok(list.into_any())
        }
        Value::Object(fields) => object_to_python(py, fields).map(Bound::into_any),
    }
}

/// Returns the `dict` that an object's members are.
pub fn object_to_python<'py>(py: Python<'py>, fields: &BTreeMap<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in fields {
        dict.set_item(key, to_python(py, value)?)?;
    }
    Ok(dict)
}

/// Returns the value that a Python object is. Also takes tuples, and subclasses of all these.
///
/// `BadArgument` for anything else: keys that are not `str`, halves of surrogate pairs, integers of more than 64 bits, floats
/// that are not finite, nesting beyond [`MAX_DEPTH`]. It names the place in the object.
pub fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    Reader::default().read(object)
}

/// As [`from_python`], for an object that must be a `dict`.
pub fn object_from_python(object: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, Value>> {
    Reader::default().members(object)
}

/// As [`object_from_python`], for what is not written into a row: also takes integers of more than 64 bits.
pub fn fields_from_python(object: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, Value>> {
    Reader { long_integers: true, ..Reader::default() }.members(object)
}

/// Reads an object, knowing where in it.
#[derive(Default)]
struct Reader {
    place: Vec<String>,
    long_integers: bool,
}

impl Reader {
    fn refuse<T>(&self, what: &str) -> PyResult<T> {
        let place = self.place.concat();
        let colon = if place.is_empty() { "" } else { ": " };
        Err(BadArgument::new_err(format!("not a JSON value: {place}{colon}{what}")))
    }

    fn read(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Value> {
        if object.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(text) = object.cast::<PyString>() {
            return self.text(text).map(Value::Str);
        }
        if let Ok(truth) = object.cast::<PyBool>() {
            return Ok(Value::Bool(truth.is_true()));
        }
        if object.is_instance_of::<PyInt>() {
            let number = object.extract::<i64>().map(i128::from).or_else(|_| object.extract::<u64>().map(i128::from));
            return match number {
                Ok(number) => Ok(Value::Int(number)),
                Err(_) if !self.long_integers => self.refuse("an integer of more than 64 bits"),
                Err(_) => {
                    let digits = object.str().and_then(|digits| digits.extract());
                    digits.map(Value::BigInt).or_else(|_| self.refuse("an integer that is too long to be written"))
                }
            };
        }
        if let Ok(number) = object.cast::<PyFloat>() {
            let number = number.value();
            return if number.is_finite() {
                Ok(Value::Float(number))
            } else {
                self.refuse("a number that is not finite")
            };
        }
        if let Ok(dict) = object.cast::<PyDict>() {
            return self.members(dict).map(Value::Object);
        }
        if let Ok(list) = object.cast::<PyList>() {
            return self.items(list.iter());
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return self.items(tuple.iter());
        }
        self.refuse(&format!("a {}", object.get_type().name()?))
    }

    fn text(&self, text: &Bound<'_, PyString>) -> PyResult<String> {
        text.to_cow().map(std::borrow::Cow::into_owned).or_else(|_| self.refuse("a text that is not Unicode"))
    }

    fn enter(&mut self, step: String) -> PyResult<()> {
        self.place.push(step);
        if self.place.len() > MAX_DEPTH {
            self.place.clear();
            return self.refuse("nesting beyond 128 levels");
        }
        Ok(())
    }

    fn members(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, Value>> {
        let mut fields = BTreeMap::new();
        for (key, value) in dict.iter() {
            let Ok(key) = key.cast::<PyString>() else { return self.refuse("a key that is not a text") };
            let key = self.text(key)?;
            self.enter(format!(".{key}"))?;
            fields.insert(key, self.read(&value)?);
            self.place.pop();
        }
        Ok(fields)
    }

    fn items<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<Value> {
        let mut list = Vec::new();
        for (at, item) in items.enumerate() {
            self.enter(format!("[{at}]"))?;
            list.push(self.read(&item)?);
            self.place.pop();
        }
        Ok(Value::Array(list))
    }
}

/// Returns the object that JSON in UTF-8 says; `BadArgument` where it is not JSON, or repeats a key.
#[pyfunction]
pub fn parse_json<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let value = Value::parse(text).map_err(|error| BadArgument::new_err(format!("not JSON: {error}")))?;
    to_python(py, &value)
}

/// Returns the canonical JSON of an object: the one spelling that a row may have.
#[pyfunction]
pub fn canonical_json<'py>(value: &Bound<'py, PyAny>) -> Result<Bound<'py, PyBytes>> {
    let canonical = from_python(value)?.to_canonical();
    let canonical = canonical.map_err(|error| LogError::Invalid(format!("not a JSON value: {error}")))?;
    Ok(PyBytes::new(value.py(), &canonical))
}
