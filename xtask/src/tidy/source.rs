//! Rules that look at one source file at a time.

use super::code::{code_only, words};
use super::{File, Tree};
use std::path::Path;

/// No source file is longer than this.
const LINES_MAX: usize = 900;

/// So many constants decide verdicts at most.
const THRESHOLDS_MAX: usize = 60;

/// Crates that may hold unsafe code, each for what no safe call can do.
const UNSAFE_ALLOWED: &[&str] = &["sys", "readiness", "locks", "http"];

/// Extensions of source code.
const SOURCE: &[&str] = &["rs", "c", "h", "js", "css", "sh", "toml"];

/// Rust files that don't say in their first line what they are.
pub fn opening_lines(tree: &Tree) -> Vec<String> {
    let opens = |file: &&File| {
        let first = file.text.lines().next().unwrap_or_default();
        first.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty())
    };
    tree.rust()
        .filter(|file| !opens(file))
        .map(|file| format!("{}:1: the file must open with a //! line", file.path.display()))
        .collect()
}

/// Files that have grown too long to be read in one go.
pub fn sizes(tree: &Tree) -> Vec<String> {
    let source = tree.files.iter().filter(|file| file.has_extension(&SOURCE[..5]));
    source
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(file, lines)| format!("{}: {lines} lines, {LINES_MAX} at most", file.path.display()))
        .collect()
}

/// The constants that decide verdicts, where they are more than a reader can hold; what follows from another is none.
pub fn thresholds(tree: &Tree) -> Vec<String> {
    let file = Path::new("crates/analysis/src/thresholds.rs");
    let text = tree.rust().find(|own| own.path == file).map_or("", |own| &own.text);
    let is_chosen = |line: &&str| {
        let value = line.strip_prefix("pub const ").and_then(|rest| rest.split_once(" = "));
        value.is_some_and(|(_, value)| !value.contains(char::is_uppercase))
    };
    let chosen = text.lines().filter(is_chosen).count();
    let is_many = chosen > THRESHOLDS_MAX;
    is_many
        .then(|| format!("{}: {chosen}, {THRESHOLDS_MAX} at most", file.display()))
        .into_iter()
        .collect()
}

/// Notes and macros that stand for work not done.
pub fn leftovers(tree: &Tree) -> Vec<String> {
    // Put together here, so that this file does not break its own rule.
    let notes = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
    let macros = [concat!("to", "do!"), concat!("unimple", "mented!")];
    let mut broken = Vec::new();
    for file in tree.files.iter().filter(|file| file.has_extension(SOURCE)) {
        for (number, line) in file.text.lines().enumerate() {
            let note = notes.iter().find(|note| words(line).any(|word| word == **note));
            if let Some(what) = note.or_else(|| macros.iter().find(|name| line.contains(**name))) {
                broken.push(format!("{}:{}: {what} left", file.path.display(), number + 1));
            }
        }
    }
    broken
}

/// Tests that are skipped and say so in another form than the one that is counted, `SKIPPED: why` by `eprintln!`.
pub fn uncounted_skips(tree: &Tree) -> Vec<String> {
    let forms =
        [concat!("\"skip", "ped: "), concat!("\"Skip", "ped: "), concat!("stderr(), \"", "SKIP")];
    let crates = tree.rust().filter(|file| file.path.starts_with("crates"));
    let lines = crates.flat_map(|file| file.text.lines().zip(1..).map(move |line| (file, line)));
    lines
        .filter(|(_, (line, _))| forms.iter().any(|form| line.contains(form)))
        .map(|(file, (_, number))| {
            format!(
                "{}:{number}: a test is skipped by eprintln!(\"SKIPPED: why\")",
                file.path.display()
            )
        })
        .collect()
}

/// Blocks in documents of crates whose manifest says that rustdoc has none to try: it takes a second of CPU time to look.
pub fn untried_examples(tree: &Tree) -> Vec<String> {
    let is_untried = |file: &&File| {
        let owner = tree.crate_of(&file.path).map(|member| member.directory.join("Cargo.toml"));
        let manifest = owner.and_then(|path| tree.files.iter().find(|own| own.path == path));
        let has_block = |line: &str| ["/// ```", "//! ```"].iter().any(|own| line.starts_with(own));
        manifest.is_some_and(|manifest| manifest.text.contains("\ndoctest = false\n"))
            && file.text.lines().any(|line| has_block(line.trim_start()))
    };
    let files = tree.rust().filter(is_untried).map(|file| file.path.display());
    files.map(|path| format!("{path}: an example, and the manifest has doctest = false")).collect()
}

