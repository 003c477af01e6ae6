//! Addresses of machines: IPv4 and IPv6.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::edges::{before, behind, is_alnum, tail};
use crate::rules::{Rule, compiled};
use crate::{Find, Tag};

/// What a dotted number is, where one of these stands before it.
const NUMBERED: [&str; 22] = [
    "v",
    "ver",
    "ver.",
    "version",
    "versions",
    "release",
    "rel",
    "build",
    "section",
    "sec",
    "sec.",
    "§",
    "§§",
    "chapter",
    "clause",
    "figure",
    "fig",
    "fig.",
    "table",
    "oid",
    "phiên bản",
    "mục",
];

/// So many bytes before an address are looked at.
const NEAR: usize = 64;

static RFC: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?i-u:rfc) ?[0-9]{1,5},$"));

/// Returns the expressions.
pub fn rules() -> Vec<Rule> {
    vec![
        Rule::new(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}", v4),
        Rule::new(
            r"(?i-u)(?:[0-9a-f]{1,4}:{1,2}|::)(?:[0-9a-f]{1,4}:{1,2}){0,7}(?:[0-9a-f]{1,4}|(?:[0-9]{1,3}\.){3}[0-9]{1,3})?",
            v6,
        ),
    ]
}

fn v4(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some(span) = found.get(0) else { return true };
    let (start, end) = (span.start(), span.end());
    let goes_on =
        matches!(behind(text, end), Some('.')) && behind(text, end + 1).is_some_and(|char| char.is_ascii_digit());
    let went_on = before(text, start) == Some('.');
    if is_alnum(before(text, start))
        || is_alnum(behind(text, end))
        || goes_on
        || went_on
        || before(text, start) == Some('_')
    {
        return false;
    }
    let Ok(address) = span.as_str().parse::<Ipv4Addr>() else { return false };
    if is_nobodys(address) || is_numbered(text, start) {
        return true;
    }
    finds.push(Find::certain(Tag::Ip, start, end));
    true
}

/// Loopback, unspecified, broadcast and network masks: they name no machine.
fn is_nobodys(address: Ipv4Addr) -> bool {
    let bits = u32::from(address);
    address.is_loopback()
        || address.is_unspecified()
        || (bits >> 24 == 255 && (!bits).wrapping_add(1).is_power_of_two())
        || address.is_broadcast()
}

/// Whether what stands before says that this is a version or the number of a section.
fn is_numbered(text: &str, start: usize) -> bool {
    let line = tail(text, start, NEAR).rsplit('\n').next().unwrap_or_default();
    let near = line.trim_end_matches([' ', ':', '"', '\'']);
    if ["==", ">=", "<=", "~=", "!=", "^", "~", "~>"].iter().any(|mark| near.ends_with(mark)) {
        return true;
    }
    if !near.is_empty() && near.chars().all(|char| char == '#') {
        return true;
    }
    if RFC.is_match(near) {
        return true;
    }
    // `Mozilla/1.2.3.4`, and not `//1.2.3.4`.
    if let Some(product) = line.strip_suffix('/') {
        return product.ends_with(|char: char| char.is_ascii_alphabetic());
    }
    let word = near
        .rsplit(|char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '(' | ',' | '{' | '_' | '-'))
        .next();
    let word = word.unwrap_or_default().to_lowercase();
    NUMBERED.contains(&word.as_str()) || near.to_lowercase().ends_with("phiên bản")
}

fn v6(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some(span) = found.get(0) else { return true };
    let start = span.start();
    if is_alnum(before(text, start)) || matches!(before(text, start), Some(':' | '_' | '.')) {
        return false;
    }
    let value = span.as_str();
    // A colon behind an address is the sentence's.
    let address = value.parse::<Ipv6Addr>().map(|address| (address, value.len()));
    let Ok((address, length)) = address.or_else(|error| match value.strip_suffix(':') {
        Some(shorter) => shorter.parse::<Ipv6Addr>().map(|address| (address, shorter.len())),
        None => Err(error),
    }) else {
        return false;
    };
    let mut end = start + length;
    if is_alnum(behind(text, end)) || behind(text, end) == Some('_') || !is_allocated(address) {
        return false;
    }
    if behind(text, end) == Some('%') {
        let zone = text.get(end + 1..).unwrap_or_default();
        end += 1 + zone.bytes().take_while(u8::is_ascii_alphanumeric).count();
    }
    finds.push(Find::certain(Tag::Ip, start, end));
    true
}

/// Whether a machine can have the address; `a::b` in a program is none.
fn is_allocated(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    match first {
        0x2000..=0x3FFF | 0xFC00..=0xFDFF | 0xFE80..=0xFEFF | 0xFF00..=0xFF0F => true,
        0x64 => second == 0xFF9B,
        0 => address.to_ipv4_mapped().is_some_and(|address| !is_nobodys(address)),
        _ => false,
    }
}
