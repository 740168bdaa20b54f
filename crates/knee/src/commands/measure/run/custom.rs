//! The flags for commands and servers of the user's own, and what they add to a request.

use super::flags::Run as RunFlags;
use crate::exit::Trouble;
use crate::usage;
use clap::Args;
use engine::{Custom, PrintedFigure, RunRequest, Template};
use model::Value;
use quantities::Better;
use std::path::PathBuf;
use std::time::Duration;
use suites::{name_templates, read_figure, read_output, read_shell, read_template, read_word};

pub const HEADING: &str = "Of your own";
pub const COMMAND: &str = "command";
/// Its parameter, which other workloads have too, that names them.
const COMMANDS: &str = "command";

/// The flags, which only help for the workloads that take them shows.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = HEADING)]
pub struct CustomFlags {
    /// Server to measure: NAME='./server --port {port}'; may be repeated
    #[arg(long = "server", value_name = "[NAME=]COMMAND")]
    pub servers: Vec<String>,
    /// Server that runs already: [NAME=]http[s]://HOST:PORT/PATH; may be repeated
    #[arg(long = "url", value_name = "[NAME=]URL")]
    pub urls: Vec<String>,
    /// Load also a --url that is neither on this machine nor at a private address
    #[arg(long)]
    pub yes_i_own_this_host: bool,
    /// Trust the certificates of this file (PEM) too, besides those of the system
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// Do not verify the certificate of an https:// --url
    #[arg(long)]
    pub insecure: bool,
    /// Values of a word in braces: size=4k,64k; several give several tables
    #[arg(long = "set", value_name = "WORD=VALUES", value_parser = read_word)]
    pub words: Vec<(String, Vec<Value>)>,
    /// Figure that a command prints: 'ops=([0-9.]+) ops/s'; may be repeated
    #[arg(long = "extract", value_name = "NAME=REGEX", value_parser = read_figure)]
    pub figures: Vec<PrintedFigure>,
    /// Which of two extracted figures is better, once or for each [default: higher of units per second]
    #[arg(long, value_name = "WHICH", value_delimiter = ',', requires = "figures")]
    #[arg(value_parser = usage::better())]
    pub better: Vec<Better>,
    /// Metric that verdicts are about first [default: the first of --extract, or else elapsed]
    #[arg(long, value_name = "METRIC")]
    pub headline: Option<String>,
    /// Run this before the first run of a cell
    #[arg(long, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Run this before each run
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// Run this after each run
    #[arg(long, value_name = "COMMAND")]
    pub conclude: Option<String>,
    /// Run this after the last run of a cell
    #[arg(long, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// Runs of each cell that do not count [default: 1 if there is time for ten]
    #[arg(long, value_name = "N", value_parser = quantities::count_within::<u32>(0..=1_000))]
    pub warmup: Option<u32>,
    /// none, default (sh), or a shell [default: none where the command's syntax needs none]
    #[arg(long, value_name = "SHELL")]
    pub shell: Option<String>,
    /// Count runs that exit with an error
    #[arg(long)]
    pub ignore_failure: bool,
    /// File that commands read [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    pub input: Option<String>,
    /// null, inherit (standard error), keep (the end, with the cell), or a file [default: null]
    #[arg(long, value_name = "WHERE")]
    pub stdout: Option<String>,
    /// Kill a run that takes longer; its cell counts as failed
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub time_limit: Option<Duration>,
}

pub fn with_custom(flags: &RunFlags, mut request: RunRequest) -> Result<RunRequest, Trouble> {
    let named = |name: &str| request.workloads.iter().any(|workload| workload == name);
    let mut commands = Vec::new();
    if named(COMMAND) {
        if named("build") && request.parameters.contains_key(COMMANDS) {
            return Err(Trouble::usage(
                "--command: both command and build have commands; measure them in two runs",
            ));
        }
        let typed = request.parameters.remove(COMMANDS).unwrap_or_default();
        commands = typed.iter().map(|value| value.text().into_owned()).collect();
    }
    let own = &flags.custom;
    let mut custom = Custom {
        commands: templates("command", &commands)?,
        servers: templates("server", &own.servers)?,
        urls: templates("url", &own.urls)?,
        ca: own.ca.clone(),
        insecure: own.insecure,
        figures: figures(&own.figures, &own.better)?,
        headline: own.headline.clone(),
        setup: own.setup.clone(),
        prepare: own.prepare.clone(),
        conclude: own.conclude.clone(),
        cleanup: own.cleanup.clone(),
        warm_up: own.warmup,
        shell: own.shell.as_deref().and_then(read_shell),
        ignore_failure: own.ignore_failure,
        input: own.input.clone().filter(|file| file != "null"),
        output: own.stdout.as_deref().map(read_output),
        time_limit_ms: own.time_limit.map(|time| time.as_millis() as u64),
        ..Custom::default()
    };
    for (word, values) in &own.words {
        let set = custom.words.entry(word.clone()).or_default();
        set.extend(values.iter().cloned());
    }
    if !custom.is_empty() {
        request.custom = Some(Box::new(custom));
    }
    Ok(request)
}

/// Refuses a URL that can't be loaded, or whose host is elsewhere unless the user `owns` it.
pub fn check_urls(custom: &Custom, owns: bool) -> Result<(), String> {
    for template in &custom.urls {
        let url = load::Url::parse(&template.text).map_err(|why| format!("--url: {why}"))?;
        url.addresses(owns).map_err(|why| format!("--url: {why}"))?;
    }
    Ok(())
}

fn templates(flag: &str, typed: &[String]) -> Result<Vec<Template>, Trouble> {
    let mut templates: Vec<Template> = typed.iter().map(|text| read_template(text)).collect();
    name_templates(&mut templates).map_err(|what| Trouble::usage(format!("--{flag}: {what}")))?;
    Ok(templates)
}

/// Figures, each with which of two is better, where that was named once or for each.
fn figures(figures: &[PrintedFigure], better: &[Better]) -> Result<Vec<PrintedFigure>, Trouble> {
    if better.len() > 1 && better.len() != figures.len() {
        return Err(Trouble::usage(format!(
            "--better: {} words for {} figures; name it once, or for each --extract",
            better.len(),
            figures.len()
        )));
    }
    let better_of = |index: usize| better.get(index).or(better.first());
    let figure = |(index, figure): (usize, &PrintedFigure)| PrintedFigure {
        lower_is_better: match better_of(index) {
            Some(better) => *better == Better::Lower,
            None => figure.lower_is_better,
        },
        direction_assumed: figure.direction_assumed && better.is_empty(),
        ..figure.clone()
    };
    Ok(figures.iter().enumerate().map(figure).collect())
}

pub fn directory() -> Result<PathBuf, Trouble> {
    std::env::current_dir()
        .map_err(|error| Trouble::failed(format!("the current directory: {error}")))
}
