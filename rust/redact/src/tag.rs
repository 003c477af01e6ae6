//! What can be found.

/// What a candidate is, the most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it; docs/redaction.md describes them")]
pub enum Tag {
    PrivateKey,
    ConnectionString,
    AwsKey,
    GcpKey,
    AzureKey,
    GithubToken,
    GitlabToken,
    SlackToken,
    StripeKey,
    AnthropicKey,
    OpenaiKey,
    NpmToken,
    PypiToken,
    Jwt,
    ApiToken,
    Authorization,
    Password,
    Secret,
    Card,
    Iban,
    Ssn,
    Cccd,
    Mst,
    Passport,
    NationalId,
    Phone,
    Email,
    Ip,
}

impl Tag {
    /// All of them, the most severe first.
    pub const ALL: [Self; 28] = [
        Self::PrivateKey,
        Self::ConnectionString,
        Self::AwsKey,
        Self::GcpKey,
        Self::AzureKey,
        Self::GithubToken,
        Self::GitlabToken,
        Self::SlackToken,
        Self::StripeKey,
        Self::AnthropicKey,
        Self::OpenaiKey,
        Self::NpmToken,
        Self::PypiToken,
        Self::Jwt,
        Self::ApiToken,
        Self::Authorization,
        Self::Password,
        Self::Secret,
        Self::Card,
        Self::Iban,
        Self::Ssn,
        Self::Cccd,
        Self::Mst,
        Self::Passport,
        Self::NationalId,
        Self::Phone,
        Self::Email,
        Self::Ip,
    ];

    /// Its name, which stands in angle brackets where it was found.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrivateKey => "PRIVATE_KEY",
            Self::ConnectionString => "CONNECTION_STRING",
            Self::AwsKey => "AWS_KEY",
            Self::GcpKey => "GCP_KEY",
            Self::AzureKey => "AZURE_KEY",
            Self::GithubToken => "GITHUB_TOKEN",
            Self::GitlabToken => "GITLAB_TOKEN",
            Self::SlackToken => "SLACK_TOKEN",
            Self::StripeKey => "STRIPE_KEY",
            Self::AnthropicKey => "ANTHROPIC_KEY",
            Self::OpenaiKey => "OPENAI_KEY",
            Self::NpmToken => "NPM_TOKEN",
            Self::PypiToken => "PYPI_TOKEN",
            Self::Jwt => "JWT",
            Self::ApiToken => "API_TOKEN",
            Self::Authorization => "AUTHORIZATION",
            Self::Password => "PASSWORD",
            Self::Secret => "SECRET",
            Self::Card => "CARD",
            Self::Iban => "IBAN",
            Self::Ssn => "SSN",
            Self::Cccd => "CCCD",
            Self::Mst => "MST",
            Self::Passport => "PASSPORT",
            Self::NationalId => "NATIONAL_ID",
            Self::Phone => "PHONE",
            Self::Email => "EMAIL",
            Self::Ip => "IP",
        }
    }

    /// Whether `text` is nothing but tags that stand for what was found before.
    pub fn is_tag(text: &str) -> bool {
        let mut rest = text;
        while let Some(inner) = rest.strip_prefix('<') {
            let Some((name, behind)) = inner.split_once('>') else { return false };
            if !Self::ALL.iter().any(|tag| tag.name() == name) {
                return false;
            }
            rest = behind;
        }
        rest.is_empty()
    }
}
