//! The `format` file of a tracepoint: where each field stands in its raw data.

/// Where a field stands in the raw data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    /// The field of this name, if the format has it whole, and with numbers that can be.
    pub fn find(format: &str, name: &str) -> Option<Field> {
        format.lines().find_map(|line| {
            let mut parts = line.trim().split(';').map(str::trim);
            let declared = parts.next()?.strip_prefix("field:")?;
            // `unsigned long args[6]` and `struct pollfd * ufds`: the name stands last.
            let last = declared.split([' ', '*']).next_back()?;
            if last.split('[').next() != Some(name) {
                return None;
            }
            let mut number = |key: &str| -> Option<usize> {
                let value = parts.next()?.strip_prefix(key)?.parse().ok()?;
                u16::try_from(value).is_ok().then_some(value)
            };
            Some(Field { offset: number("offset:")?, size: number("size:")? })
        })
    }

    /// The number of 4 or 8 bytes at the field's place, the `index`th of an array.
    pub fn number(self, raw: &[u8], index: usize, each: usize) -> Option<i64> {
        let begin = index.checked_mul(each)?;
        if begin + each > self.size {
            return None;
        }
        let bytes = raw.get(self.offset + begin..self.offset + begin + each)?;
        match each {
            8 => Some(i64::from_ne_bytes(bytes.try_into().ok()?)),
            4 => Some(i32::from_ne_bytes(bytes.try_into().ok()?).into()),
            _ => None,
        }
    }

    /// The one number that the field is.
    pub fn integer(self, raw: &[u8]) -> Option<i64> {
        self.number(raw, 0, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18, x86-64.
    const ENTER: &str = include_str!("../tests/recorded/sys_enter.format");
    const EPOLL: &str = include_str!("../tests/recorded/sys_enter_epoll_wait.format");

    #[test]
    fn fields_are_found_by_name() {
        assert_eq!(Field::find(ENTER, "id"), Some(Field { offset: 8, size: 8 }));
        assert_eq!(Field::find(ENTER, "args"), Some(Field { offset: 16, size: 48 }));
        assert_eq!(Field::find(ENTER, "common_type"), Some(Field { offset: 0, size: 2 }));
        assert_eq!(Field::find(EPOLL, "events"), Some(Field { offset: 24, size: 8 }));
        assert_eq!(Field::find(EPOLL, "__syscall_nr"), Some(Field { offset: 8, size: 4 }));
        assert_eq!(Field::find(ENTER, "ret"), None);
        assert_eq!(Field::find(ENTER, ""), None);
    }

    #[test]
    fn what_is_cut_short_or_impossible_is_no_field() {
        let whole = Field::find(ENTER, "args");
        let mut checked = 0;
        for end in (0..ENTER.len()).filter(|&end| ENTER.is_char_boundary(end)) {
            match Field::find(&ENTER[..end], "args") {
                // A number may be cut within, and is then another number, within bounds.
                Some(field) => assert!(field.size <= 48 && field.offset <= 16),
                None => continue,
            }
            checked += usize::from(Field::find(&ENTER[..end], "args") == whole);
        }
        assert!(checked > 0);
        for hostile in [
            "field:long id;\toffset:-8;\tsize:8;",
            "field:long id;\toffset:99999999999999999999;\tsize:8;",
            "field:long id;\toffset:8;\tsize:18446744073709551615;",
            "field:long id;\tsize:8;\toffset:8;",
            "field:long id",
            "field:",
            ";;;;",
        ] {
            assert_eq!(Field::find(hostile, "id"), None, "{hostile}");
        }
    }

    #[test]
    fn numbers_are_read_only_where_they_are() {
        let mut raw = vec![0; 64];
        raw[8..16].copy_from_slice(&(-4_i64).to_ne_bytes());
        raw[56..64].copy_from_slice(&77_i64.to_ne_bytes());
        let id = Field { offset: 8, size: 8 };
        let args = Field { offset: 16, size: 48 };
        assert_eq!(id.integer(&raw), Some(-4));
        assert_eq!(args.number(&raw, 5, 8), Some(77));
        assert_eq!(args.number(&raw, 6, 8), None);
        assert_eq!(args.number(&raw[..63], 5, 8), None);
        assert_eq!(args.integer(&raw), None);
        assert_eq!(Field { offset: 60, size: 8 }.integer(&raw), None);
        assert_eq!(
            Field { offset: 8, size: 4 }.integer(&raw),
            Some(if cfg!(target_endian = "little") { -4 } else { -1 })
        );
    }
}
