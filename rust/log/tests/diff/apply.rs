//! The smallest reader of the unified format that can apply a patch.

/// Applies a unified diff to `old`. Panics where the patch does not fit.
pub fn apply(old: &str, patch: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut lines = patch.split_inclusive('\n').peekable();
    assert!(lines.next().unwrap().starts_with("--- "));
    assert!(lines.next().unwrap().starts_with("+++ "));
    let (mut new, mut done) = (String::new(), 0);
    while let Some(header) = lines.next() {
        let ranges: Vec<(usize, usize)> = header
            .trim_end()
            .trim_matches(|c| c == '@' || c == ' ')
            .split(' ')
            .map(|range| {
                let (start, len) = range[1..].split_once(',').unwrap_or((&range[1..], "1"));
                (start.parse().unwrap(), len.parse().unwrap())
            })
            .collect();
        let [(old_start, old_len), (new_start, new_len)] = ranges[..] else { panic!("{header}") };
        let start = if old_len == 0 { old_start } else { old_start - 1 };
        new.extend(old[done..start].iter().copied());
        done = start;
        assert_eq!(new.split_inclusive('\n').count(), if new_len == 0 { new_start } else { new_start - 1 }, "{header}");
        let (mut removed, mut added) = (0, 0);
        while removed < old_len || added < new_len {
            let line = lines.next().unwrap();
            let (mark, mut text) = line.split_at(1);
            if lines.next_if(|next| next.starts_with('\\')).is_some() {
                text = text.strip_suffix('\n').unwrap();
            }
            if mark != "+" {
                assert_eq!(text, old[done], "{patch}");
                done += 1;
                removed += 1;
            }
            if mark != "-" {
                new.push_str(text);
                added += 1;
            }
        }
    }
    new.extend(old[done..].iter().copied());
    new
}
