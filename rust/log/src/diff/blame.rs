//! Which version each line of a text comes from.

use super::lines;

/// Attributes the lines of a text to the versions that introduced them, walking from the newest version to older ones.
///
/// The result is `git blame`'s for the same versions as a line of commits: a line belongs to the oldest version from which
/// on it was never part of a change. Since the walk goes backwards, a caller can load versions one by one and stop as
/// soon as [`Blame::is_complete`].
#[derive(Debug)]
pub struct Blame {
    /// The version that the next older one is compared with.
    current: Vec<u8>,
    /// How many versions newer than `current` were walked.
    age: usize,
    /// For each line of the newest version, the version it is attributed to, as steps back from the newest.
    ages: Vec<usize>,
    /// Pairs of a line in `current` and the same line in the newest version, ascending in both, for lines that are at
    /// least as old as `current`.
    open: Vec<(usize, usize)>,
}

impl Blame {
    /// Starts at the newest version.
    pub fn new(newest: Vec<u8>) -> Self {
        let count = lines::split(&newest).len();
        Self { current: newest, age: 0, ages: vec![0; count], open: (0..count).map(|line| (line, line)).collect() }
    }

    /// Whether every line is attributed: older versions change nothing any more.
    pub fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes the next older version.
    pub fn step(&mut self, older: Vec<u8>) {
        let changes = lines::changes(&lines::split(&older), &lines::split(&self.current));
        let mut changes = changes.iter().peekable();
        // How far the old text's line numbers are ahead of the new text's after the changes passed so far.
        let (mut old_end, mut new_end) = (0, 0);
        self.open.retain_mut(|(line, _)| {
            while let Some(change) = changes.next_if(|change| change.new.end <= *line) {
                (old_end, new_end) = (change.old.end, change.new.end);
            }
            if changes.peek().is_some_and(|change| change.new.contains(line)) {
                return false;
            }
            *line = old_end + (*line - new_end);
            true
        });
        self.age += 1;
        for &(_, line) in &self.open {
            if let Some(age) = self.ages.get_mut(line) {
                *age = self.age;
            }
        }
        self.current = older;
    }

    /// For each line of the newest version, how many versions before it the line was introduced (0: by the newest
    /// itself). Lines that no version walked so far introduced count as the oldest one's.
    pub fn into_ages(self) -> Vec<usize> {
        self.ages
    }
}

/// Attributes each line of the newest of `versions` (oldest first) to the version that introduced it.
///
/// Gives pairs of an index into `versions` and the line with its line feed; nothing where there is no version.
pub fn blame<'a>(versions: &[&'a [u8]]) -> Vec<(usize, &'a [u8])> {
    let Some((&newest, older)) = versions.split_last() else { return Vec::new() };
    let mut walk = Blame::new(newest.to_vec());
    for version in older.iter().rev() {
        if walk.is_complete() {
            break;
        }
        walk.step(version.to_vec());
    }
    walk.into_ages().into_iter().map(|age| older.len() - age).zip(lines::split(newest)).collect()
}
