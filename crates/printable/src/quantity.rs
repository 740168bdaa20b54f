//! Numbers of things, and figures of three digits.

/// A whole number with thousands separated: `10,000`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `thread` → `threads`, `address` → `addresses`; a plural stays.
pub fn plural(noun: &str) -> String {
    if noun.ends_with("ss") {
        format!("{noun}es")
    } else if noun.ends_with('s') {
        noun.to_owned()
    } else {
        format!("{noun}s")
    }
}

/// A number of things: `1 thread`, `10,000 threads`.
pub fn quantity(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {}", count(number), plural(noun)) }
}

/// Three significant digits, and all digits before the point: `1.88`, `12.2`, `114`, `4,571`.
/// What is not a number is a dash.
pub fn significant(figure: f64) -> String {
    if !figure.is_finite() {
        return "–".into();
    }
    let size = figure.abs();
    if size >= 1e15 {
        return format!("{figure:.2e}");
    }
    // The bounds are where rounding to the decimals before would show a fourth digit.
    let decimals = match size {
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 || s == 0.0 => 2,
        s => ((2.0 - s.log10().floor()) as usize).min(6),
    };
    let sign = if figure < 0.0 { "-" } else { "" };
    if decimals == 0 {
        return format!("{sign}{}", count(size.round() as u64));
    }
    let text = format!("{size:.decimals$}");
    if size == 0.0 || text.bytes().all(|b| b == b'0' || b == b'.') {
        "0".into()
    } else {
        format!("{sign}{text}")
    }
}

/// A number of bytes with its unit, a power of 1000: `512 MB`.
pub fn bytes(number: u64) -> String {
    match number as f64 {
        bytes if bytes < 1e3 => format!("{} bytes", significant(bytes)),
        bytes if bytes < 1e6 => format!("{} kB", significant(bytes / 1e3)),
        bytes if bytes < 1e9 => format!("{} MB", significant(bytes / 1e6)),
        bytes => format!("{} GB", significant(bytes / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_significant_digits() {
        let expected = [
            (0.0, "0"),
            (1.876, "1.88"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (12.24, "12.2"),
            (99.96, "100"),
            (114.4, "114"),
            (4571.4, "4,571"),
            (1_234_567.0, "1,234,567"),
            (1.5e300, "1.50e300"),
            (0.0123, "0.0123"),
            (0.12345, "0.123"),
            (-1.5, "-1.50"),
            (1e-12, "0"),
            (f64::NAN, "–"),
        ];
        for (figure, text) in expected {
            assert_eq!(significant(figure), text, "{figure}");
        }
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1000].map(count), ["0", "999", "1,000"]);
    }

    #[test]
    fn nouns_have_plurals() {
        let cases = [(1, "thread", "1 thread"), (2, "source address", "2 source addresses")];
        for (number, noun, text) in cases {
            assert_eq!(quantity(number, noun), text);
        }
        assert_eq!(quantity(10_000, "sockets"), "10,000 sockets");
    }
}
