//! The bodies that no index covers, in memory.

use super::packs::Position;

/// The frames behind those that the index covers, without gaps in their numbers.
#[derive(Debug, Default)]
pub(super) struct Tail {
    keys: Vec<u64>,
    positions: Vec<Position>,
}

impl Tail {
    pub(super) const fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn push(&mut self, key: u64, at: Position) {
        self.keys.push(key);
        self.positions.push(at);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.keys.truncate(len);
        self.positions.truncate(len);
    }

    /// Returns keys and positions from row `from` of the tail on.
    pub(super) fn rows(&self, from: usize) -> impl Iterator<Item = (u64, Position)> {
        self.keys.iter().copied().zip(self.positions.iter().copied()).skip(from)
    }

    /// Returns the positions under a key, newest first.
    pub(super) fn find(&self, key: u64) -> impl Iterator<Item = Position> {
        let hits = self.keys.iter().zip(&self.positions).rev();
        hits.filter(move |(found, _)| **found == key).map(|(_, at)| *at)
    }
}
