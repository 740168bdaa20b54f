//! What a workload needs to measure subjects of the user's own: names for them, and their words as parameters.

use super::parameter::{Defaults, Parameter, Sweep, Values};
use model::{Custom, Value};
use quantities::template;

/// A parameter for each word that has values, in the order of their names, but for `axis`: any text,
/// used as it was typed.
pub fn word_parameters(custom: &Custom, axis: &str) -> Vec<Parameter> {
    let words = custom.words.iter().filter(|(word, _)| *word != axis);
    let parameter = |(word, values): (&String, &Vec<Value>)| Parameter {
        name: word.clone().leak(),
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
    let name: &'static str = name.to_owned().leak();
    Parameter {
        name,
        about: "the word of the commands that grows",
        values: Values::AtLeast(0),
        default: Defaults::always(points),
        sweep: Some(Sweep { label: name, points: Defaults::always(points) }),
    }
}

/// Texts that live as long as the process. It has a handful: descriptions of a workload are static, and those of the user's
/// own are made once.
fn texts(values: &[Value]) -> &'static [&'static str] {
    let text = |value: &Value| -> &'static str { value.text().into_owned().leak() };
    values.iter().map(text).collect::<Vec<_>>().leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parameters_and_the_axis_has_their_points() {
        let custom = Custom {
            words: [("size", ["4k", "64k"]), ("threads", ["1", "2"])]
                .map(|(word, values)| (word.to_owned(), values.map(Value::from).to_vec()))
                .into(),
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
