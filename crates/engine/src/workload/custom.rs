//! What a workload needs to measure subjects of the user's own: names for them, and their words as parameters.

use super::parameter::{Defaults, Parameter, Sweep, Values};
use super::template::{self, is_word};
use model::{CommandOutput, Custom, Shell, Template, Value};

/// A text that lives as long as the process. A process has a handful: descriptions of a workload are static,
/// and those of the user's own are made once.
pub fn leaked(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// Values that live as long as the process.
pub fn leaked_slice<T>(values: Vec<T>) -> &'static [T] {
    Vec::leak(values)
}

/// A parameter for each word that has values, in the order of their names, but for `axis`: any text,
/// used as it was typed.
pub fn word_parameters(custom: &Custom, axis: &str) -> Vec<Parameter> {
    let words = custom.words.iter().filter(|(word, _)| *word != axis);
    let parameter = |(word, values): (&String, &Vec<Value>)| Parameter {
        name: leaked(word),
        about: "a word of the commands, as --set gave it",
        values: Values::Text,
        default: Defaults::always(texts(values)),
        sweep: None,
    };
    words.map(parameter).collect()
}

/// The words with values that none of the texts of a subject has.
pub fn unused_words<'a>(custom: &Custom, texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let used: Vec<&str> = texts.into_iter().flat_map(template::words).collect();
    custom.words.keys().filter(|word| !used.contains(&word.as_str())).cloned().collect()
}

/// The word `name` as the axis: whole numbers. Its points are those that `--set` gave it, if any.
pub fn word_axis(custom: &Custom, name: &str) -> Parameter {
    let points = custom.words.get(name).map_or(&[][..], |values| texts(values));
    Parameter {
        name: leaked(name),
        about: "the word of the commands that grows",
        values: Values::AtLeast(0),
        default: Defaults::always(points),
        sweep: Some(Sweep { label: leaked(name), points: Defaults::always(points) }),
    }
}

fn texts(values: &[Value]) -> &'static [&'static str] {
    leaked_slice(values.iter().map(|value| leaked(&value.text())).collect())
}

/// Reads `name=text`, or a text alone, whose name is empty. A name has letters, digits, and `.`, `_`, `+`, `-`.
/// Capitals before the `=` set a variable for the command behind it: `LC_ALL=C sort {n}.txt` has no name, and
/// `c=LC_ALL=C sort {n}.txt` has one. Nothing else before an `=` is an assignment: in `d=cat; : {n}` it would take
/// the program away.
///
/// ```
/// assert_eq!(engine::read_template("fast=./sort -j {n}").name, "fast");
/// assert_eq!(engine::read_template("dd if=/dev/zero count={n}").name, "");
/// assert_eq!(engine::read_template("LC_ALL=C sort {n}.txt").name, "");
/// ```
pub fn read_template(typed: &str) -> Template {
    let typed = typed.trim();
    let named = typed.split_once('=');
    let named = named.filter(|(name, text)| is_subject_name(name) && !sets_variable(name, text));
    let (name, text) = named.unwrap_or(("", typed));
    Template { name: name.to_owned(), text: text.trim().to_owned() }
}

/// Whether `name=text` sets a variable for a command: its name has capitals, and more than its value follows, which
/// does not end the command.
fn sets_variable(name: &str, text: &str) -> bool {
    let may_be_in_it = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let has_capital = name.contains(|c: char| c.is_ascii_uppercase());
    let mut words = text.split_whitespace();
    let ends = |word: &str| word.contains([';', '&', '|']) && !word.contains(['"', '\'']);
    let has_value = words.next().is_some_and(|value| !ends(value));
    let has_program = words.next().is_some_and(|word| !word.starts_with([';', '&', '|']));
    has_capital && name.chars().all(may_be_in_it) && has_value && has_program
}

/// Whether `name` can be the name of a subject.
fn is_subject_name(name: &str) -> bool {
    let may_follow = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(may_follow)
}

