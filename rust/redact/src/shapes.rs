//! What has a form that is rare enough to need no label: numbers of identity, and addresses written `ann [at] example [dot] com`.

use regex::Captures;

use crate::edges::is_whole_number;
use crate::rules::{Rule, span};
use crate::{Find, Tag};

macro_rules! number {
    ($tag:ident, $check:expr) => {
        |text: &str, found: &Captures<'_>, finds: &mut Vec<Find>| {
            let Some((start, end)) = span(found) else { return true };
            let taken = is_whole_number(text, start, end);
            if taken {
                finds.push(Find { tag: Tag::$tag, check: $check, start, end });
            }
            taken
        }
    };
}

/// Returns the expressions.
pub fn rules() -> Vec<Rule> {
    vec![
        Rule::new(
            concat!(
                r"(?i-u)[a-z0-9._%+-]{1,64}\s{0,2}[\[({]\s?(?:at|@)\s?[\])}]\s{0,2}[a-z0-9-]{1,63}",
                r"(?:\s{0,2}(?:[\[({]\s?(?:dot|\.)\s?[\])}]|\.)\s{0,2}[a-z0-9-]{1,63}){1,8}",
            ),
            number!(Email, None),
        ),
        Rule::new(r"[0-9]{10}-[0-9]{3}", number!(Mst, Some("vn_mst"))),
        Rule::new(r"P[A-Z<][A-Z]{3}[A-Z<]{39}\s{1,4}[A-Z0-9<]{44}", number!(Passport, None)),
        Rule::new(r"[A-Z0-9<]{9}[0-9][A-Z]{3}[0-9]{7}[MFX<][0-9]{7}[A-Z0-9<]{14}[0-9<][0-9]", number!(Passport, None)),
        Rule::new(
            r"[IAC][A-Z0-9<][A-Z<]{3}[A-Z0-9<]{25}\s{1,4}[0-9]{7}[MFX<][0-9]{7}[A-Z0-9<]{15}\s{1,4}[A-Z<]{30}",
            number!(NationalId, None),
        ),
        Rule::new(
            r"(?i-u)[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]",
            number!(NationalId, Some("it_codicefiscale")),
        ),
        Rule::new(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", number!(NationalId, Some("br_cpf"))),
        Rule::new(
            r"[1-9][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]{4}[0-9Xx]",
            number!(NationalId, Some("cn_ric")),
        ),
        Rule::new(r"[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]-[1-8][0-9]{6}", number!(NationalId, Some("kr_rrn"))),
        Rule::new(
            r"[0-3][0-9][01][0-9]{3}[-+ABCDEFUVWXY][0-9]{3}[0-9A-FHJ-NPR-Y]",
            number!(NationalId, Some("fi_hetu")),
        ),
        Rule::new(r"[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[A-Z0-9][0-9]", number!(NationalId, Some("mx_curp"))),
        Rule::new(r"[A-Z]{3}[PCHFATBLJG][A-Z][0-9]{4}[A-Z]", number!(NationalId, Some("in_pan"))),
    ]
}
