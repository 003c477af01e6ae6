//! What the lock file says about who holds the lock. It is for people; a lock without it is still a lock.

use std::collections::BTreeMap;
use std::fmt;

use rustix::process::{Pid, test_kill_process};

use crate::json::Value;
use crate::time::iso_seconds;

/// Who holds a store's lock, as far as is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holder {
    /// Who writes.
    pub actor: Option<String>,
    /// The process.
    pub pid: Option<u32>,
    /// The machine it runs on.
    pub host: Option<String>,
    /// When it took the lock, in ISO 8601, UTC.
    pub since: Option<String>,
}

impl Holder {
    /// This process, taking the lock at `ts_ns` for `actor`.
    pub(crate) fn this(actor: &str, ts_ns: u64) -> Self {
        let actor = Some(actor.to_owned()).filter(|actor| !actor.is_empty());
        Self { actor, pid: Some(std::process::id()), host: Some(host()), since: Some(iso_seconds(ts_ns)) }
    }

    /// Returns the text of the lock file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let text = |value: &Option<String>| value.clone().map_or(Value::Null, Value::Str);
        let lease = Value::Object(BTreeMap::from([
            ("actor".to_owned(), text(&self.actor)),
            ("host".to_owned(), text(&self.host)),
            ("pid".to_owned(), self.pid.map_or(Value::Null, |pid| Value::Int(pid.into()))),
            ("since".to_owned(), text(&self.since)),
        ]));
        lease.to_canonical().unwrap_or_default()
    }

    /// Reads the text of a lock file; nothing is known where it is unreadable, or tells of a process that is gone.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let Ok(lease) = Value::parse(bytes) else { return Self::default() };
        let text =
            |name: &str| lease.get(name).and_then(Value::as_str).filter(|text| is_plain(text)).map(str::to_owned);
        let pid = lease.get("pid").and_then(Value::as_int).and_then(|pid| u32::try_from(pid).ok());
        let holder = Self { actor: text("actor"), pid, host: text("host"), since: text("since") };
        let is_here = holder.host.as_ref().is_none_or(|host| *host == self::host());
        let is_gone = holder.pid.is_some_and(|pid| is_here && !is_alive(pid));
        if is_gone { Self::default() } else { holder }
    }
}

/// One clause of what is known; nothing where nothing is.
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let process = self.pid.map(|pid| format!("process {pid}"));
        let parts = [
            self.actor.clone(),
            match (process, &self.host) {
                (Some(process), Some(host)) => Some(format!("{process} on {host}")),
                (process, host) => process.or_else(|| host.as_ref().map(|host| format!("on {host}"))),
            },
            self.since.as_ref().map(|since| format!("since {since}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// Whether a text of another program can be shown on one line.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.len() <= 256 && !text.chars().any(char::is_control)
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Whether a process of this machine is running, as far as can be told.
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_runs_is_named() {
        let this = Holder::this("ann", 1_796_052_528_559_412_999);
        assert_eq!(Holder::decode(&this.encode()), this);
        let text = format!("ann, process {} on {}, since 2026-11-30T15:28:48Z", std::process::id(), host());
        assert_eq!(this.to_string(), text);
    }

    #[test]
    fn a_process_that_is_gone_is_not_named_unless_it_ran_elsewhere() {
        // No system has processes of this number.
        let gone = Holder { pid: Some(i32::MAX.cast_unsigned()), ..Holder::this("ann", 1) };
        assert_eq!(Holder::decode(&gone.encode()), Holder::default());
        let elsewhere = Holder { host: Some(format!("not-{}", host())), ..gone };
        assert_eq!(Holder::decode(&elsewhere.encode()), elsewhere);
    }

    #[test]
    fn what_cannot_be_read_or_shown_is_left_out() {
        let whole = Holder::this("ann", 1).encode();
        for end in 0..whole.len() {
            assert_eq!(Holder::decode(&whole[..end]), Holder::default());
        }
        assert_eq!(Holder::decode(&vec![b' '; whole.len()]), Holder::default());
        let some = Holder::decode(br#"{"actor":"a\u001b[2J","pid":"x","since":"now"}"#);
        assert_eq!(some, Holder { since: Some("now".into()), ..Holder::default() });
        assert_eq!((some.to_string().as_str(), Holder::default().to_string().as_str()), ("since now", ""));
    }
}
