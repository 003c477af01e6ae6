//! Telephone numbers: international ones, national ones of a known form, and whatever a label or a country announces.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::edges::{before, behind, head, is_alnum};
use crate::labels::linked;
use crate::rules::{Rule, compiled, span};
use crate::{Find, Tag};

/// So many bytes behind a country's name are looked at.
const NEAR: usize = 256;
const FEWEST: usize = 7;
const MOST: usize = 15;
const LABELS: &str = r"\b(?:tele)?phone(?:s|number)?\b|\btel\b|\btele\b|\bmobile\b|\bcell(?:phone)?\b|\bfax\b|whatsapp|\bzalo\b|\bviber\b|hotline|\bsđt\b|\bsdt\b|đt\b|điện thoại|dien thoai|di động|số máy|téléphone|teléfono|telefon[eo]?\b|\bmóvil\b|celular|\bportable\b|\bhandy\b|rufnummer|电话|手机|電話|手機|携帯|전화|휴대폰|телефон|тел|โทร|\bcall (?:me|us|him|her|them)(?: (?:at|on|under))?|\bgọi\b|\btext me at\b";
/// Countries whose names announce a national number, with the check of their plan.
const COUNTRIES: [(&str, &str); 26] = [
    (r"việt nam|viet ?nam|hà nội|hanoi|sài gòn|saigon", "phone_VN"),
    (r"\bu\.?s\.?a\b|united states|america", "phone_US"),
    (r"\buk\b|united kingdom|britain|england|london", "phone_GB"),
    (r"germany|deutschland|berlin", "phone_DE"),
    (r"france|paris", "phone_FR"),
    (r"spain|españa|madrid", "phone_ES"),
    (r"italy|italia|\broma?\b", "phone_IT"),
    (r"netherlands|nederland|holland|amsterdam", "phone_NL"),
    (r"poland|polska|warsaw", "phone_PL"),
    (r"india|mumbai|delhi", "phone_IN"),
    (r"japan|tokyo|日本|東京", "phone_JP"),
    (r"korea|seoul|한국", "phone_KR"),
    (r"china|中国|beijing|shanghai", "phone_CN"),
    (r"brazil|brasil", "phone_BR"),
    (r"australia|sydney", "phone_AU"),
    (r"singapore", "phone_SG"),
    (r"thailand|bangkok", "phone_TH"),
    (r"indonesia|jakarta", "phone_ID"),
    (r"malaysia", "phone_MY"),
    (r"philippines|manila", "phone_PH"),
    (r"canada|toronto", "phone_CA"),
    (r"mexico|méxico", "phone_MX"),
    (r"sweden|sverige", "phone_SE"),
    (r"switzerland|schweiz|suisse", "phone_CH"),
    (r"ukraine|kyiv", "phone_UA"),
    (r"turkey|türkiye", "phone_TR"),
];

/// Returns the expressions.
pub fn rules() -> Vec<Rule> {
    let mut rules = vec![
        Rule::new(r"\+[ (]{0,2}[1-9][0-9 ().\-/]{5,24}[0-9]", international),
        Rule::new(r"00[ -]?[1-9][0-9][0-9 ().\-/]{5,24}[0-9]", international),
        Rule::new(r"(?:1[-. ])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-. ])[2-9][0-9]{2}[-. ][0-9]{4}", american),
        Rule::new(r"\(?0[235789][0-9]{1,2}\)?(?:[ .-]?[0-9]){7,9}", vietnamese),
        Rule::new(format!("(?i:{LABELS})"), labelled),
    ];
    let names: Vec<String> = COUNTRIES.iter().map(|(names, _)| format!("({names})")).collect();
    rules.push(Rule::new(format!("(?i:{})", names.join("|")), announced));
    rules
}

