//! `cargo +nightly fuzz run segment`, from the crate's folder.
#![no_main]

#[allow(dead_code, reason = "one body of several")]
#[path = "../../tests/arbitrary/mod.rs"]
mod arbitrary;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| arbitrary::segment(bytes));
