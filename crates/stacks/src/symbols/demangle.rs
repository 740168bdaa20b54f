//! Names of functions for people: demangled and shortened.

use cpp_demangle::{DemangleOptions, Symbol};

/// A name longer than this loses its beginning: its end says more.
const NAME_CHARS_MAX: usize = 100;
/// Nested types that are unwrapped. A name may come from any program, so the depth is bounded.
const TYPE_DEPTH_MAX: usize = 8;

/// A symbol's name for people: demangled, without its hash, its parameters, the trait that a method is of
/// and the types that it was made for, and not too long.
pub fn readable(name: &str) -> String {
    let name = without_types(&own_type(&demangled(name), TYPE_DEPTH_MAX));
    let chars = name.chars().count();
    if chars <= NAME_CHARS_MAX {
        return name;
    }
    let end: String = name.chars().skip(chars + 1 - NAME_CHARS_MAX).collect();
    format!("…{end}")
}

/// A name of Rust or of C++, demangled; any other as it is.
fn demangled(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let demangled = || Symbol::new(name).ok()?.demangle_with_options(&options).ok();
    let is_mangled = name.starts_with("_Z") || name.starts_with("__Z");
    is_mangled.then(demangled).flatten().unwrap_or_else(|| name.to_owned())
}

/// `<a::B as c::D>::e` is `a::B::e`; what has no type by name (`<&T as …>`) stays.
fn own_type(name: &str, depth_left: usize) -> String {
    let inner = name.strip_prefix('<').filter(|_| depth_left > 0);
    let Some((inner, close)) = inner.and_then(|inner| Some((inner, closing(inner)?))) else {
        return name.to_owned();
    };
    let (inner, rest) = (&inner[..close], &inner[close + 1..]);
    let mut depth = 0_usize;
    let is_as = |&(at, letter): &(usize, char)| {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && inner[at..].starts_with(" as ")
    };
    let own = inner.char_indices().find(is_as).map_or(inner, |(at, _)| &inner[..at]);
    [&own_type(own, depth_left - 1), rest].concat()
}

/// Drops `<…>` and `::<…>`, which say for which types a function was made.
fn without_types(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('<') {
        let Some(close) = closing(&rest[at + 1..]) else { break };
        let before = &rest[..at];
        // A name that begins with a type in brackets would be left without a beginning.
        if out.is_empty() && before.is_empty() {
            out.push_str(&rest[..close + 2]);
        } else {
            out.push_str(before.strip_suffix("::").unwrap_or(before));
        }
        rest = &rest[at + close + 2..];
    }
    out.push_str(rest);
    out
}

/// Where the bracket that was opened before `text` is closed; the `>` of an arrow closes nothing.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        before = letter;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable() {
        for (name, wanted) in [
            ("_ZN5locks6ticket6Ticket4lock17h0123456789abcdefE", "locks::ticket::Ticket::lock"),
            (
                "_ZN67_$LT$locks..ticket..Ticket$u20$as$u20$lock_api..mutex..RawMutex$GT$4lock17h0123456789abcdefE",
                "locks::ticket::Ticket::lock",
            ),
            ("<locks::Block<locks::byte::Byte> as lock_api::RawMutex>::lock", "locks::Block::lock"),
            ("locks::contend::<locks::ticket::Ticket>::{closure#0}", "locks::contend::{closure#0}"),
            ("core::ops::FnOnce<fn(u8) -> Option<u8>>::call", "core::ops::FnOnce::call"),
            ("<&T as core::fmt::Debug>::fmt", "&T::fmt"),
            ("<<a::B as c::D>::E as f::G>::h", "a::B::E::h"),
            ("memcpy", "memcpy"),
            ("_ZN3net4Loop4spinEi", "net::Loop::spin"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"),
            ("_ZN12_GLOBAL__N_13runEi.isra.0", "(anonymous namespace)::run"),
            ("_Z4workv", "work"),
            ("_Zunknown", "_Zunknown"),
            ("operator<", "operator<"),
            ("a <- b", "a <- b"),
            ("", ""),
        ] {
            assert_eq!(readable(name), wanted, "{name}");
        }
        let long = readable(&"x::".repeat(100));
        assert_eq!(long.chars().count(), NAME_CHARS_MAX);
        assert!(long.starts_with('…') && long.ends_with("x::"), "{long}");
    }
}
