//! What a user adds to a workload: commands and servers of their own, recorded with the run as data.

use quantities::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// What a user adds to a workload. Each workload takes some of the fields and refuses the others; what is
/// empty or absent has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Custom {
    /// Commands to measure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Template>,
    /// Commands that start a server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Template>,
    /// Addresses of servers that run already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<Template>,
    /// A file of certificates that servers are verified by, besides those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// Whether a server's certificate is not verified.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,
    /// The values of words in templates, as typed: `{size}` is `4k`, then `64k`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, Vec<Value>>,
    /// Figures that a command prints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<PrintedFigure>,
    /// The metric that is the headline; if none is named, see [`Custom::headline`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// A command before the first run of a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// A command before each run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// A command after each run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conclude: Option<String>,
    /// A command after the last run of a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<String>,
    /// Runs of each cell that do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<u32>,
    /// What interprets commands; where it is absent, a shell if their syntax needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<Shell>,
    /// Whether a run counts that ends with an error.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_failure: bool,
    /// The file that commands read as standard input; `/dev/null` where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Where standard output goes; to `/dev/null` where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<CommandOutput>,
    /// A run that takes longer is killed, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit_ms: Option<u64>,
    /// The directory in which commands run.
    #[serde(skip_serializing_if = "is_empty")]
    pub directory: PathBuf,
    /// The `PATH` of each side, where several sides run them in environments of their own. Only planning needs it.
    #[serde(skip)]
    pub search_paths: Vec<OsString>,
}

fn is_empty(path: &std::path::Path) -> bool {
    path.as_os_str().is_empty()
}

/// A command or an address with words in braces, which have a value in each cell: `sort {n}.txt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    /// The subject's name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A figure that a command prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedFigure {
    /// The metric's name.
    pub name: String,
    /// The metric's unit; may be empty.
    pub unit: String,
    /// The regular expression whose first group is the figure.
    pub pattern: String,
    /// Whether less of it is better.
    pub lower_is_better: bool,
    /// Whether that is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direction_assumed: bool,
}

/// What interprets a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shell {
    /// Nothing: its first word is a program, the others are its arguments.
    None,
    /// This program, with words of its own: `bash -o pipefail`. `-c` and the command follow.
    Program(String),
}

/// Where the standard output of commands goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommandOutput {
    /// To `/dev/null`.
    Null,
    /// To the standard error of the program that measures.
    Inherit,
    /// Its end is kept with the cell.
    Keep,
    /// Into this file, whose name may have words in braces.
    File(String),
}

impl Custom {
    /// The metric that verdicts are about first: the named one, or else the first figure that is read from the output. Without
    /// both it is the workload's own.
    pub fn headline(&self) -> Option<&str> {
        let figure = || self.figures.first().map(|figure| figure.name.as_str());
        self.headline.as_deref().or_else(figure)
    }

