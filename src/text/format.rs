//! Durations, sizes and shares in few columns.

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns `42s`, `6m05s`, `2h13m`, `3d04h`, `412d`: at most five columns, the two largest units.
pub fn elapsed(ms: u64) -> String {
    let (days, hours, minutes, seconds) = parts(ms);
    if days >= 100 {
        format!("{days}d")
    } else if days > 0 {
        format!("{days}d{hours:02}h")
    } else if hours > 0 {
        format!("{hours}h{minutes:02}m")
    } else if minutes > 0 {
        format!("{minutes}m{seconds:02}s")
    } else {
        format!("{seconds}s")
    }
}

/// Returns ps(1)'s `etime`: `[[dd-]hh:]mm:ss`.
pub fn etime(ms: u64) -> String {
    let (days, hours, minutes, seconds) = parts(ms);
    if days > 0 {
        format!("{days}-{hours:02}:{minutes:02}:{seconds:02}")
    } else if hours > 0 {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

fn parts(ms: u64) -> (u64, u64, u64, u64) {
    (
        ms / DAY,
        ms % DAY / HOUR,
        ms % HOUR / MINUTE,
        ms % MINUTE / SECOND,
    )
}

/// Returns a size in binary units: `0`, `512K`, `61M`, `1.2G`.
pub fn bytes(bytes: u64) -> String {
    if bytes == 0 {
        return "0".to_owned();
    }
    let mut tenths = u128::from(bytes) * 10;
    for unit in ["B", "K", "M", "G", "T", "P"] {
        if tenths < 10_240 || unit == "P" {
            let small = tenths < 100 && unit != "B" && unit != "K" && unit != "M";
            return if small {
                format!("{}.{}{unit}", tenths / 10, tenths % 10)
            } else {
                format!("{}{unit}", tenths / 10)
            };
        }
        tenths /= 1_024;
    }
    String::new()
}

/// Returns tenths of a per cent as whole per cents: `98`.
pub fn percent(permille: u32) -> String {
    ((permille + 5) / 10).to_string()
}

#[cfg(test)]
mod tests {
    use super::{bytes, elapsed, etime, percent};

    #[test]
    fn durations_have_the_two_largest_units() {
        let cases = [
            (0, "0s", "00:00"),
            (42_900, "42s", "00:42"),
            (365_000, "6m05s", "06:05"),
            (7_980_000, "2h13m", "02:13:00"),
            (273_600_000, "3d04h", "3-04:00:00"),
            (35_596_800_000, "412d", "412-00:00:00"),
        ];
        for (ms, short, long) in cases {
            assert_eq!((elapsed(ms).as_str(), etime(ms).as_str()), (short, long));
        }
    }

    #[test]
    fn sizes_are_short() {
        let cases = [
            (0, "0"),
            (512, "512B"),
            (524_288, "512K"),
            (63_963_136, "61M"),
            (1_288_490_188, "1.1G"),
            (12_026_908_672, "11G"),
            (u64::MAX, "16383P"),
        ];
        for (size, text) in cases {
            assert_eq!(bytes(size), text);
        }
        assert_eq!(percent(984), "98");
    }
}
