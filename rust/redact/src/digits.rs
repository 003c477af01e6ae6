//! Numbers that prove themselves: payment cards, bank accounts, citizens of Viet Nam and of the United States.

use crate::edges::{before, behind, is_alnum, is_whole_number};
use crate::{Find, Tag};

/// A run of digits.
#[derive(Debug, Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
}

impl Group {
    fn len(self) -> usize {
        self.end - self.start
    }
}

/// How the digits of a card are printed.
const CARDS: [&[usize]; 10] =
    [&[14], &[15], &[16], &[18], &[19], &[4, 4, 4, 4], &[4, 4, 4, 4, 3], &[4, 6, 5], &[4, 6, 4], &[6, 13]];
const CITIZENS: [&[usize]; 6] = [&[12], &[3, 3, 6], &[3, 3, 3, 3], &[4, 4, 4], &[3, 9], &[6, 6]];
const SOCIAL: [&[usize]; 1] = [&[3, 2, 4]];

/// So many numbers in a row are looked at.
const ROW: usize = 12;

/// Notes numbers.
pub fn find(text: &str, finds: &mut Vec<Find>) {
    let groups = groups(text);
    for at in 0..groups.len() {
        let rest = groups.get(at..).unwrap_or_default();
        for shape in CARDS {
            if let Some((start, end, digits)) = fitted(text, rest, shape, b" -.")
                && is_issued(&digits)
                && luhn(&digits)
            {
                finds.push(Find::unsure(Tag::Card, "luhn", start, end));
            }
        }
        for shape in CITIZENS {
            if let Some((start, end, digits)) = fitted(text, rest, shape, b" -.")
                && is_citizen(&digits)
            {
                finds.push(Find::certain(Tag::Cccd, start, end));
            }
        }
        for shape in SOCIAL {
            if let Some((start, end, _)) = fitted(text, rest, shape, b"-") {
                finds.push(Find::unsure(Tag::Ssn, "us_ssn", start, end));
            }
        }
    }
    accounts(text, finds);
}

fn groups(text: &str) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut start = None;
    for (at, byte) in text.bytes().chain([0]).enumerate() {
        match (byte.is_ascii_digit(), start) {
            (true, None) => start = Some(at),
            (false, Some(first)) => {
                groups.push(Group { start: first, end: at });
                start = None;
            }
            _ => {}
        }
    }
    groups
}

/// Returns the span and the digits of groups with these lengths, joined by one separator throughout.
fn fitted(text: &str, groups: &[Group], shape: &[usize], separators: &[u8]) -> Option<(usize, usize, Vec<u8>)> {
    let groups = groups.get(..shape.len())?;
    let bytes = text.as_bytes();
    let mut separator = None;
    let mut last: Option<Group> = None;
    for (group, &length) in groups.iter().zip(shape) {
        if group.len() != length {
            return None;
        }
        if let Some(last) = last {
            let joint = *bytes.get(last.end)?;
            if group.start != last.end + 1 || !separators.contains(&joint) || *separator.get_or_insert(joint) != joint {
                return None;
            }
        }
        last = Some(*group);
    }
    let (start, end) = (groups.first()?.start, groups.last()?.end);
    if !is_whole_number(text, start, end) || is_joined(text, groups, separator) || is_in_a_uuid(text, start, end) {
        return None;
    }
    let digits = text.get(start..end)?.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    Some((start, end, digits))
}

/// Whether the same separator joins more groups: a longer number, or a row of numbers that are none of it.
fn is_joined(text: &str, groups: &[Group], separator: Option<u8>) -> bool {
    let (Some(separator), Some(first), Some(last)) = (separator, groups.first(), groups.last()) else { return false };
    let bytes = text.as_bytes();
    let counted = |before: bool, from: usize| {
        let mut at = from;
        let step = |at: usize| if before { at.checked_sub(1) } else { Some(at + 1) };
        let get = |at: usize| if before { bytes.get(at.checked_sub(1)?) } else { bytes.get(at) };
        let mut joined = 0;
        while joined < ROW && get(at) == Some(&separator) {
            let Some(mut next) = step(at) else { break };
            if !get(next).is_some_and(u8::is_ascii_digit) {
                break;
            }
            while get(next).is_some_and(u8::is_ascii_digit) {
                let Some(further) = step(next) else { break };
                next = further;
            }
            at = next;
            joined += 1;
        }
        joined
    };
    let (left, right) = (counted(true, first.start), counted(false, last.end));
    if separator != b' ' {
        return left + right > 0;
    }
    // One more number may stand beside it, and so may others of its kind.
    left + right > 1 && (left % groups.len() > 0 || right % groups.len() > 0)
}

