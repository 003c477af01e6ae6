//! Numbers that anything could be, but for the word before them.

use std::fmt::Write as _;

use regex::Captures;

use crate::edges::is_whole_number;
use crate::rules::{Rule, span};
use crate::{Find, Tag};

/// What may stand between a label and its number.
pub const LINK: &str = r"(?i:[\s:#=().,'\x22*_|/\\-]|\bno\b|nr\b|nº|n°|num\b|number|numéro|número|nummer|số|\bso\b|\bis\b|\bwas\b|là|\bla\b|ist|est|\bes\b|\bid\b|card|code|号码|号|番号|번호|của|tôi|mới|new|old|\bmy\b|của tôi|là:){0,14}";

macro_rules! labelled {
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
    let mut rules = Vec::new();
    let mut add = |label: &str, number: &str, judge| {
        let mut pattern = String::with_capacity(label.len() + number.len() + LINK.len() + 16);
        // Writing to a string cannot fail.
        let _ = write!(pattern, "(?i:{label}){LINK}({number})");
        rules.push(Rule::new(pattern, judge));
    };
    add(
        "passport|hộ chiếu|ho chieu|passeport|reisepass|pasaporte|passaporto|passaporte|paspoort|паспорт|护照|護照|パスポート|여권|旅券",
        "[A-Za-z]{0,2}[0-9]{6,9}|[A-Z][0-9]{2}[A-Z]{2}[0-9]{4}|[A-Z0-9]{2}[0-9]{2}[A-Z0-9]{3}[0-9]{2}",
        labelled!(Passport, None),
    );
    add(
        r"\bcccd\b|căn cước công dân|căn cước|can cuoc cong dan|can cuoc|định danh cá nhân|dinh danh ca nhan|citizen id(?:entity)?|identity card",
        "[0-9]{3}(?:[ .-]?[0-9]{3}){3}|[0-9]{4}(?:[ .-][0-9]{4}){2}",
        labelled!(Cccd, None),
    );
    add(
        r"\bcmnd\b|\bcmtnd\b|chứng minh nhân dân|chứng minh thư|chung minh nhan dan|chung minh thu",
        "[0-9]{3}(?:[ .-]?[0-9]{3}){2,3}",
        labelled!(NationalId, None),
    );
    add(
        r"\bmst\b|mã số thuế|ma so thue|mã thuế|\btax (?:code|identification number|id(?:entifier)?)\b",
        "[0-9]{10}(?:[ -]?[0-9]{3})?",
        labelled!(Mst, None),
    );
    add(r"\bssn\b|social security", "[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}", labelled!(Ssn, Some("us_ssn")));
    add(r"\bitin\b", "9[0-9]{2}[ -]?[0-9]{2}[ -]?[0-9]{4}", labelled!(Ssn, Some("us_ssn")));
    add(
        r"national insurance|\bnino\b|\bni number",
        "[A-Za-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]",
        labelled!(NationalId, None),
    );
    add(r"\bnhs\b", "[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}", labelled!(NationalId, Some("gb_nhs")));
    add(r"\bdni\b|\bnie\b|\bnif\b", "[XYZxyz]?-?[0-9]{7,8}-?[A-Za-z]", labelled!(NationalId, Some("es_nif")));
    add(
        r"\bnir\b|sécurité sociale|securite sociale|numéro de sécu",
        "[12] ?[0-9]{2} ?[0-9]{2} ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3}(?: ?[0-9]{2})?",
        labelled!(NationalId, Some("fr_nir")),
    );
    add(
        r"steuer-?id|\bidnr\b|steueridentifikationsnummer|steuerliche identifikationsnummer",
        "[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}",
        labelled!(NationalId, Some("de_idnr")),
    );
    add(r"\bcpf\b", "[0-9]{3}[. ]?[0-9]{3}[. ]?[0-9]{3}[ -]?[0-9]{2}", labelled!(NationalId, Some("br_cpf")));
    add("aadhaar|aadhar|आधार", "[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}", labelled!(NationalId, Some("in_aadhaar")));
    add(
        r"\bbsn\b|burgerservicenummer|sofinummer",
        "[0-9]{4}[. ]?[0-9]{2}[. ]?[0-9]{3}|[0-9]{9}",
        labelled!(NationalId, Some("nl_bsn")),
    );
    add(r"\bpesel\b", "[0-9]{11}", labelled!(NationalId, Some("pl_pesel")));
    add("personnummer|personnr", "[0-9]{6,8}[-+ ]?[0-9]{4,5}", labelled!(NationalId, Some("nordic")));
    add(
        "fødselsnummer|fodselsnummer|cpr-?(?:nummer|nr)?",
        "[0-9]{6}[ -]?[0-9]{4,5}",
        labelled!(NationalId, Some("nordic")),
    );
    add(r"\bsin\b|social insurance", "[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}", labelled!(NationalId, Some("ca_sin")));
    add(r"\btfn\b|tax file", "[0-9]{3} ?[0-9]{3} ?[0-9]{2,3}", labelled!(NationalId, Some("au_tfn")));
    add(
        r"\bnric\b|\bmykad\b",
        "[STFGMstfgm][0-9]{7}[A-Za-z]|[0-9]{6}-?[0-9]{2}-?[0-9]{4}",
        labelled!(NationalId, None),
    );
    add(
        "身份证|身分證|身分证|주민등록번호|マイナンバー|個人番号|my number",
        "[0-9]{4} ?[0-9]{4} ?[0-9]{4}|[0-9]{6}-?[0-9]{7}|[0-9]{17}[0-9Xx]|[A-Z][12][0-9]{8}",
        labelled!(NationalId, None),
    );
    rules
}
