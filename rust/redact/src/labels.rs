//! Numbers that anything could be, but for the word before them.

use std::sync::OnceLock;

use regex::{Captures, Regex};

use crate::edges::{behind, is_whole_number};
use crate::rules::{Rule, compiled};
use crate::{Find, Tag};

/// Words that may stand between a label and its number.
const LINKS: [&str; 41] = [
    "number",
    "numéro",
    "número",
    "nummer",
    "num",
    "nr",
    "no",
    "nº",
    "n°",
    "của tôi",
    "của",
    "tôi",
    "mới",
    "new",
    "old",
    "my",
    "số",
    "so",
    "is",
    "was",
    "là",
    "la",
    "ist",
    "est",
    "es",
    "id",
    "card",
    "code",
    "cá nhân",
    "công ty",
    "doanh nghiệp",
    "hộ kinh doanh",
    "for",
    "of",
    "the",
    "company",
    "holder",
    "his",
    "her",
    "your",
    "with",
];
const MOST_LINKS: usize = 16;

/// Returns where the number may begin that a label before `at` announces.
pub fn linked(text: &str, at: usize) -> usize {
    let mut at = at;
    for _ in 0..MOST_LINKS {
        let Some(rest) = text.get(at..) else { return at };
        let mark =
            rest.chars().next().filter(|char| char.is_whitespace() || ":#=().,'\"*_|/\\-号码番호번".contains(*char));
        let word = || {
            LINKS.iter().find(|link| {
                rest.get(..link.len()).is_some_and(|head| head.to_lowercase() == **link)
                    && !behind(rest, link.len()).is_some_and(char::is_alphanumeric)
            })
        };
        match (mark, word()) {
            (Some(mark), _) => at += mark.len_utf8(),
            (None, Some(word)) => at += word.len(),
            (None, None) => break,
        }
    }
    at
}

/// Notes the number behind a label, which the expression says the form of.
fn labelled(
    text: &str,
    label: &Captures<'_>,
    number: &Regex,
    tag: Tag,
    check: Option<&'static str>,
    finds: &mut Vec<Find>,
) {
    let Some(label) = label.get(0) else { return };
    let start = linked(text, label.end());
    let Some(number) = text.get(start..).and_then(|rest| number.find(rest)) else { return };
    let end = start + number.end();
    if is_whole_number(text, start, end) {
        finds.push(Find { tag, check, start, end });
    }
}

macro_rules! label {
    ($words:expr, $number:expr, $tag:ident, $check:expr) => {
        Rule::new(format!("(?i:{})", $words), |text: &str, label: &Captures<'_>, finds: &mut Vec<Find>| {
            static NUMBER: OnceLock<Regex> = OnceLock::new();
            let number = NUMBER.get_or_init(|| compiled(concat!("^(?:", $number, ")")));
            labelled(text, label, number, Tag::$tag, $check, finds);
            true
        })
    };
}

/// Returns the expressions.
pub fn rules() -> Vec<Rule> {
    vec![
        label!(
            "passport|hộ chiếu|ho chieu|passeport|reisepass|pasaporte|passaporto|passaporte|paspoort|паспорт|护照|護照|パスポート|여권|旅券",
            "[A-Za-z]{0,2}[0-9]{6,9}|[A-Z][0-9]{2}[A-Z]{2}[0-9]{4}|[A-Z0-9]{2}[0-9]{2}[A-Z0-9]{3}[0-9]{2}",
            Passport,
            None
        ),
        label!(
            r"\bcccd\b|căn cước công dân|căn cước|can cuoc cong dan|can cuoc|định danh cá nhân|dinh danh ca nhan|citizen id(?:entity)?|identity card",
            "[0-9]{3}(?:[ .-]?[0-9]{3}){3}|[0-9]{4}(?:[ .-][0-9]{4}){2}",
            Cccd,
            None
        ),
        label!(
            r"\bcmnd\b|\bcmtnd\b|chứng minh nhân dân|chứng minh thư|chung minh nhan dan|chung minh thu",
            "[0-9]{3}(?:[ .-]?[0-9]{3}){2,3}",
            NationalId,
            None
        ),
        label!(
            r"\bmst\b|mã số thuế|ma so thue|mã thuế|\btax (?:code|identification number|id(?:entifier)?)\b",
            "[0-9]{10}(?:[ -]?[0-9]{3})?",
            Mst,
            None
        ),
        label!(r"\bssn\b|social security", "[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}", Ssn, Some("us_ssn")),
        label!(r"\bitin\b", "9[0-9]{2}[ -]?[0-9]{2}[ -]?[0-9]{4}", Ssn, Some("us_ssn")),
        label!(
            r"national insurance|\bnino\b|\bni number",
            "[A-Za-z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-Da-d]",
            NationalId,
            None
        ),
        label!(r"\bnhs\b", "[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4}", NationalId, Some("gb_nhs")),
        label!(r"\bdni\b|\bnie\b|\bnif\b", "[XYZxyz]?-?[0-9]{7,8}-?[A-Za-z]", NationalId, Some("es_nif")),
        label!(
            r"\bnir\b|sécurité sociale|securite sociale|numéro de sécu",
            "[12] ?[0-9]{2} ?[0-9]{2} ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3}(?: ?[0-9]{2})?",
            NationalId,
            Some("fr_nir")
        ),
        label!(
            r"steuer-?id|\bidnr\b|steueridentifikationsnummer|steuerliche identifikationsnummer",
            "[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}",
            NationalId,
            Some("de_idnr")
        ),
        label!(r"\bcpf\b", "[0-9]{3}[. ]?[0-9]{3}[. ]?[0-9]{3}[ -]?[0-9]{2}", NationalId, Some("br_cpf")),
        label!("aadhaar|aadhar|आधार", "[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}", NationalId, Some("in_aadhaar")),
        label!(
            r"\bbsn\b|burgerservicenummer|sofinummer",
            "[0-9]{4}[. ]?[0-9]{2}[. ]?[0-9]{3}|[0-9]{9}",
            NationalId,
            Some("nl_bsn")
        ),
        label!(r"\bpesel\b", "[0-9]{11}", NationalId, Some("pl_pesel")),
        label!("personnummer|personnr", "[0-9]{6,8}[-+ ]?[0-9]{4,5}", NationalId, Some("nordic")),
        label!(
            "fødselsnummer|fodselsnummer|cpr-?(?:nummer|nr)?",
            "[0-9]{6}[ -]?[0-9]{4,5}",
            NationalId,
            Some("nordic")
        ),
        label!(r"\bsin\b|social insurance", "[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}", NationalId, Some("ca_sin")),
        label!(r"\btfn\b|tax file", "[0-9]{3} ?[0-9]{3} ?[0-9]{2,3}", NationalId, Some("au_tfn")),
        label!(r"\bnric\b|\bmykad\b", "[STFGMstfgm][0-9]{7}[A-Za-z]|[0-9]{6}-?[0-9]{2}-?[0-9]{4}", NationalId, None),
        label!(
            "身份证|身分證|身分证|주민등록번호|マイナンバー|個人番号|my number",
            "[0-9]{4} ?[0-9]{4} ?[0-9]{4}|[0-9]{6}-?[0-9]{7}|[0-9]{17}[0-9Xx]|[A-Z][12][0-9]{8}",
            NationalId,
            None
        ),
    ]
}
