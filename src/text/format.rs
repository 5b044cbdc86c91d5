//! Durations, sizes and shares in few columns.

const SECOND_MS: u64 = 1000;
const MINUTE_S: u64 = 60;
const HOUR_S: u64 = 60 * MINUTE_S;
const DAY_S: u64 = 24 * HOUR_S;

/// Returns `42s`, `6m05s`, `2h13m`, `3d04h`, `412d`: two units at most, in at most five columns
/// up to 9,999 days.
pub fn elapsed(ms: u64) -> String {
    let seconds = ms / SECOND_MS;
    let (days, hours, minutes) = (
        seconds / DAY_S,
        seconds % DAY_S / HOUR_S,
        seconds % HOUR_S / MINUTE_S,
    );
    match seconds {
        0..MINUTE_S => format!("{seconds}s"),
        MINUTE_S..HOUR_S => format!("{minutes}m{:02}s", seconds % MINUTE_S),
        HOUR_S..DAY_S => format!("{hours}h{minutes:02}m"),
        _ if days < 100 => format!("{days}d{hours:02}h"),
        _ => format!("{days}d"),
    }
}

/// Returns `[[dd-]hh:]mm:ss`, as the ETIME column of ps(1).
pub fn etime(ms: u64) -> String {
    let seconds = ms / SECOND_MS;
    let (days, hours) = (seconds / DAY_S, seconds % DAY_S / HOUR_S);
    let rest = format!("{:02}:{:02}", seconds % HOUR_S / MINUTE_S, seconds % MINUTE_S);
    match (days, hours) {
        (0, 0) => rest,
        (0, _) => format!("{hours:02}:{rest}"),
        _ => format!("{days:02}-{hours:02}:{rest}"),
    }
}

/// Returns a size in powers of 1,024, in at most four columns up to 999 P: `0`, `900B`, `1.5K`,
/// `61M`, `1.2G`.
pub fn bytes(count: u64) -> String {
    if count == 0 {
        return "0".to_owned();
    }
    if count < 1000 {
        return format!("{count}B");
    }
    let mut unit = 1u128;
    for letter in ['K', 'M', 'G', 'T', 'P', 'E'] {
        unit *= 1024;
        let tenths = rounded(u128::from(count) * 10, unit);
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        let whole = rounded(u128::from(count), unit);
        if whole < 1000 || letter == 'E' {
            return format!("{whole}{letter}");
        }
    }
    count.to_string()
}

/// Returns a share given in tenths of a per cent: `0.0`, `12.3`, `100`, `412`. From 100 per cent
/// on (more than one CPU) without a decimal, so that four columns hold it.
pub fn percent(permille: u32) -> String {
    if permille < 1000 {
        format!("{}.{}", permille / 10, permille % 10)
    } else {
        (permille / 10).to_string()
    }
}

fn rounded(count: u128, unit: u128) -> u128 {
    (count + unit / 2) / unit
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elapsed_takes_two_units() {
        for (seconds, expected) in [
            (0, "0s"),
            (42, "42s"),
            (59, "59s"),
            (60, "1m00s"),
            (365, "6m05s"),
            (3_599, "59m59s"),
            (3_600, "1h00m"),
            (7_980, "2h13m"),
            (86_399, "23h59m"),
            (86_400, "1d00h"),
            (273_600, "3d04h"),
            (8_639_999, "99d23h"),
            (8_640_000, "100d"),
            (35_596_800, "412d"),
        ] {
            assert_eq!(elapsed(seconds * 1000), expected);
        }
        assert_eq!(elapsed(999), "0s");
    }

    #[test]
    fn etime_is_that_of_ps() {
        for (seconds, expected) in [
            (0, "00:00"),
            (65, "01:05"),
            (3_599, "59:59"),
            (3_600, "01:00:00"),
            (86_399, "23:59:59"),
            (86_400, "01-00:00:00"),
            (8_640_061, "100-00:01:01"),
        ] {
            assert_eq!(etime(seconds * 1000), expected);
        }
    }

    #[test]
    fn bytes_change_the_unit_in_time() {
        for (count, expected) in [
            (0, "0"),
            (1, "1B"),
            (999, "999B"),
            (1_000, "1.0K"),
            (1_024, "1.0K"),
            (1_536, "1.5K"),
            (10_189, "10K"),
            (524_288, "512K"),
            (1_023_487, "999K"),
            (1_023_488, "1.0M"),
            (63_963_136, "61M"),
            (1_288_490_189, "1.2G"),
            (u64::MAX, "16E"),
        ] {
            assert_eq!(bytes(count), expected, "{count}");
        }
    }

    #[test]
    fn percent_drops_the_decimal_at_a_hundred() {
        for (permille, expected) in [
            (0, "0.0"),
            (5, "0.5"),
            (123, "12.3"),
            (999, "99.9"),
            (1000, "100"),
            (4125, "412"),
        ] {
            assert_eq!(percent(permille), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn columns_stay_narrow(count in any::<u64>(), days in 0u64..10_000) {
            prop_assert!(bytes(count).len() <= 4);
            prop_assert!(elapsed(days * DAY_S * 1000 + 1).len() <= 6);
        }
    }
}