/// Gives each template that has no name one that no other has: the name of its program, or the host of its
/// address.
///
/// # Errors
/// With one line, where two were given the same name, a name has other characters than those of a subject's, or a
/// text is empty.
pub fn name_templates(templates: &mut [Template]) -> Result<(), String> {
    let mut taken: Vec<String> = Vec::new();
    for template in templates.iter() {
        if template.text.is_empty() {
            return Err(match template.name.as_str() {
                "" => "there is no command in an empty text".to_owned(),
                name => format!("{name}= has no command"),
            });
        }
        if !template.name.is_empty() && !is_subject_name(&template.name) {
            // It is the name of a file, too.
            return Err(format!(
                "`{}` is no name of a subject: letters, digits, and . _ + -",
                template.name.escape_debug()
            ));
        }
        if taken.contains(&template.name) {
            return Err(format!("two are called {}; give each a name of its own", template.name));
        }
        taken.extend((!template.name.is_empty()).then(|| template.name.clone()));
    }
    for template in templates.iter_mut().filter(|template| template.name.is_empty()) {
        let name = default_name(&template.text);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let unique =
            std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        template.name = unique.unwrap_or(name);
        taken.push(template.name.clone());
    }
    Ok(())
}

/// The name of a command's program, or the host and port of an address.
fn default_name(text: &str) -> String {
    let without_scheme = text.split_once("://").map(|(_, rest)| rest.split('/').next());
    let is_assignment = |word: &&str| word.contains('=') || *word == "env";
    let program = || {
        let word = text.split_whitespace().find(|word| !is_assignment(word)).unwrap_or_default();
        word.rsplit('/').next()
    };
    let name = without_scheme.unwrap_or_else(program).unwrap_or_default();
    let name = name.rsplit('@').next().unwrap_or_default();
    let kept = |c: char| match c {
        _ if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-') => Some(c),
        ':' => Some('-'),
        _ => None,
    };
    let name: String = name.chars().filter_map(kept).collect();
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if name.is_empty() { "command".to_owned() } else { name.to_owned() }
}

/// Reads `word=A,B`: a word of templates and its values.
///
/// # Errors
/// With one line.
pub fn read_word(typed: &str) -> Result<(String, Vec<Value>), String> {
    let example = "such as size=4k,64k";
    let (word, values) = typed
        .split_once('=')
        .ok_or_else(|| format!("`{typed}` is no word with its values ({example})"))?;
    let word = word.trim();
    let word = word.strip_prefix('{').and_then(|word| word.strip_suffix('}')).unwrap_or(word);
    if !is_word(word) {
        return Err(format!(
            "`{word}` is no word of a command: letters, digits, - and _ ({example})"
        ));
    }
    if values.trim().is_empty() {
        return Err(format!("`{typed}` gives {{{word}}} no value ({example})"));
    }
    let values = values.split(',').map(|value| Value::from(value.trim())).collect();
    Ok((word.to_owned(), values))
}

/// What interprets commands, by its word: `none`, `default`, or a shell; none for an empty one.
pub fn read_shell(typed: &str) -> Option<Shell> {
    match typed.trim() {
        "" => None,
        "none" => Some(Shell::None),
        "default" => Some(Shell::Program("sh".to_owned())),
        program => Some(Shell::Program(program.to_owned())),
    }
}

