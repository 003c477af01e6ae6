//! `cargo +nightly fuzz run json`, from the crate's folder.
#![no_main]

#[allow(dead_code, reason = "one body of several")]
#[path = "../../tests/fuzz_bodies/mod.rs"]
mod fuzz_bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_bodies::json(bytes));
