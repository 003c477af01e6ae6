//! E-mail addresses, in any script: what stands on both sides of an `@`.

use crate::edges::{before, behind};
use crate::{Find, Tag};

const LONGEST_LOCAL: usize = 64;

/// Notes addresses, also where the `@` is percent-encoded.
pub fn find(text: &str, finds: &mut Vec<Find>) {
    for (at, sign) in text.match_indices('@').chain(text.match_indices("%40")) {
        let behind_sign = at + sign.len();
        let (Some(start), Some(end)) = (local_start(text, at), domain_end(text, behind_sign)) else { continue };
        let local = text.get(start..at).unwrap_or_default();
        let domain = text.get(behind_sign..end).unwrap_or_default();
        // `git@host:path` names a repository, and `x@w.sum(…)` multiplies matrices.
        let is_remote = local == "git" && behind(text, end) == Some(':');
        let is_call = behind(text, end) == Some('(');
        if !is_remote && !is_call && is_domain(domain) {
            finds.push(Find::certain(Tag::Email, start, end));
        }
    }
}

/// Scripts that are written without spaces: an address ends where another script begins.
fn is_unspaced(char: char) -> bool {
    matches!(u32::from(char), 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0xD7FF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

fn local_start(text: &str, at: usize) -> Option<usize> {
    let head = text.get(..at)?;
    if let Some(quoted) = head.strip_suffix('"') {
        let open = quoted.rfind('"')?;
        let inner = quoted.get(open + 1..)?;
        return (!inner.is_empty() && inner.len() <= LONGEST_LOCAL && !inner.contains('\n')).then_some(open);
    }
    let unspaced = before(text, at).is_some_and(is_unspaced);
    let mut start = at;
    for (position, char) in head.char_indices().rev().take(LONGEST_LOCAL) {
        let is_part =
            (char.is_alphanumeric() && is_unspaced(char) == unspaced) || "._%+-'!#$&*/=?^{|}~`".contains(char);
        if !is_part {
            break;
        }
        start = position;
    }
    // Marks around an address are not its own, nor is the key of `to=ann@…`, or the path before it.
    let local = text.get(start..at)?;
    let cut = local.rfind(['=', '/', '&', '?', '`', '|', '{', '}', '*', '\'']).map_or(0, |mark| mark + 1);
    let local = local.get(cut..)?;
    let plain = local.trim_start_matches(['.', '-', '+', '!', '#', '$', '^', '~', '_', '%']);
    (plain.contains(char::is_alphanumeric)).then(|| at - plain.len())
}

fn domain_end(text: &str, start: usize) -> Option<usize> {
    let tail = text.get(start..)?;
    if tail.starts_with('[') {
        let close = tail.get(..60.min(tail.len())).unwrap_or(tail).find(']')?;
        let inner = tail.get(1..close)?.trim_start_matches("IPv6:");
        return inner.parse::<std::net::IpAddr>().ok().map(|_| start + close + 1);
    }
    let mut end = start;
    let mut unspaced = None;
    for (position, char) in tail.char_indices() {
        let goes_on = match char {
            '.' => {
                unspaced = None;
                true
            }
            '-' => true,
            _ => char.is_alphanumeric() && *unspaced.get_or_insert(is_unspaced(char)) == is_unspaced(char),
        };
        if !goes_on {
            break;
        }
        end = start + position + char.len_utf8();
    }
    let domain = text.get(start..end)?.trim_end_matches(['.', '-']);
    Some(start + domain.len())
}

fn is_domain(domain: &str) -> bool {
    let mut labels = domain.split('.').rev();
    let top = labels.next().unwrap_or_default();
    let is_top = top.starts_with("xn--") || (top.chars().count() >= 2 && top.chars().all(char::is_alphabetic));
    let mut others = 0;
    let sound = labels.all(|label| {
        others += 1;
        !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    });
    // `package@1.2.3-rc` is a version.
    let first = domain.split('.').next().unwrap_or_default();
    let is_version = first.bytes().all(|byte| byte.is_ascii_digit()) && others > 1;
    is_top && others > 0 && sound && !is_version
}
