//! Keys and tokens whose form gives them away.

use regex::Captures;

use crate::edges::{head, stands_alone};
use crate::rules::{Judge, Rule, span};
use crate::{Find, Tag};

macro_rules! alone {
    ($tag:ident) => {
        |text: &str, found: &Captures<'_>, finds: &mut Vec<Find>| note(Tag::$tag, text, found, finds, |_| true)
    };
    ($tag:ident, $fits:expr) => {
        |text: &str, found: &Captures<'_>, finds: &mut Vec<Find>| note(Tag::$tag, text, found, finds, $fits)
    };
}

fn note(tag: Tag, text: &str, found: &Captures<'_>, finds: &mut Vec<Find>, fits: fn(&str) -> bool) -> bool {
    let Some((start, end)) = span(found) else { return true };
    let taken = stands_alone(text, start, end) && text.get(start..end).is_some_and(fits);
    if taken {
        finds.push(Find::certain(tag, start, end));
    }
    taken
}

/// Three digits: words joined by hyphens have none.
fn has_digits(value: &str) -> bool {
    value.bytes().filter(u8::is_ascii_digit).take(3).count() == 3
}

fn mixes_letters_and_digits(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

const PEM: &str = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
const LONGEST_PEM: usize = 40_000;

/// Takes a private key: up to its last line, or as far as base64 goes where that is missing.
fn pem(text: &str, found: &Captures<'_>, finds: &mut Vec<Find>) -> bool {
    let Some(header) = found.get(0) else { return true };
    let body = head(text.get(header.end()..).unwrap_or_default(), LONGEST_PEM);
    let last = body.find("-----END ").filter(|&last| !body.get(..last).is_some_and(|key| key.contains("-----BEGIN")));
    let length = match last {
        Some(last) => {
            let behind = body.get(last + 9..).unwrap_or_default();
            last + 9 + behind.find("-----").filter(|&dashes| dashes < 80).map_or(0, |dashes| dashes + 5)
        }
        None => base64_lines(body),
    };
    if length > 0 {
        finds.push(Find::certain(Tag::PrivateKey, header.start(), header.end() + length));
    }
    true
}

/// Returns how many bytes are lines of base64, joined by whatever a quoting language puts between lines.
fn base64_lines(body: &str) -> usize {
    let mut length = 0;
    let mut at = 0;
    loop {
        let rest = body.get(at..).unwrap_or_default();
        let joint = if rest.starts_with("\\n") || rest.starts_with("\\r") {
            2
        } else {
            rest.bytes().take_while(|byte| b" \t\r\n\"'+,>|#*".contains(byte)).count()
        };
        let line = rest.get(joint..).unwrap_or_default().bytes();
        let line = line.take_while(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')).count();
        if line >= 16
            || (length > 0
                && joint > 0
                && line > 0
                && rest.get(joint..joint + line).is_some_and(|end| end.ends_with('=')))
        {
            at += joint + line;
            length = at;
        } else if joint > 0 && line == 0 && at < body.len() {
            at += joint;
        } else {
            return length;
        }
    }
}

/// What is known of each kind.
const KNOWN: [(&str, Judge); 74] = [
    (PEM, pem),
    (r"AGE-SECRET-KEY-1[A-Z0-9]{58}", alone!(PrivateKey)),
    (r"Private-Lines: [0-9]+(?:\s+[A-Za-z0-9+/=]{8,})+", alone!(PrivateKey)),
    (r#"(?i-u:[a-z][a-z0-9+.-]{1,30})://[^\s/:@'"<>`?#]*:[^\s@'"<>`/]+@[^\s'"<>`]+"#, alone!(ConnectionString)),
    (
        r#"(?i-u:[a-z][a-z0-9+.-]{1,30})://[^\s/:@'"<>`?#]*:[^\s@'"<>`]{1,200}@[^\s'"<>`/]+"#,
        alone!(ConnectionString, is_database),
    ),
    (r"(?:A3T[A-Z0-9]|AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|AIPA|ABIA|ACCA)[A-Z0-9]{16}", alone!(AwsKey)),
    (
        r#"(?i-u:(?:aws|amazon|secret|s3)[A-Za-z_ .-]{0,30}(?:key|secret|access|token)[A-Za-z_ ]{0,20})(?:["'`\]]{0,2}\s{0,4}(?:=>|:=|=|:|,|is)\s{0,4}["'`]{0,2}|\s{1,4})([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        alone!(AwsKey, mixes_letters_and_digits),
    ),
    (r"(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9/+=]{60,}", alone!(AwsKey)),
    (r"ABSK[A-Za-z0-9+/]{100,}={0,2}", alone!(AwsKey)),
    (r"AIza[A-Za-z0-9_-]{35}", alone!(GcpKey)),
    (r"GOCSPX-[A-Za-z0-9_-]{28}", alone!(GcpKey)),
    (r"ya29\.[A-Za-z0-9_-]{20,}", alone!(GcpKey)),
    (r"1//0[A-Za-z0-9_-]{40,}", alone!(GcpKey)),
    (
        r"(?i-u:AccountKey|SharedAccessKey)\s{0,3}=\s{0,3}([A-Za-z0-9+/]{43}(?:[A-Za-z0-9+/]{43})?={1,2})",
        alone!(AzureKey),
    ),
    (
        r"[A-Za-z0-9+/]{52}(?:JQQJ99|AAAAAC|AzSe|\+ASt|AIoT|ACDb|ARmA|APIM|ACRc|AzFu)[A-Za-z0-9+/]{5,60}={0,2}",
        alone!(AzureKey),
    ),
    (r"[?&;](?i-u:sig)=([A-Za-z0-9%+/]{43,90}(?:=|%3[Dd]){0,2})", alone!(AzureKey, mixes_letters_and_digits)),
    (r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", alone!(AzureKey)),
    (r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", alone!(AzureKey)),
    (r"gh[pousr]_[A-Za-z0-9_.-]{36,}", alone!(GithubToken)),
    (r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", alone!(GithubToken)),
    (r"gl(?:pat|dt|rt|rtr|ptt|ft|cbt|soat|oas|imt|agent|ffct|wt)-[A-Za-z0-9_.-]{20,}", alone!(GitlabToken)),
    (r"GR1348941[A-Za-z0-9_-]{20,}", alone!(GitlabToken)),
    (r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}", alone!(SlackToken, has_digits)),
    (r"xapp-[0-9]-[A-Za-z0-9]{8,}-[0-9]{8,}-[A-Za-z0-9]{20,}", alone!(SlackToken)),
    (
        r"(?i-u:https?://)?hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}",
        alone!(SlackToken),
    ),
    (r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}", alone!(StripeKey)),
    (r"whsec_[A-Za-z0-9+/]{24,}={0,2}", alone!(StripeKey)),
    (r"sk-ant-[a-z]{2,8}[0-9]{0,2}-[A-Za-z0-9_-]{20,}", alone!(AnthropicKey)),
    (r"sk-[A-Za-z0-9_-]{20,}", alone!(OpenaiKey, |key| has_digits(key) && !key.starts_with("sk-ant-"))),
    (r"sess-[A-Za-z0-9]{40}", alone!(OpenaiKey)),
    (r"npm_[A-Za-z0-9]{36}", alone!(NpmToken)),
    (
        r#":_(?:authToken|auth|password)\s{0,2}=\s{0,2}["']?([A-Za-z0-9+/=_.-]{8,})"#,
        alone!(NpmToken, mixes_letters_and_digits),
    ),
    (r"pypi-Ag[A-Za-z0-9_-]{50,}", alone!(PypiToken)),
    (r"ey[JI][A-Za-z0-9_-]{8,}\.ey[JI][A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*", alone!(Jwt)),
    (r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", alone!(Jwt)),
    (
        r"(?i-u:https?://)?(?:canary\.|ptb\.)?discord(?:app)?\.com/api/webhooks/[0-9]{10,20}/[A-Za-z0-9_-]{40,}",
        alone!(ApiToken),
    ),
    (
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,38}",
        alone!(ApiToken, mixes_letters_and_digits),
    ),
    (r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", alone!(ApiToken)),
    (r"hf_[A-Za-z0-9]{34}", alone!(ApiToken)),
    (r"dckr_[po]at_[A-Za-z0-9_-]{27,}", alone!(ApiToken)),
    (r"do[opr]_v1_[a-f0-9]{64}", alone!(ApiToken)),
    (r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}", alone!(ApiToken)),
    (r"(?:SK|AC)[0-9a-f]{32}", alone!(ApiToken)),
    (r"key-[0-9a-f]{32}", alone!(ApiToken)),
    (r"[0-9a-f]{32}-us[0-9]{1,2}", alone!(ApiToken)),
    (r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}", alone!(ApiToken)),
    (r"EAAA[A-Za-z0-9_-]{60}", alone!(ApiToken)),
    (r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}", alone!(ApiToken)),
    (r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}", alone!(ApiToken)),
    (r"(?:secret_|ntn_)[A-Za-z0-9]{43,46}", alone!(ApiToken)),
    (r"dapi[0-9a-f]{32}(?:-[0-9])?", alone!(ApiToken)),
    (r"gl(?:sa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|c_[A-Za-z0-9+/]{32,400}={0,2})", alone!(ApiToken)),
    (r"ATATT3[A-Za-z0-9_=-]{100,}", alone!(ApiToken)),
    (r"ATCTT3[A-Za-z0-9_=-]{50,}", alone!(ApiToken)),
    (r"hv[sbr]\.[A-Za-z0-9_-]{24,}", alone!(ApiToken)),
    (r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", alone!(ApiToken)),
    (r"HRKU-[A-Za-z0-9_-]{36,60}", alone!(ApiToken)),
    (r"sb(?:p_[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{22,})", alone!(ApiToken)),
    (r"sntry[su]_[A-Za-z0-9+/=_-]{40,}", alone!(ApiToken)),
    (r"NR(?:AK|AA|II|JS)-[A-Za-z0-9-]{19,40}", alone!(ApiToken)),
    (r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", alone!(ApiToken)),
    (r"fig[du]_[A-Za-z0-9_-]{30,}", alone!(ApiToken)),
    (r"r8_[A-Za-z0-9]{37}", alone!(ApiToken)),
    (r"gsk_[A-Za-z0-9]{52}", alone!(ApiToken)),
    (r"(?:xai-[A-Za-z0-9]{80}|pplx-[A-Za-z0-9]{40,64}|tvly-[A-Za-z0-9-]{28,})", alone!(ApiToken)),
    (r"AKC[A-Za-z0-9]{10,}", alone!(ApiToken, has_digits)),
    (r"(?:fo1_[A-Za-z0-9_-]{40,}|fm[12][ar]?_[A-Za-z0-9+/=_-]{60,})", alone!(ApiToken)),
    (
        r"(?:ops_eyJ[A-Za-z0-9+/=_-]{200,}|A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
        alone!(ApiToken),
    ),
    (r"(?:rubygems_[0-9a-f]{48}|crates?io?_?cio[A-Za-z0-9]{32}|cio[A-Za-z0-9]{32})", alone!(ApiToken)),
    (
        r"(?:pul-[0-9a-f]{40}|dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9._-]{40,}|tfp_[A-Za-z0-9]{40,60}|vercel_[A-Za-z0-9]{24,})",
        alone!(ApiToken),
    ),
    (
        r"(?i-u:PRIVATE-TOKEN|X-API-Key|X-Auth-Token|Api-Key)\s{0,2}:\s{0,3}([A-Za-z0-9+/=_.~-]{16,})",
        alone!(Authorization),
    ),
    (
        r#"(?i-u:authorization)["'`]{0,2}\s{0,3}[:=,]\s{0,3}["'`]{0,2}(?i-u:basic|bearer|token|apikey|bot|digest|negotiate)\s{1,3}([A-Za-z0-9+/=._~:-]{6,})"#,
        alone!(Authorization),
    ),
    (r"(?i-u:bearer)\s{1,3}([A-Za-z0-9+/=._~-]{16,})", alone!(Authorization, has_digits)),
    (
        r#"(?i-u:curl)[^\n]{0,300}?\s(?:-u|--user|--proxy-user)[ =]["']?([^\s:"'<>$]{1,100}:[^\s"'<>$]{2,200})"#,
        alone!(Authorization),
    ),
];

/// Returns the expressions.
pub fn rules() -> Vec<Rule> {
    KNOWN.into_iter().map(|(pattern, judge)| Rule::new(pattern, judge)).collect()
}

/// Whether a URL with a slash in its password is one of a database or a broker: elsewhere the slash begins the path.
fn is_database(url: &str) -> bool {
    const SCHEMES: [&str; 14] = [
        "postgres",
        "mysql",
        "mariadb",
        "mongodb",
        "redis",
        "amqp",
        "mssql",
        "oracle",
        "sqlserver",
        "cockroachdb",
        "clickhouse",
        "kafka",
        "nats",
        "ldap",
    ];
    SCHEMES.iter().any(|scheme| url.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)))
}