/// Notes each beginning of a span that ends with a group of digits: what follows a number may be another one.
fn beginnings(text: &str, (start, end): (usize, usize), check: &'static str, finds: &mut Vec<Find>) -> bool {
    let Some(value) = text.get(start..end) else { return true };
    if is_alnum(before(text, start)) || matches!(before(text, start), Some('+' | '_')) {
        return false;
    }
    let mut digits = 0;
    let mut bytes = value.bytes().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        if !byte.is_ascii_digit() {
            continue;
        }
        digits += 1;
        let stops = match bytes.peek() {
            Some((_, next)) => !next.is_ascii_digit(),
            None => !is_alnum(behind(text, end)) && behind(text, end) != Some('_'),
        };
        if stops && (FEWEST..=MOST + 2).contains(&digits) {
            finds.push(Find::unsure(Tag::Phone, check, start, start + at + 1));
        }
    }
    true
}

fn international(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some(span) = span(found) else { return true };
    let hyphenated = |char| matches!(char, Some('-' | '.' | '/' | ','));
    if before(text, span.0).is_some_and(|char| char.is_ascii_digit())
        || (hyphenated(before(text, span.0)) && text.as_bytes().get(span.0) == Some(&b'0'))
    {
        return false;
    }
    beginnings(text, span, "phone_international", finds)
}

fn is_alone(text: &str, start: usize, end: usize) -> bool {
    let digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
    let joint = |char: Option<char>| matches!(char, Some('-' | '.' | '/' | ',' | '+' | '_'));
    !is_alnum(before(text, start))
        && !is_alnum(behind(text, end))
        && !(joint(before(text, start))
            && start > 0
            && (digit(before(text, start - 1)) || is_alnum(before(text, start - 1))))
        && !(joint(behind(text, end)) && digit(behind(text, end + 1)))
}

/// Whether its digits are parted by spaces alone, as are more numbers beside it.
fn is_in_a_row(text: &str, start: usize, end: usize) -> bool {
    let spaced =
        |at: Option<char>, digit: Option<char>| at == Some(' ') && digit.is_some_and(|char| char.is_ascii_digit());
    text.get(start..end).is_some_and(|number| number.bytes().all(|byte| byte == b' ' || byte.is_ascii_digit()))
        && (spaced(before(text, start), before(text, start.saturating_sub(1)))
            || spaced(behind(text, end), behind(text, end + 1)))
}

fn american(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some((start, end)) = span(found) else { return true };
    let taken = is_alone(text, start, end) && !is_in_a_row(text, start, end);
    if taken {
        finds.push(Find::unsure(Tag::Phone, "phone_US", start, end));
    }
    taken
}

fn vietnamese(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some((start, end)) = span(found) else { return true };
    let value = text.get(start..end).unwrap_or_default();
    let mut digits = 0;
    for (at, byte) in value.bytes().enumerate() {
        digits += usize::from(byte.is_ascii_digit());
        let stop = start + at + 1;
        if byte.is_ascii_digit() && matches!(digits, 10 | 11) && is_alone(text, start, stop) {
            finds.push(Find::unsure(Tag::Phone, "phone_VN", start, stop));
        }
    }
    false
}

fn labelled(text: &str, label: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| compiled(r"^\+?[0-9][0-9 ().\-/]{5,24}[0-9]"));
    let Some(label) = label.get(0) else { return true };
    let start = linked(text, label.end());
    let number = text.get(start..).and_then(|rest| NUMBER.find(rest));
    number.is_none_or(|number| beginnings(text, (start, start + number.end()), "phone_labelled", finds))
}

fn announced(text: &str, name: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        compiled(r"^[^\n0-9+]{1,40}(\(?0[0-9][0-9 ().\-/]{5,20}[0-9]|[1-9][0-9]{1,4}(?:[ .\-/][0-9]{2,4}){2,4})")
    });
    let country = COUNTRIES.iter().enumerate().find(|(index, _)| name.get(index + 1).is_some());
    let (Some((_, &(_, check))), Some(name)) = (country, name.get(0)) else { return true };
    let rest = head(text.get(name.end()..).unwrap_or_default(), NEAR);
    if let Some(number) = NUMBER.captures(rest).and_then(|found| found.get(1)) {
        let at = name.end();
        // A number that goes on behind what is looked at is none.
        if number.end() < NEAR - 4 {
            beginnings(text, (at + number.start(), at + number.end()), check, finds);
        }
    }
    true
}