/// Where output goes, by its word: `null`, `inherit`, `keep`, or a file.
pub fn read_output(typed: &str) -> CommandOutput {
    match typed {
        "null" => CommandOutput::Null,
        "inherit" => CommandOutput::Inherit,
        "keep" => CommandOutput::Keep,
        file => CommandOutput::File(file.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(typed: &[&str]) -> Vec<String> {
        let mut templates: Vec<Template> = typed.iter().map(|text| read_template(text)).collect();
        name_templates(&mut templates).unwrap();
        templates.into_iter().map(|template| template.name).collect()
    }

    #[test]
    fn a_command_is_called_like_its_program() {
        assert_eq!(
            named(&["/usr/bin/sort {n}", "x=sort {n}", "sort -u {n}"]),
            ["sort", "x", "sort-2"]
        );
        assert_eq!(
            named(&["env A=B ./my-prog_1 {n}", "./{tool} {n}", "{ x; }"]),
            ["my-prog_1", "tool", "command"]
        );
        assert_eq!(named(&["http://me:secret@127.0.0.1:8080/a?b=c"]), ["127.0.0.1-8080"]);
    }

    #[test]
    fn a_name_takes_no_program_away() {
        let read = |typed| {
            let Template { name, text } = read_template(typed);
            [name, text]
        };
        assert_eq!(read("d=cat; : {n}"), ["d", "cat; : {n}"]);
        assert_eq!(read("slow=./slow.sh; : {n}"), ["slow", "./slow.sh; : {n}"]);
        assert_eq!(read("SLOW=./slow.sh; : {n}"), ["SLOW", "./slow.sh; : {n}"]);
        assert_eq!(read("SLOW=./slow.sh && : {n}"), ["SLOW", "./slow.sh && : {n}"]);
        assert_eq!(read("X=cat|wc {n}"), ["X", "cat|wc {n}"]);
        assert_eq!(read("OPTS='a;b' ./x {n}"), ["", "OPTS='a;b' ./x {n}"]);
        assert_eq!(
            read("loop=i=0; while true; do :; done"),
            ["loop", "i=0; while true; do :; done"]
        );
        assert_eq!(read("i=0; while true; do :; done"), ["i", "0; while true; do :; done"]);
    }

    #[test]
    fn a_variable_in_front_of_a_command_is_no_name() {
        assert_eq!(
            named(&[
                "PORT={port} node server.js",
                "LC_ALL=C sort {n}.txt",
                "PYTHON=python3 ./run {n}"
            ]),
            ["node", "sort", "run"]
        );
        let kept = read_template("LC_ALL=C sort {n}.txt");
        assert_eq!(kept.text, "LC_ALL=C sort {n}.txt");
        let named_so = read_template("c=LC_ALL=C sort {n}.txt");
        assert_eq!((named_so.name.as_str(), named_so.text.as_str()), ("c", kept.text.as_str()));
        // Without a command behind it there is nothing to set a variable for.
        assert_eq!(read_template("A=http://127.0.0.1/").name, "A");
        assert_eq!(read_template("Sort=sort {n}.txt").name, "Sort");
        assert_eq!(read_template("2=sort {n}.txt").name, "2");
    }

    #[test]
    fn a_path_is_no_name() {
        for name in ["/var/myapp", "..", "a/b", ".hidden", "a b", "\u{202e}"] {
            let mut templates = [Template { name: name.to_owned(), text: "x {n}".to_owned() }];
            let wrong = name_templates(&mut templates).unwrap_err();
            assert!(wrong.contains("is no name of a subject"), "{name}: {wrong}");
        }
    }

    #[test]
    fn names_are_given_once() {
        let mut twice = [read_template("a=x"), read_template("a=y")];
        assert!(name_templates(&mut twice).unwrap_err().contains("two are called a"));
        let mut empty = [read_template("a=")];
        assert!(name_templates(&mut empty).is_err());
    }

    #[test]
    fn a_word_has_values_as_they_were_typed() {
        let (word, values) = read_word("size=4k, 64k").unwrap();
        assert_eq!((word.as_str(), values.len()), ("size", 2));
        assert_eq!(values[0].text(), "4k");
        assert_eq!(read_word("{size}=1").unwrap().0, "size");
        assert_eq!(read_word("flag=,-x").unwrap().1[0].text(), "", "one of several may be empty");
        for wrong in ["size", "=1", "a b=1", "1=2", "size=", "size= "] {
            assert!(read_word(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_are_parameters_and_the_axis_has_their_points() {
        let custom = Custom {
            words: [read_word("size=4k,64k"), read_word("threads=1,2")].map(Result::unwrap).into(),
            ..Custom::default()
        };
        let parameters = word_parameters(&custom, "threads");
        assert_eq!(parameters.len(), 1);
        assert_eq!(parameters[0].default.values(true), ["4k", "64k"]);
        let axis = word_axis(&custom, "threads");
        assert_eq!(axis.sweep.unwrap().points.values(false), ["1", "2"]);
        assert!(word_axis(&custom, "n").default.values(false).is_empty());
    }
}
