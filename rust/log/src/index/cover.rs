//! Which files of a folder make up the index.

use std::collections::BTreeMap;

use crate::hash::Digest;

/// Contiguous rows, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Span {
    const fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

const DIGITS: usize = 20;
const SUFFIX: &str = ".run";
const TEMPORARY: &str = ".tmp";

/// Returns the name of a run's file.
pub(super) fn run_name(span: Span) -> String {
    format!("{:0DIGITS$}-{:0DIGITS$}{SUFFIX}", span.first, span.last)
}

/// Returns the name of the file in which writer `number` of a process prepares a run.
pub(super) fn temporary_name(span: Span, process: u32, number: u64) -> String {
    format!("{:0DIGITS$}-{:0DIGITS$}.{process}-{number}{TEMPORARY}", span.first, span.last)
}

/// Returns the rows that a run's name says it has; `None` where it is not the name of a run.
pub(super) fn parse_run_name(name: &str) -> Option<Span> {
    let (span, rest) = parse_span(name)?;
    (rest == SUFFIX).then_some(span)
}

fn parse_span(name: &str) -> Option<(Span, &str)> {
    let (first, rest) = name.split_at_checked(DIGITS)?;
    let (last, rest) = rest.strip_prefix('-')?.split_at_checked(DIGITS)?;
    let number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?;
    let span = Span { first: number(first)?, last: number(last)? };
    (0 < span.first && span.first <= span.last).then_some((span, rest))
}

/// Whether a file is of no use beside a cover: a run, finished or not, whose rows are all in one run of the cover.
pub(super) fn is_leftover(name: &str, cover: &[Span]) -> bool {
    parse_span(name).is_some_and(|(span, rest)| {
        let inside = cover.iter().any(|run| run.contains(span));
        inside && (rest.ends_with(TEMPORARY) || (rest == SUFFIX && !cover.contains(&span)))
    })
}

/// What a run says of itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) span: Span,
    pub(super) before: Digest,
    pub(super) mark: Digest,
}

/// Chooses the runs that reach furthest from row 1, and of these the fewest; returns their positions, oldest first.
///
/// Runs follow each other where the rows do and the marks agree, so that runs of different logs are never mixed.
pub(super) fn choose(candidates: &[Candidate]) -> Vec<usize> {
    let mut order: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
    // A run ends where the next may begin, and begins before it ends: so this order meets a run after all that lead to it.
    order.sort_by_key(|(_, candidate)| candidate.span);
    // For the row and mark where a cover ends: how many runs it has, and the last of them.
    let mut ends: BTreeMap<(u64, Digest), (usize, Option<usize>)> = BTreeMap::from([((0, Digest::ZERO), (0, None))]);
    for (at, candidate) in order {
        let Some(&(runs, _)) = ends.get(&(candidate.span.first - 1, candidate.before)) else { continue };
        let end = ends.entry((candidate.span.last, candidate.mark)).or_insert((usize::MAX, None));
        if runs + 1 < end.0 {
            *end = (runs + 1, Some(at));
        }
    }
    let mut chosen = Vec::new();
    let mut end = ends.last_key_value().map(|(_, end)| *end);
    while let Some((_, Some(at))) = end {
        chosen.push(at);
        end = candidates.get(at).and_then(|run| ends.get(&(run.span.first - 1, run.before))).copied();
    }
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let span = Span { first: 1, last: u64::MAX };
        assert_eq!(run_name(span), "00000000000000000001-18446744073709551615.run");
        assert_eq!(parse_run_name(&run_name(span)), Some(span));
        assert_eq!(parse_run_name(&temporary_name(span, 7, 8)), None);
        for name in [
            "",
            "1-2.run",
            "00000000000000000001-00000000000000000002.run.bak",
            "00000000000000000001-00000000000000000002",
            "00000000000000000001_00000000000000000002.run",
            "00000000000000000000-00000000000000000002.run",
            "00000000000000000003-00000000000000000002.run",
            "+0000000000000000001-00000000000000000002.run",
            "00000000000000000001-18446744073709551616.run",
            "0000000000000000000ä-00000000000000000002.run",
        ] {
            assert_eq!(parse_run_name(name), None, "{name}");
        }
    }

    #[test]
    fn the_furthest_cover_has_the_fewest_runs() {
        let mark = |seq: u64| if seq == 0 { Digest::ZERO } else { Digest([u8::try_from(seq).unwrap(); 32]) };
        let run =
            |first: u64, last| Candidate { span: Span { first, last }, before: mark(first - 1), mark: mark(last) };
        let runs = [run(9, 12), run(1, 4), run(5, 8), run(1, 8), run(14, 20), run(5, 12)];
        let chosen = choose(&runs);
        assert!(chosen == [3, 0] || chosen == [1, 5], "{chosen:?}");
        assert_eq!(choose(&runs[..3]), [1, 2, 0]);
        assert_eq!(choose(&runs[..1]), [0; 0]);
        // Another log's row 4 leads nowhere.
        let other = Candidate { mark: mark(99), ..run(1, 4) };
        assert_eq!(choose(&[other, run(5, 8)]), [0]);
        assert_eq!(choose(&[other, run(1, 4), run(5, 8)]), [1, 2]);
    }
}
