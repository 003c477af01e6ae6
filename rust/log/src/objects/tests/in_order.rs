//! Reading ahead gives what looking up gives.

use proptest::prelude::*;

use super::*;

fn asked(order: &[usize], all: &[Vec<u8>], reader: &BodyReader) {
    let mut in_order = InOrder::default();
    for &number in order {
        let sha = sha(&all[number]);
        assert_eq!(in_order.get(reader, &sha).unwrap(), reader.get(&sha).unwrap(), "body {number} of {order:?}");
    }
}

fn filled(count: usize, purged: &[usize]) -> (Fake, Vec<Vec<u8>>) {
    let medium = medium();
    let all = bodies(count);
    let mut writer = writer(&medium);
    for group in all.chunks(10) {
        append(&mut writer, group);
        writer.flush().unwrap();
    }
    let gone: Vec<Digest> = purged.iter().map(|&number| sha(&all[number])).collect();
    writer.purge(&gone).unwrap();
    (medium, all)
}

#[test]
fn bodies_in_order_are_read_without_looking_them_up() {
    let (medium, all) = filled(60, &[20]);
    let reader = reader(&medium);
    let mut in_order = InOrder::default();
    let mut read_on = 0;
    for (number, body) in all.iter().enumerate() {
        let expected = if number == 20 { Body::Purged } else { found(body) };
        assert_eq!(in_order.get(&reader, &sha(body)).unwrap(), expected, "body {number}");
        read_on += usize::from(in_order.reads_on());
    }
    assert!(pack_names(&medium).len() > 2, "over several packs");
    assert!(read_on > 30, "only {read_on} of 60");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_order_gives_the_same(
        runs in prop::collection::vec((0_usize..40, 1_usize..12), 1..12),
        purged in prop::collection::vec(0_usize..40, 0..4),
    ) {
        let (medium, mut all) = filled(40, &purged);
        all.push(b"never stored".to_vec());
        let order: Vec<usize> = runs.into_iter().flat_map(|(from, count)| from..(from + count).min(41)).collect();
        asked(&order, &all, &reader(&medium));
    }

    #[test]
    fn damage_gives_the_same(at in 0_usize..1500, order in prop::collection::vec(0_usize..12, 1..4)) {
        let (medium, all) = filled(12, &[]);
        let name = pack_names(&medium)[0].clone();
        let mut bytes = pack_bytes(&medium, &name);
        let place = at % bytes.len();
        bytes[place] ^= 1;
        set_pack(&medium, &name, &bytes);
        let reader = reader(&medium);
        let mut in_order = InOrder::default();
        for number in order.into_iter().chain(0..12) {
            let sha = sha(&all[number]);
            let (ahead, looked_up) = (in_order.get(&reader, &sha), reader.get(&sha));
            // What is damaged is never given; reading on may find what a damaged header hides from looking up.
            match (ahead, looked_up) {
                (Ok(ahead), Ok(looked_up)) => prop_assert_eq!(ahead, looked_up),
                (Ok(ahead), Err(_)) => prop_assert_eq!(ahead, found(&all[number])),
                (Err(_), looked_up) => prop_assert!(looked_up.is_err()),
            }
        }
    }
}
