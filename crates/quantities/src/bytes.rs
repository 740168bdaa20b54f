//! Bytes: `4096B`, `512k`, `16M`, `1G`.

use crate::Error;

/// Reads a number of bytes. `k`, `M` and `G` are powers of 1024, as in dd and fio; `KiB`, `MiB` and `GiB`
/// say the same.
///
/// # Errors
/// If it is no whole number with such a unit, or larger than this machine can count.
pub fn bytes(text: &str) -> Result<usize, Error> {
    let typed = text.trim();
    let wrong =
        || Error::new(format!("`{typed}` is not a number of bytes (such as 0, 4096B or 16M)"));
    if typed == "0" {
        return Ok(0);
    }
    let unit_at = typed.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
    let (digits, unit) = typed.split_at(unit_at);
    let shift = match unit {
        "B" => 0,
        "k" | "K" | "KiB" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        _ => return Err(wrong()),
    };
    let number: usize = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_people_type_them() {
        let cases = [("0", 0), ("4096B", 4096), ("512k", 512 << 10), ("16M", 16 << 20)];
        for (text, number) in cases.into_iter().chain([("1G", 1 << 30), ("2MiB", 2 << 20)]) {
            assert_eq!(bytes(text), Ok(number), "{text}");
        }
        let wrong = ["", "k", "4096", "1m", "1x", "-1", "1.5M", "99999999999G", "1 M", "é", "1é"];
        for text in wrong {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
