//! Names of functions where there is little space: a table's column, a box of a flame graph.

use model::Frame;

/// The parts of a path that are kept: a type and its method.
const PARTS_KEPT: usize = 2;

/// The end of a function's name that people call it by: `Probe::steady` for `engine::probe::Probe::steady`,
/// `vector::push_back` for `std::vector<int>::push_back(int const&)`. Names of C functions stay as they are.
pub fn short_function(name: &str) -> String {
    let plain = without_types(without_arguments(name));
    let parts = parts(&plain);
    let is_closure = |part: &&&str| part.starts_with('{');
    let mut named = 0;
    let kept = parts.iter().rev().take_while(|part| {
        named += usize::from(!is_closure(part));
        named <= PARTS_KEPT
    });
    let mut kept: Vec<&str> = kept.copied().collect();
    kept.reverse();
    let short = kept.join("::");
    // Whatever a name looks like, something is left of it.
    if short.trim().is_empty() { name.to_owned() } else { short }
}

/// The name of a function where text is short; of addresses without a symbol that of their module.
pub fn function_name(frame: &Frame) -> String {
    if frame.function.is_empty() {
        let module = if frame.module.is_empty() { "unknown" } else { &frame.module };
        return format!("{module} (no symbol)");
    }
    short_function(&frame.function)
}

/// A C++ function without what it takes and what it promises: `(int const&) const`.
fn without_arguments(name: &str) -> &str {
    let mut depth = 0_i32;
    for (at, letter) in name.char_indices() {
        let is_first = depth == 0;
        match letter {
            '(' if is_first && is_argument_list(name, at) => return &name[..at],
            '<' | '>' if name[..at].trim_end_matches(['<', '>']).ends_with("operator") => {}
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = (depth - 1).max(0),
            _ => {}
        }
    }
    name
}

/// Whether the bracket there begins a list of arguments: it follows a name, and no path goes on behind it.
fn is_argument_list(name: &str, at: usize) -> bool {
    let before = &name[..at];
    let goes_on = name[at..].find("::").is_some_and(|next| closes_before(&name[at..], next));
    !before.is_empty() && !before.ends_with("::") && !before.ends_with("operator") && !goes_on
}

/// Whether the bracket that `text` begins with is closed before the byte `end`.
fn closes_before(text: &str, end: usize) -> bool {
    let mut depth = 0_i32;
    for letter in text[..end].chars() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        if depth == 0 {
            return true;
        }
    }
    false
}

/// Drops `<…>`, but not the operators of C++ (`operator<`) and what begins with a type (`<T as A>::f`).
fn without_types(name: &str) -> String {
    if name.starts_with('<')
        || name.contains("operator")
        || name.matches('<').count() != closed(name)
    {
        return name.to_owned();
    }
    let mut depth = 0_usize;
    let mut kept = String::new();
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept
}

/// How many brackets of types are closed; an arrow closes none.
fn closed(name: &str) -> usize {
    name.matches('>').count() - name.matches("->").count()
}

/// The parts of a path, divided where `::` stands outside of all brackets.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, letter) in name.char_indices() {
        match letter {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth = (depth - 1).max(0),
            ':' if depth == 0 && at >= start && name[at..].starts_with("::") => {
                parts.push(&name[start..at]);
                start = at + 2;
            }
            _ => {}
        }
    }
    parts.push(&name[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_with_its_type_and_method() {
        for (name, wanted) in [
            ("do_sys_poll", "do_sys_poll"),
            ("main", "main"),
            ("__memmove_avx_unaligned_erms", "__memmove_avx_unaligned_erms"),
            ("engine::probe::Probe::steady", "Probe::steady"),
            ("engine::probe::Probe::steady::{closure#0}", "Probe::steady::{closure#0}"),
            ("a::b::c::{{closure}}::{{closure}}", "b::c::{{closure}}::{{closure}}"),
            ("<&T as core::fmt::Debug>::fmt", "<&T as core::fmt::Debug>::fmt"),
            ("std::vector<int, std::allocator<int> >::push_back(int const&)", "vector::push_back"),
            ("(anonymous namespace)::Parser::next(char) const", "Parser::next"),
            ("(anonymous namespace)::next(char)", "(anonymous namespace)::next"),
            ("ns::Outer::f(int)::Local::g()", "Local::g"),
            ("A::operator()(int) const", "A::operator()"),
            ("operator<(A const&, A const&)", "operator<"),
            ("a -> b", "a -> b"),
            ("::", "::"),
            ("((", "(("),
            ("", ""),
        ] {
            assert_eq!(short_function(name), wanted, "{name}");
        }
    }
}
