//! The fuzz bodies on bytes that are random, and on bytes that nearly are what is read.

mod fuzz_bodies;
mod strategies;

use cyberos_log::Digest;
use proptest::collection::vec;
use proptest::prelude::*;

fn changed(mut bytes: Vec<u8>, changes: Vec<(prop::sample::Index, u8)>) -> Vec<u8> {
    for (at, byte) in changes {
        let at = at.index(bytes.len());
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    vec((any::<prop::sample::Index>(), strategies::byte_of_json()), 0..4)
}

proptest! {
    #![proptest_config(strategies::config(2_000))]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        fuzz_bodies::json(&bytes);
        fuzz_bodies::row(&bytes);
    }

    #[test]
    fn bytes_of_json(bytes in vec(strategies::byte_of_json(), 0..30)) {
        fuzz_bodies::json(&bytes);
    }

    #[test]
    fn nearly_canonical_json(value in strategies::value(), changes in changes()) {
        fuzz_bodies::json(&changed(value.to_canonical().expect("a value that has a canonical form"), changes));
    }

    #[test]
    fn nearly_rows(draft in strategies::draft(), changes in changes()) {
        fuzz_bodies::row(&changed(draft.seal(&Digest::ZERO).expect("a row that can be written").0, changes));
    }
}
