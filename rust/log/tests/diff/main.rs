//! Diffs and blame against the git binary, which these tests need, and against a naive reading of the formats.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod apply;
mod blame;
mod body;
mod git;
mod texts;
