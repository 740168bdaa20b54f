//! Numbers of things.

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

#[cfg(test)]
mod tests {
    use super::*;

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