/// Whether hyphens join it to more hexadecimal, as in a UUID.
fn is_in_a_uuid(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let hex = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_hexdigit);
    let hyphen = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b'-');
    let four = |from: Option<usize>| from.is_some_and(|from| (from..from + 4).all(|at| hex(Some(at))));
    (hyphen(start.checked_sub(1)) && four(start.checked_sub(5)) && (hyphen(start.checked_sub(6))))
        || (hyphen(Some(end)) && four(Some(end + 1)) && hyphen(Some(end + 5)))
}

/// Whether a network issues cards that begin so and are so long.
fn is_issued(digits: &[u8]) -> bool {
    let prefix =
        |length: usize| digits.iter().take(length).fold(0_u32, |number, &digit| number * 10 + u32::from(digit));
    let (two, three, four) = (prefix(2), prefix(3), prefix(4));
    match digits.len() {
        14 => matches!(two, 36 | 38 | 39) || (300..=305).contains(&three),
        15 => matches!(two, 34 | 37),
        16 => {
            two / 10 == 4
                || (51..=55).contains(&two)
                || (2221..=2720).contains(&four)
                || four == 6011
                || (644..=659).contains(&three)
                || (3528..=3589).contains(&four)
                || matches!(two, 50 | 56..=58 | 60 | 62 | 63 | 67 | 81 | 82 | 97)
                || (2200..=2205).contains(&four)
        }
        18 | 19 => two / 10 == 4 || matches!(two, 50 | 56..=58 | 62 | 63 | 67) || four == 9704,
        _ => false,
    }
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, &digit)| match u32::from(digit) * if place % 2 == 1 { 2 } else { 1 } {
            large @ 10.. => large - 9,
            small => small,
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|&digit| digit != digits.first().copied().unwrap_or_default())
}

/// Whether twelve digits are a Vietnamese citizen's: province, century and sex, year of birth, six more.
fn is_citizen(digits: &[u8]) -> bool {
    const PROVINCES: [u8; 63] = [
        1, 2, 4, 6, 8, 10, 11, 12, 14, 15, 17, 19, 20, 22, 24, 25, 26, 27, 30, 31, 33, 34, 35, 36, 37, 38, 40, 42, 44,
        45, 46, 48, 49, 51, 52, 54, 56, 58, 60, 62, 64, 66, 67, 68, 70, 72, 74, 75, 77, 79, 80, 82, 83, 84, 86, 87, 89,
        91, 92, 93, 94, 95, 96,
    ];
    let &[0, tens, ones, century, decade, year, ref rest @ ..] = digits else { return false };
    let born = decade * 10 + year;
    PROVINCES.contains(&(tens * 10 + ones))
        && (century <= 1 || (century <= 3 && born <= 40))
        && rest.iter().any(|&digit| digit != 0)
}

/// How many characters a bank account's number has, by country.
const LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 \
    FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 \
    LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 \
    SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30";

fn length_of(country: &str) -> Option<usize> {
    LENGTHS.split_ascii_whitespace().find_map(|entry| entry.strip_prefix(country)?.parse().ok())
}

/// Notes bank accounts: as many characters as the country has, in groups or not, with the right remainder.
fn accounts(text: &str, finds: &mut Vec<Find>) {
    let bytes = text.as_bytes();
    for (at, window) in bytes.windows(5).enumerate() {
        let [first, second, third, fourth, _] = window else { continue };
        if !(first.is_ascii_alphabetic()
            && second.is_ascii_alphabetic()
            && third.is_ascii_digit()
            && fourth.is_ascii_digit())
            || is_alnum(before(text, at))
        {
            continue;
        }
        let country = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
        let Some(length) = std::str::from_utf8(&country).ok().and_then(length_of) else { continue };
        let Some((end, number)) = spelled(bytes, at, length) else { continue };
        if !is_alnum(behind(text, end)) && remainder(&number) == 1 {
            finds.push(Find::unsure(Tag::Iban, "iban", at, end));
        }
    }
}

/// Takes `length` letters and digits from `start` on, with single separators between them.
fn spelled(bytes: &[u8], start: usize, length: usize) -> Option<(usize, Vec<u8>)> {
    let mut number = Vec::with_capacity(length);
    let mut at = start;
    let mut may_part = false;
    while number.len() < length {
        let byte = *bytes.get(at)?;
        if byte.is_ascii_alphanumeric() {
            number.push(byte.to_ascii_uppercase());
            may_part = true;
        } else if may_part && matches!(byte, b' ' | b'-' | b'.') {
            may_part = false;
        } else {
            return None;
        }
        at += 1;
    }
    Some((at, number))
}

/// The number modulo 97, as ISO 7064 has it.
fn remainder(number: &[u8]) -> u32 {
    let (head, tail) = number.split_at(4.min(number.len()));
    tail.iter().chain(head).fold(0, |rest, &byte| {
        let value = u32::from(if byte.is_ascii_digit() { byte - b'0' } else { byte - b'A' + 10 });
        (rest * if value > 9 { 100 } else { 10 } + value) % 97
    })
}