/// Unsafe code in a crate that may have none, or without the argument why it is sound.
pub fn unsafe_code(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for file in tree.rust() {
        let owner = tree.crate_of(&file.path).map_or("", |member| member.name.as_str());
        let code = code_only(&file.text);
        let code: Vec<&str> = code.lines().collect();
        let text: Vec<&str> = file.text.lines().collect();
        for number in (0..code.len()).filter(|number| uses_unsafe(&code, *number)) {
            let position = format!("{}:{}", file.path.display(), number + 1);
            if !UNSAFE_ALLOWED.contains(&owner) {
                broken.push(format!("{position}: crate {owner:?} may hold no unsafe code"));
            } else if !is_argued(&code, &text, number) {
                broken.push(format!("{position}: unsafe without a // SAFETY: line"));
            }
        }
    }
    broken
}

/// Whether a line of blanked code begins an unsafe block, function, trait or implementation. A
/// type (`unsafe fn(…)`) and an attribute (`unsafe(no_mangle)`) are none.
fn uses_unsafe(code: &[&str], number: usize) -> bool {
    let line = code[number];
    line.match_indices("unsafe").any(|(at, word)| {
        let whole = words(line).any(|identifier| identifier == word)
            && !line[..at].ends_with(|char: char| char.is_alphanumeric() || char == '_');
        let below = code.get(number + 1).copied().unwrap_or_default();
        let rest = line[at + word.len()..].trim_start();
        let rest = if rest.is_empty() { below.trim_start() } else { rest };
        // An ABI string between `extern` and what follows is blank here.
        let rest = rest.strip_prefix("extern").map_or(rest, str::trim_start);
        let function = rest.strip_prefix("fn").is_some_and(|name| name.starts_with(' '));
        whole && (function || ["{", "impl", "trait"].iter().any(|next| rest.starts_with(next)))
    })
}

/// Whether the statement at a line, or the comment above it, argues why it is sound.
fn is_argued(code: &[&str], text: &[&str], number: usize) -> bool {
    let argues = |line: &str| line.contains("SAFETY:") || line.contains("# Safety");
    if argues(text[number]) {
        return true;
    }
    for above in (0..number).rev() {
        if argues(text[above]) {
            return true;
        }
        let line = code[above].trim();
        let comment = line.is_empty() && !text[above].trim().is_empty();
        let ends_something = line.ends_with([';', '{', '}']);
        if !comment && (line.is_empty() || ends_something) {
            return false;
        }
    }
    false
}

