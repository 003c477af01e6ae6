//! What a working file may hold while it lags behind the chain.

use super::{Chain, Next};
use crate::error::Result;
use crate::hash::Digest;
use crate::json::Value;
use crate::row::{Row, Touch};

/// The versions that a row found and left at the paths it changes.
pub(crate) fn versions_beside(row: &Row<'_>, extra: Option<&Value>) -> impl Iterator<Item = Digest> + use<> {
    let before = extra.and_then(|extra| extra.get("before_sha256")?.as_str());
    let before = before.and_then(|before| Digest::from_hex(before.as_bytes()));
    Digest::from_hex(row.content_sha256().as_bytes()).into_iter().chain(before)
}

impl Chain {
    /// Whether a working file with these bytes may be one that was not yet brought up to rows beyond `view_seq`: one of them
    /// found or left that version at `path`.
    pub fn may_lag(&self, path: &str, sha: Digest, view_seq: u64) -> Result<bool> {
        let (mut found, mut below) = (false, u64::MAX);
        while below > view_seq + 1 && !found {
            let mut came = None;
            self.walk(path, false, below, &mut |step| {
                if step.seq <= view_seq {
                    return Ok(Next::Stop);
                }
                let extra = Value::parse(step.row.extra()).ok();
                found |= versions_beside(&step.row, extra.as_ref()).any(|version| version == sha);
                came = (step.touch == Touch::MoveTo).then_some(step.seq);
                Ok(if found { Next::Stop } else { Next::ContentOnly })
            })?;
            // Before a memory came to the name, another one may have had it.
            below = came.unwrap_or(0);
        }
        Ok(found)
    }
}