    /// The commands around those that are measured, by the names of their flags.
    pub fn around(&self) -> impl Iterator<Item = (String, String)> {
        let Custom { setup, prepare, conclude, cleanup, .. } = self;
        let named =
            [("setup", setup), ("prepare", prepare), ("conclude", conclude), ("cleanup", cleanup)];
        named.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?)))
    }

    /// Whether it adds nothing: a directory and paths alone have nothing to run.
    pub fn is_empty(&self) -> bool {
        let nowhere =
            Custom { directory: PathBuf::new(), search_paths: Vec::new(), ..self.clone() };
        nowhere == Custom::default()
    }

    /// The same, with what it leaves open taken from `base`.
    #[must_use]
    pub fn or(self, base: Custom) -> Custom {
        let filled = |own: Vec<Template>, base| if own.is_empty() { base } else { own };
        let mut words = base.words;
        words.extend(self.words);
        Custom {
            commands: filled(self.commands, base.commands),
            servers: filled(self.servers, base.servers),
            urls: filled(self.urls, base.urls),
            ca: self.ca.or(base.ca),
            insecure: self.insecure || base.insecure,
            words,
            figures: if self.figures.is_empty() { base.figures } else { self.figures },
            headline: self.headline.or(base.headline),
            setup: self.setup.or(base.setup),
            prepare: self.prepare.or(base.prepare),
            conclude: self.conclude.or(base.conclude),
            cleanup: self.cleanup.or(base.cleanup),
            warm_up: self.warm_up.or(base.warm_up),
            shell: self.shell.or(base.shell),
            ignore_failure: self.ignore_failure || base.ignore_failure,
            input: self.input.or(base.input),
            output: self.output.or(base.output),
            time_limit_ms: self.time_limit_ms.or(base.time_limit_ms),
            directory: if is_empty(&self.directory) { base.directory } else { self.directory },
            search_paths: if self.search_paths.is_empty() {
                base.search_paths
            } else {
                self.search_paths
            },
        }
    }

    /// The templates of subjects, in the order of tables.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.commands.iter().chain(&self.servers).chain(&self.urls)
    }

    /// Every text that is used, values of words left out.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let hooks = [&self.setup, &self.prepare, &self.conclude, &self.cleanup, &self.input];
        let file = match &self.output {
            Some(CommandOutput::File(file)) => Some(file),
            _ => None,
        };
        let shell = match &self.shell {
            Some(Shell::Program(program)) => Some(program),
            _ => None,
        };
        let texts = self.templates().map(|template| &template.text);
        texts.chain(hooks.into_iter().flatten()).chain(file).chain(shell).map(String::as_str)
    }

    /// The same texts, to be changed.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let hooks = [
            &mut self.setup,
            &mut self.prepare,
            &mut self.conclude,
            &mut self.cleanup,
            &mut self.input,
        ];
        let file = match &mut self.output {
            Some(CommandOutput::File(file)) => Some(file),
            _ => None,
        };
        let shell = match &mut self.shell {
            Some(Shell::Program(program)) => Some(program),
            _ => None,
        };
        let templates = self.commands.iter_mut().chain(&mut self.servers).chain(&mut self.urls);
        let texts = templates.map(|template| &mut template.text);
        texts.chain(hooks.into_iter().flatten()).chain(file).chain(shell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(name: &str, text: &str) -> Template {
        Template { name: name.to_owned(), text: text.to_owned() }
    }

    fn full() -> Custom {
        Custom {
            commands: vec![template("sort", "sort {n}")],
            servers: vec![template("own", "./own {port}")],
            urls: vec![template("nginx", "http://me:secret@host/")],
            ca: Some(PathBuf::from("ca.pem")),
            insecure: true,
            words: BTreeMap::from([("size".to_owned(), vec![Value::from("4k")])]),
            figures: vec![PrintedFigure { name: "ops".to_owned(), ..PrintedFigure::default() }],
            headline: Some("ops".to_owned()),
            setup: Some("setup".to_owned()),
            prepare: Some("prepare".to_owned()),
            conclude: Some("conclude".to_owned()),
            cleanup: Some("cleanup".to_owned()),
            warm_up: Some(1),
            shell: Some(Shell::Program("bash -c".to_owned())),
            ignore_failure: true,
            input: Some("input".to_owned()),
            output: Some(CommandOutput::File("output".to_owned())),
            time_limit_ms: Some(1_000),
            directory: PathBuf::from("/tmp"),
            search_paths: Vec::new(),
        }
    }

    #[test]
    fn what_is_left_open_is_taken_from_the_base() {
        assert_eq!(Custom::default().or(full()), full());
        assert_eq!(full().or(Custom::default()), full());
        let own = Custom {
            words: BTreeMap::from([("depth".to_owned(), vec![Value::from("2")])]),
            warm_up: Some(0),
            ..Custom::default()
        };
        let joined = own.or(full());
        assert_eq!(joined.words.len(), 2, "words are joined one by one");
        assert_eq!(joined.warm_up, Some(0));
    }

    #[test]
    fn every_text_is_changed_and_shown() {
        let mut changed = full();
        changed.texts_mut().for_each(|text| *text = text.to_uppercase());
        let texts: Vec<&str> = changed.texts().collect();
        assert_eq!(texts.len(), 10);
        assert!(texts.iter().all(|text| !text.contains(char::is_lowercase)), "{texts:?}");
    }

    #[test]
    fn a_record_keeps_it_and_an_empty_one_has_no_fields() {
        let json = serde_json::to_string(&full()).unwrap();
        assert_eq!(serde_json::from_str::<Custom>(&json).unwrap(), full());
        assert_eq!(serde_json::to_string(&Custom::default()).unwrap(), "{}");
        assert!(Custom { directory: "/".into(), ..Custom::default() }.is_empty());
        assert!(!full().is_empty());
    }
}