/// Crates whose root does not forbid unsafe code, or hold it tight where they may have it.
pub fn crate_attributes(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    for member in &tree.crates {
        let wanted = if UNSAFE_ALLOWED.contains(&member.name.as_str()) {
            "#![deny(unsafe_op_in_unsafe_fn)]"
        } else {
            "#![forbid(unsafe_code)]"
        };
        for root in &member.roots {
            let file = tree.files.iter().find(|file| file.path == *root);
            if !file.is_some_and(|file| file.text.lines().any(|line| line.trim() == wanted)) {
                broken.push(format!("{}: {wanted} is missing", root.display()));
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::super::Crate;
    use super::super::tests::tree;
    use super::*;

    /// A tree with one file in a crate of that name.
    fn in_crate(name: &str, text: &str) -> Tree {
        let mut tree = tree(&[("crates/a/src/lib.rs", text)]);
        tree.crates.push(Crate {
            name: name.into(),
            directory: "crates/a".into(),
            roots: vec!["crates/a/src/lib.rs".into()],
            ..Crate::default()
        });
        tree
    }

    #[test]
    fn a_file_without_an_opening_line_is_found() {
        assert!(opening_lines(&in_crate("sys", "//! What it is.\n")).is_empty());
        for text in ["", "//!\n", "// what it is\n", "\n//! late\n", "use std::fs;\n"] {
            assert_eq!(opening_lines(&in_crate("sys", text)).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn a_constant_too_many_is_found() {
        let text = "pub const A: [f64; 2] = [0.1, 0.2];\n".repeat(THRESHOLDS_MAX);
        let broken =
            |text: String| thresholds(&tree(&[("crates/analysis/src/thresholds.rs", &text)]));
        assert!(broken(format!("{text}pub const B: f64 = 1.0 + A;\n")).is_empty());
        assert_eq!(broken(format!("{text}pub const B: f64 = 1.0;\n")).len(), 1);
    }

    #[test]
    fn a_long_file_is_found() {
        assert!(sizes(&in_crate("sys", &"x\n".repeat(LINES_MAX))).is_empty());
        assert_eq!(sizes(&in_crate("sys", &"x\n".repeat(LINES_MAX + 1))).len(), 1);
    }

    #[test]
    fn work_left_over_is_found_in_comments_and_code() {
        for text in [concat!("// TO", "DO: later"), concat!("fn f() { to", "do!() }")] {
            assert_eq!(leftovers(&in_crate("sys", text)).len(), 1, "{text:?}");
        }
        assert!(leftovers(&in_crate("sys", "// what is done\n")).is_empty());
        let skips = |text: &str| uncounted_skips(&in_crate("sys", text)).len();
        assert_eq!(skips(concat!("eprintln!(\"skip", "ped: no perf\");\n")), 1);
        assert_eq!(skips("eprintln!(\"SKIPPED: no perf\");\n"), 0);
    }

    #[test]
    fn an_example_that_is_not_tried_is_found() {
        let broken = |manifest: &str| {
            let mut tree = in_crate("sys", "//! What it is.\n//!\n//! ```\n//! f();\n//! ```\n");
            tree.files.push(File { path: "crates/a/Cargo.toml".into(), text: manifest.into() });
            untried_examples(&tree).len()
        };
        assert_eq!((broken("[lib]\ndoctest = false\n"), broken("[lib]\n")), (1, 0));
    }

    #[test]
    fn unsafe_code_must_be_allowed() {
        let block = "// SAFETY: it is.\nunsafe { f() }\n";
        assert!(unsafe_code(&in_crate("sys", block)).is_empty());
        assert_eq!(unsafe_code(&in_crate("analysis", block)).len(), 1);
        assert_eq!(unsafe_code(&tree(&[("benches/x.rs", block)])).len(), 1);
    }

    #[test]
    fn unsafe_code_must_be_argued() {
        let argued = [
            "// SAFETY: it is,\n// because.\nlet x =\n    unsafe { f() };",
            "let x = unsafe { f() }; // SAFETY: it is.",
            "/// # Safety\n/// `p` is valid.\n#[inline]\npub unsafe fn f(p: *const u8) {}",
            "type F = unsafe extern \"C\" fn(i32);",
            "#[unsafe(no_mangle)]\nfn f() {}",
            "// unsafe { }\nlet s = \"unsafe {\";",
        ];
        for text in argued {
            assert_eq!(unsafe_code(&in_crate("sys", text)), Vec::<String>::new(), "{text}");
        }
        let bare = [
            "unsafe { f() }",
            "unsafe\n{ f() }",
            "// SAFETY: of another.\nunsafe_free();\nlet x = unsafe { f() };",
            "// SAFETY: far away.\n\nunsafe impl Send for X {}",
            "pub unsafe fn f() {}",
            "unsafe extern \"C\" {}",
            "pub unsafe extern \"C\" fn f() {}",
        ];
        for text in bare {
            assert_eq!(unsafe_code(&in_crate("sys", text)).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_crate_says_how_it_holds_unsafe_code() {
        let forbids = "//! A.\n#![forbid(unsafe_code)]\n";
        let denies = "//! A.\n#![deny(unsafe_op_in_unsafe_fn)]\n";
        assert!(crate_attributes(&in_crate("model", forbids)).is_empty());
        assert!(crate_attributes(&in_crate("sys", denies)).is_empty());
        assert_eq!(crate_attributes(&in_crate("model", denies)).len(), 1);
        assert_eq!(crate_attributes(&in_crate("sys", "//! A.\n")).len(), 1);
        let in_comment = "//! A.\n// #![forbid(unsafe_code)]\n";
        assert_eq!(crate_attributes(&in_crate("model", in_comment)).len(), 1);
    }
}
