//! Rust source with everything that is not code blanked out: enough of a lexer to look for words.

/// The text with comments, strings and character literals turned into spaces, line by line in the
/// same places.
pub fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => line_end(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => block_comment_end(&chars, at),
            '"' => string_end(&chars, at),
            'r' if !ends_in_word(&out) || prefix_of_raw(&chars, at) => {
                raw_string_end(&chars, at).unwrap_or(at)
            }
            '\'' => char_literal_end(&chars, at).unwrap_or(at),
            _ => at,
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|char| if *char == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// The words (identifiers, keywords, numbers) of blanked code.
pub fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|char: char| !is_word(char)).filter(|word| !word.is_empty())
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn ends_in_word(out: &str) -> bool {
    out.chars().next_back().is_some_and(is_word)
}

/// Whether the `r` at `at` ends the prefix `br` or `cr`.
fn prefix_of_raw(chars: &[char], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|index| chars[index]);
    matches!(before(1), Some('b' | 'c')) && !before(2).is_some_and(is_word)
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|char| *char == '\n').map_or(chars.len(), |length| at + length)
}

fn block_comment_end(chars: &[char], at: usize) -> usize {
    let mut depth = 0_u32;
    let mut index = at;
    while index + 1 < chars.len() {
        match (chars[index], chars[index + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                index += 1;
                continue;
            }
        }
        index += 2;
        if depth == 0 {
            return index;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut index = at + 1;
    while index < chars.len() {
        match chars[index] {
            '\\' => index += 2,
            '"' => return index + 1,
            _ => index += 1,
        }
    }
    chars.len()
}

/// The end of `r"…"`, `r#"…"#` and so on; none when the `r` begins no raw string.
fn raw_string_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|char| **char == '#').count();
    let open = at + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let closes = |index: usize| {
        chars[index] == '"'
            && chars[index + 1..].iter().take(hashes).filter(|char| **char == '#').count() == hashes
    };
    let close = (open + 1..chars.len()).find(|index| closes(*index))?;
    Some(close + 1 + hashes)
}

/// The end of a character literal; none for a lifetime.
fn char_literal_end(chars: &[char], at: usize) -> Option<usize> {
    if chars.get(at + 1) == Some(&'\\') {
        let close = chars.iter().skip(at + 3).position(|char| *char == '\'')?;
        return Some(at + 3 + close + 1);
    }
    (chars.get(at + 2) == Some(&'\'')).then_some(at + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_words(text: &str) -> Vec<String> {
        words(&code_only(text)).map(str::to_owned).collect()
    }

    #[test]
    fn only_code_is_left() {
        assert_eq!(code_words("a // b\nc"), ["a", "c"]);
        assert_eq!(code_words("a /* b /* c */ d */ e"), ["a", "e"]);
        assert_eq!(code_words(r#"a "b \" c" d"#), ["a", "d"]);
        assert_eq!(code_words("a r#\"b \" c\"# d"), ["a", "d"]);
        assert_eq!(code_words("a br\"b\\\" d"), ["a", "br".trim_end_matches('r'), "d"]);
        assert_eq!(code_words("'b' + '\\'' + '\\u{41}' + x"), ["x"]);
        assert_eq!(code_words("fn f<'a>(x: &'a str)"), ["fn", "f", "a", "x", "a", "str"]);
        assert_eq!(code_words("r#type"), ["r", "type"]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = "one\n/* two\nthree */ \"four\nfive\"\nsix";
        assert_eq!(code_only(text).lines().count(), text.lines().count());
        assert_eq!(code_only(text).lines().nth(4), Some("six"));
    }
}
