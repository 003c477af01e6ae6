//! Putting fields that are given apart into the frontmatter that a memory brings along.

use crate::json::Value;

use super::emit::to_yaml;
use super::frontmatter::{Fields, Frontmatter, Parts, parts, with_meta};
use super::yaml;

/// Returns a memory file with these fields set in its frontmatter; it gets one where it has none.
///
/// In a YAML block the other fields keep their text, their order and the comments between them; a field that is new comes
/// last. A block that cannot be edited so (JSON, a mapping in braces, an anchor in a field that goes) is written anew with
/// ascending keys. The body stays as it is. An error says why the frontmatter that is there cannot be read.
pub fn merge(meta: &Fields, file: &[u8]) -> Result<Vec<u8>, String> {
    let Some(Parts { open, block, close, body }) = parts(file) else { return Ok(with_meta(meta, file)) };
    let mut fields = Frontmatter::parse(block).fields?;
    let news = meta.iter().filter(|(key, value)| fields.get(*key) != Some(value));
    let news: Fields = news.map(|(key, value)| (key.clone(), value.clone())).collect();
    if news.is_empty() {
        return Ok(file.to_vec());
    }
    fields.extend(news.clone());
    let line_end = if open.ends_with(b"\r\n") { "\r\n" } else { "\n" };
    let edited = edited(block, news, line_end).filter(|text| reads_as(text, &fields));
    let block = edited.or_else(|| json(block, &fields)).unwrap_or_else(|| to_yaml(&fields).into_bytes());
    Ok([open, &block, close, body].concat())
}

fn reads_as(block: &[u8], fields: &Fields) -> bool {
    Frontmatter::parse(block).fields.as_ref() == Ok(fields)
}

/// The block with these fields in place of, or behind, those it has. To be checked: what a field's lines mean can depend on
/// other fields.
fn edited(block: &[u8], mut news: Fields, line_end: &str) -> Option<Vec<u8>> {
    let block = str::from_utf8(block).ok()?;
    let lines_of = |fields: &Fields| to_yaml(fields).replace('\n', line_end);
    let keys = yaml::top_level_keys(block)?;
    let start_of_line = |at: usize| block.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let starts: Vec<usize> = keys.iter().map(|(_, at)| start_of_line(*at)).collect();
    let (mut out, mut copied) = (String::with_capacity(block.len() + 64), 0);
    for (place, (key, _)) in keys.into_iter().enumerate() {
        let Some((key, value)) = news.remove_entry(&key) else { continue };
        let start = *starts.get(place)?;
        let end = starts.get(place + 1).copied().unwrap_or(block.len());
        out.push_str(block.get(copied..start)?);
        out.push_str(&lines_of(&Fields::from([(key, value)])));
        copied = start + length_of_field(block.get(start..end)?);
    }
    out.push_str(block.get(copied..)?);
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(line_end);
    }
    out.push_str(&lines_of(&news));
    Some(out.into_bytes())
}

/// How many of these bytes are a field's own: blank lines and comments behind it stay when it goes.
fn length_of_field(lines: &str) -> usize {
    let is_own = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let behind: usize = lines.split_inclusive('\n').rev().take_while(|line| !is_own(line)).map(str::len).sum();
    lines.len() - behind
}

/// The block as JSON, where it is JSON and the fields can be.
fn json(block: &[u8], fields: &Fields) -> Option<Vec<u8>> {
    Value::parse(block).ok()?;
    let mut text = Value::Object(fields.clone()).to_canonical().ok()?;
    text.push(b'\n');
    reads_as(&text, fields).then_some(text)
}
