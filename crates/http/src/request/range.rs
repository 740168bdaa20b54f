//! Which bytes of a file are asked for.
//!
//! What RFC 9110 leaves open is done as nginx does it: a range that can't be read is answered with 416,
//! one that ends before it begins asks for nothing, and ranges that together are longer than the file
//! are answered with the whole file.

/// Ranges in one reply, at most; who asks for more gets the whole file.
const RANGES: usize = 64;

/// Bytes from `start` to before `end`; never empty, never beyond the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: u64,
    pub end: u64,
}

impl Span {
    pub(crate) fn bytes(self) -> u64 {
        self.end - self.start
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selected {
    /// The whole file, as if no range was asked for.
    Whole,
    /// These, in the order in which they were asked for; at least one.
    Spans(Vec<Span>),
    /// Nothing that is there.
    Nothing,
}

pub(crate) fn select(value: &[u8], size: u64) -> Selected {
    const UNIT: &[u8] = b"bytes=";
    let Some((unit, list)) = value.split_at_checked(UNIT.len()) else {
        return Selected::Whole;
    };
    if !unit.eq_ignore_ascii_case(UNIT) || list.is_empty() {
        return Selected::Whole;
    }
    let mut spans = Vec::new();
    let mut bytes: u64 = 0;
    for item in list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
        let span = match parse_item(item, size) {
            Item::Bytes(span) => span,
            Item::Nothing => continue,
            Item::Everything => return Selected::Whole,
            Item::Nonsense => return Selected::Nothing,
        };
        match bytes.checked_add(span.bytes()) {
            Some(sum) if sum <= size && spans.len() < RANGES => bytes = sum,
            _ => return Selected::Whole,
        }
        spans.push(span);
    }
    if spans.is_empty() { Selected::Nothing } else { Selected::Spans(spans) }
}

enum Item {
    Bytes(Span),
    Nothing,
    /// All of an empty file, of which there is no range.
    Everything,
    Nonsense,
}

fn parse_item(item: &[u8], size: u64) -> Item {
    if item.is_empty() {
        return Item::Nothing;
    }
    let mut ends = item.splitn(2, |byte| *byte == b'-').map(<[u8]>::trim_ascii);
    let (start, end) = match (ends.next().map(number), ends.next().map(number)) {
        (Some(Number::None), Some(Number::Of(last))) => (size.saturating_sub(last), size),
        (Some(Number::Of(first)), Some(Number::None)) => (first, size),
        (Some(Number::Of(first)), Some(Number::Of(last))) => {
            (first, last.saturating_add(1).min(size))
        }
        _ => return Item::Nonsense,
    };
    match (start, end) {
        (start, end) if start < end => Item::Bytes(Span { start, end }),
        (0, 0) if size == 0 => Item::Everything,
        _ => Item::Nothing,
    }
}

/// What may stand on one side of the hyphen.
enum Number {
    None,
    Of(u64),
    Nonsense,
}

/// A number too large for any file stays larger than any file.
fn number(digits: &[u8]) -> Number {
    if digits.is_empty() {
        return Number::None;
    }
    digits
        .iter()
        .try_fold(0_u64, |value, digit| match digit {
            b'0'..=b'9' => Some(value.saturating_mul(10).saturating_add(u64::from(digit - b'0'))),
            _ => None,
        })
        .map_or(Number::Nonsense, Number::Of)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spans(list: &[(u64, u64)]) -> Selected {
        Selected::Spans(list.iter().map(|(start, end)| Span { start: *start, end: *end }).collect())
    }

    #[test]
    fn ranges_of_ten_thousand_bytes() {
        // The first six are the examples of RFC 9110, 14.1.2.
        let table = [
            ("bytes=0-499", spans(&[(0, 500)])),
            ("bytes=500-999", spans(&[(500, 1000)])),
            ("bytes=-500", spans(&[(9500, 10_000)])),
            ("bytes=9500-", spans(&[(9500, 10_000)])),
            ("bytes=0-0,-1", spans(&[(0, 1), (9999, 10_000)])),
            ("bytes= 0-999, 4500-5499, -1000", spans(&[(0, 1000), (4500, 5500), (9000, 10_000)])),
            ("BYTES=0-0", spans(&[(0, 1)])),
            ("bytes=0-", spans(&[(0, 10_000)])),
            ("bytes=0-20000", spans(&[(0, 10_000)])),
            ("bytes=-20000", spans(&[(0, 10_000)])),
            ("bytes=5-,0-3", spans(&[(5, 10_000), (0, 4)])),
            ("bytes=0-99999999999999999999999", spans(&[(0, 10_000)])),
            ("bytes=0-18446744073709551615", spans(&[(0, 10_000)])),
            ("bytes=,0-0,,2-2,", spans(&[(0, 1), (2, 3)])),
            ("bytes=0-0,10000-", spans(&[(0, 1)])),
            ("bytes=5-3,0-0", spans(&[(0, 1)])),
            ("bytes=10000-", Selected::Nothing),
            ("bytes=10000-10001", Selected::Nothing),
            ("bytes=99999999999999999999999-", Selected::Nothing),
            ("bytes=-0", Selected::Nothing),
            ("bytes=5-3", Selected::Nothing),
            ("bytes=,", Selected::Nothing),
            ("bytes=-", Selected::Nothing),
            ("bytes=a-b", Selected::Nothing),
            ("bytes=0-0x", Selected::Nothing),
            ("bytes=1", Selected::Nothing),
            ("bytes=--1", Selected::Nothing),
            ("bytes=1--1", Selected::Nothing),
            ("bytes=+1-2", Selected::Nothing),
            ("bytes=0-0,x", Selected::Nothing),
            ("bytes=0-,0-", Selected::Whole),
            ("bytes=0-9999,0-0", Selected::Whole),
            ("lines=0-1", Selected::Whole),
            ("bytes 0-1", Selected::Whole),
            ("bytes", Selected::Whole),
            ("bytes=", Selected::Whole),
            ("", Selected::Whole),
        ];
        for (value, expected) in table {
            assert_eq!(select(value.as_bytes(), 10_000), expected, "{value}");
        }
    }

    #[test]
    fn an_empty_file_has_no_ranges() {
        assert_eq!(select(b"bytes=0-", 0), Selected::Whole);
        assert_eq!(select(b"bytes=-5", 0), Selected::Whole);
        assert_eq!(select(b"bytes=5-", 0), Selected::Nothing);
    }

    #[test]
    fn too_many_ranges_are_the_whole_file() {
        let list = |count: usize| format!("bytes={}", vec!["0-0"; count].join(","));
        assert_eq!(select(list(64).as_bytes(), 1000), spans(&[(0, 1); 64]));
        assert_eq!(select(list(65).as_bytes(), 1000), Selected::Whole);
    }

    /// Which bytes a range names, asked of each byte in turn.
    fn named(first: Option<u64>, last: Option<u64>, size: u64) -> Vec<u64> {
        let fits = |position: &u64| match (first, last) {
            (Some(first), Some(last)) => first <= *position && *position <= last,
            (Some(first), None) => first <= *position,
            (None, Some(count)) => *position + count >= size,
            (None, None) => false,
        };
        (0..size).filter(fits).collect()
    }

    #[test]
    fn a_sum_that_is_too_large_for_a_number_is_more_than_the_file() {
        assert_eq!(select(b"bytes=0-,0-", u64::MAX), Selected::Whole);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn spans_name_the_bytes_that_were_asked_for(
            size in 1_u64..40,
            ranges in prop::collection::vec((prop::option::of(0_u64..50), prop::option::of(0_u64..50)), 1..5),
        ) {
            let text = |end: Option<u64>| end.map_or(String::new(), |end| end.to_string());
            let ranges: Vec<_> = ranges.into_iter().filter(|ends| *ends != (None, None)).collect();
            prop_assume!(!ranges.is_empty());
            let list: Vec<String> =
                ranges.iter().map(|(first, last)| format!("{}-{}", text(*first), text(*last))).collect();
            let expected: Vec<Vec<u64>> = ranges
                .iter()
                .map(|(first, last)| named(*first, *last, size))
                .filter(|bytes| !bytes.is_empty())
                .collect();
            let total: usize = expected.iter().map(Vec::len).sum();
            match select(format!("bytes={}", list.join(",")).as_bytes(), size) {
                Selected::Spans(spans) => {
                    let got: Vec<Vec<u64>> =
                        spans.iter().map(|span| (span.start..span.end).collect()).collect();
                    prop_assert_eq!(got, expected);
                }
                Selected::Whole => prop_assert!(total as u64 > size),
                Selected::Nothing => prop_assert_eq!(total, 0),
            }
        }

        #[test]
        fn any_bytes_give_spans_within_the_file(
            list in "[-0-9, =x]{0,40}",
            size in prop_oneof![Just(0), Just(u64::MAX), any::<u64>()],
        ) {
            if let Selected::Spans(spans) = select(format!("bytes={list}").as_bytes(), size) {
                prop_assert!(!spans.is_empty() && spans.len() <= RANGES);
                prop_assert!(spans.iter().all(|span| span.start < span.end && span.end <= size));
                let total: u128 = spans.iter().map(|span| u128::from(span.bytes())).sum();
                prop_assert!(total <= u128::from(size));
            }
        }
    }
}
