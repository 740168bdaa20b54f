//! Templates: texts with words in braces, which have a value in each cell: `sort {n}.txt`.
//!
//! A word begins with a letter, and has letters, digits, `-` and `_`. `{{word}}` is the text `{word}` itself, and
//! `${word}` is the shell's. Whatever else stands in braces is left as it is.

use crate::nearest;
use std::borrow::Cow;

/// A piece of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// As it is.
    Text(&'a str),
    /// The value of this word.
    Word(&'a str),
}

/// The pieces of a template, in order.
fn pieces(template: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest) = (Vec::new(), template);
    let mut text_start = template;
    while let Some(open) = rest.find('{') {
        let before = text_start.len() - rest.len() + open;
        let is_shells = text_start[..before].ends_with('$');
        let escaped = rest[open..].strip_prefix("{{").and_then(word_at);
        let escaped = escaped.filter(|word| rest[open + 2 + word.len()..].starts_with("}}"));
        let word = rest[open..].strip_prefix('{').and_then(word_at).filter(|_| !is_shells);
        match (escaped, word) {
            (Some(word), _) => {
                pieces.push(Piece::Text(&text_start[..before]));
                pieces.push(Piece::Text(&rest[open + 1..open + 3 + word.len()]));
                rest = &rest[open + 4 + word.len()..];
                text_start = rest;
            }
            (None, Some(word)) => {
                pieces.push(Piece::Text(&text_start[..before]));
                pieces.push(Piece::Word(word));
                rest = &rest[open + 2 + word.len()..];
                text_start = rest;
            }
            (None, None) => rest = &rest[open + 1..],
        }
    }
    pieces.push(Piece::Text(text_start));
    pieces
}

/// The word that `text` begins with, if a closing brace follows it.
fn word_at(text: &str) -> Option<&str> {
    let word = &text[..text.find('}')?];
    is_word(word).then_some(word)
}

/// Whether `name` can be a word of a template.
pub fn is_word(name: &str) -> bool {
    let may_follow = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(may_follow)
}

/// The words of a template, each once.
pub fn words(template: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for piece in pieces(template) {
        if let Piece::Word(word) = piece
            && !words.contains(&word)
        {
            words.push(word);
        }
    }
    words
}

/// The template with the value of each word; a word without a value stays as it is.
pub fn fill<'a>(template: &str, value: impl Fn(&str) -> Option<Cow<'a, str>>) -> String {
    let mut text = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Word(word) => match value(word) {
                Some(value) => text.push_str(&value),
                None => text.extend(["{", word, "}"]),
            },
        }
    }
    text
}

/// Refuses a template with a word that is not among `names`.
///
/// # Errors
/// With one line that says what is nearest.
pub fn check(template: &str, names: &[&str]) -> Result<(), String> {
    let Some(word) = words(template).into_iter().find(|word| !names.contains(word)) else {
        return Ok(());
    };
    let hint = match nearest(word, names).as_slice() {
        [] => format!("--set {word}=A,B gives it values"),
        nearest => format!("did you mean {{{}}}?", nearest.join("} or {")),
    };
    Err(format!(
        "`{template}`: nothing gives {{{word}}} a value; {hint} ({{{{{word}}}}} is the text itself)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> String {
        fill(template, |word| match word {
            "n" => Some("100".into()),
            "size" => Some("4k".into()),
            _ => None,
        })
    }

    #[test]
    fn words_in_braces_get_their_values() {
        assert_eq!(filled("sort {n}.txt -S {size}{n}"), "sort 100.txt -S 4k100");
        assert_eq!(words("{n} {size} {n} {my-word_2}"), ["n", "size", "my-word_2"]);
        assert_eq!(filled("\u{e4}{n}\u{1f980}"), "\u{e4}100\u{1f980}");
    }

    #[test]
    fn what_is_no_word_stays_as_it_is() {
        for text in
            ["awk '{print $1}'", "{}", "{1..3} {a,b}", "${n} $${n}", "{n", "}{", "{ n }", ""]
        {
            assert_eq!(filled(text), text);
            assert!(words(text).is_empty(), "{text}");
        }
        assert_eq!(filled("{unset} [{n}]"), "{unset} [100]");
    }

    #[test]
    fn doubled_braces_are_the_text_itself() {
        assert_eq!(filled("awk '{{print}}' {n} {{n}}"), "awk '{print}' 100 {n}");
        assert!(words("{{print}}").is_empty());
    }

    #[test]
    fn a_word_without_a_value_is_refused_with_the_nearest() {
        assert_eq!(check("sort {n} {size}", &["n", "size"]), Ok(()));
        let refused = |template| check(template, &["n", "size"]).unwrap_err();
        let line = refused("sort {sise}");
        assert!(line.contains("did you mean {size}?"), "{line}");
        let line = refused("awk '{print}'");
        assert!(
            line.contains("{{print}} is the text itself") && line.contains("--set print="),
            "{line}"
        );
    }
}
