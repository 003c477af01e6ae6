//! Pairs of texts from fixed seeds.

/// xorshift64*: enough randomness for test data, the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap() % bound
    }
}

/// A line of one of the shapes that Markdown has. The fewer `kinds`, the more lines are equal.
fn line(random: &mut Random, kinds: usize) -> String {
    let words = ["plan", "gateway", "東京", "naïve", "retry 🙂", "memory", "quota", "ledger"];
    let kind = random.below(kinds);
    let word = words[kind % words.len()];
    match kind % 11 {
        0 | 1 => "\n".to_owned(),
        2 => format!("## {word} {kind}\n"),
        3 => format!("- {word} {kind}\n"),
        4 => format!("  - {word} {kind}\n"),
        5 => format!("\t{word} {kind}\n"),
        6 => "```\n".to_owned(),
        7 => format!("{word} {kind}\r\n"),
        8 => format!("    {word} = {kind}\n"),
        9 => format!("--- {word}\n"),
        _ => format!("{word} {} {kind}\n", word.repeat(kind % 5)),
    }
}

/// An old and a new text: up to `lines` lines, edited in up to `lines / 4 + 1` places.
pub fn pair(seed: u64, lines: usize, kinds: usize) -> (String, String) {
    let random = &mut Random::new(seed);
    let old: Vec<String> = (0..random.below(lines + 1)).map(|_| line(random, kinds)).collect();
    let mut new = old.clone();
    for _ in 0..=random.below(lines / 4 + 1) {
        let at = random.below(new.len() + 1);
        let end = (at + random.below(6)).min(new.len());
        match random.below(4) {
            0 => new.insert(at, line(random, kinds)),
            1 => drop(new.drain(at..end)),
            2 => drop(new.splice(at..end, [line(random, kinds)])),
            _ => {
                let block = new[at..end].to_vec();
                let to = random.below(new.len() + 1);
                new.splice(to..to, block);
            }
        }
    }
    let (mut old, mut new) = (old.concat(), new.concat());
    for text in [&mut old, &mut new] {
        if random.below(4) == 0 {
            text.pop();
        }
    }
    (old, new)
}
