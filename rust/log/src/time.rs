//! The calendar, as much of it as segment names and messages need.

const NS_PER_DAY: u64 = 86_400_000_000_000;

/// Returns the year and month (1 to 12) of a time in nanoseconds since the Unix epoch, UTC.
pub fn year_month(ts_ns: u64) -> (u64, u64) {
    let (year, month, _) = date(ts_ns);
    (year, month)
}

/// Returns a time in nanoseconds since the Unix epoch as ISO 8601 with microseconds, such as `2026-11-30T15:28:48.559412+00:00`.
pub fn iso(ts_ns: u64) -> String {
    let (year, month, day) = date(ts_ns);
    let micros = ts_ns % NS_PER_DAY / 1_000;
    let seconds = micros / 1_000_000;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:06}+00:00", micros % 1_000_000)
}

/// Returns a time in nanoseconds since the Unix epoch as ISO 8601 with seconds, such as `2026-11-30T15:28:48Z`.
pub fn iso_seconds(ts_ns: u64) -> String {
    let text = iso(ts_ns);
    format!("{}Z", text.split('.').next().unwrap_or_default())
}

/// Returns a time in nanoseconds since the Unix epoch as ISO 8601 to the nanosecond, without zeros at the end of the fraction.
pub fn iso_exact(ts_ns: u64) -> String {
    let (seconds, fraction) = (iso_seconds(ts_ns), ts_ns % 1_000_000_000);
    if fraction == 0 {
        return seconds;
    }
    let digits = format!("{fraction:09}");
    format!("{}.{}Z", seconds.trim_end_matches('Z'), digits.trim_end_matches('0'))
}

/// Returns year, month and day. Counts days from 0000-03-01, so that the leap day is the last of its year.
fn date(ts_ns: u64) -> (u64, u64, u64) {
    let days = ts_ns / NS_PER_DAY + 719_468;
    let era_day = days % 146_097;
    let year_of_era = (era_day - era_day / 1_460 + era_day / 36_524 - era_day / 146_096) / 365;
    let day_of_year = era_day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    (days / 146_097 * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_leap(year: u64) -> bool {
        (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
    }

    #[test]
    fn iso_has_microseconds() {
        assert_eq!(iso(1_796_052_528_559_412_999), "2026-11-30T15:28:48.559412+00:00");
        assert_eq!(iso_seconds(1_796_052_528_559_412_999), "2026-11-30T15:28:48Z");
    }

    #[test]
    fn iso_is_as_exact_as_it_must_be() {
        assert_eq!(iso_exact(1_796_052_528_559_412_999), "2026-11-30T15:28:48.559412999Z");
        assert_eq!(iso_exact(1_796_052_528_500_000_000), "2026-11-30T15:28:48.5Z");
        assert_eq!(iso_exact(1_796_052_528_000_000_001), "2026-11-30T15:28:48.000000001Z");
        assert_eq!(iso_exact(1_796_052_528_000_000_000), "2026-11-30T15:28:48Z");
    }

    #[test]
    fn every_day_until_2200_has_its_month() {
        let mut day = 0;
        for year in 1970..2200 {
            let february = if is_leap(year) { 29 } else { 28 };
            let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(lengths) {
                for of_month in 1..=length {
                    assert_eq!(date(day * NS_PER_DAY + 1), (year, month, of_month), "day {day}");
                    day += 1;
                }
            }
        }
    }
}
