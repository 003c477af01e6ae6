//! Diffs and blame against the git binary, which these tests need, and against a naive reading of the formats; frontmatter
//! against its own writer.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod apply;
mod blame;
mod body;
mod fields;
mod frontmatter;
mod git;
mod merge;
mod texts;
mod values;
mod yaml;

use proptest::test_runner::{Config, RngSeed};

/// A number of property cases that are the same in every run.
fn cases(count: u32) -> Config {
    Config { cases: count, rng_seed: RngSeed::Fixed(20_261_130), failure_persistence: None, ..Config::default() }
}
