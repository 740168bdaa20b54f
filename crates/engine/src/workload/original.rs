//! Classic benchmarks whose settings and output format a workload has.

/// A classic benchmark: its settings, and how it printed its result.
#[derive(Debug)]
pub struct Original {
    /// The name on the command line: `poller-bench`.
    pub name: &'static str,
    /// What it was: author, year, command line.
    pub original: &'static str,
    /// What it compared; the names are ours.
    pub subjects: &'static [&'static str],
    /// Its points on the workload's own axis.
    pub points: &'static [&'static str],
    /// Its other parameters, by name.
    pub parameters: &'static [(&'static str, &'static str)],
    /// How often it was run, where that is known.
    pub rounds: Option<u32>,
    /// How it printed the headline metric, or all that it measured.
    pub print: Print,
    /// Other metrics in a line each: the metric, and what stood behind its figure in microseconds,
    /// with `{}` for the last point.
    pub also: &'static [(&'static str, &'static str)],
    /// What those parameters hide, a line each.
    pub hides: &'static [&'static str],
}

/// How a program printed its figures.
#[derive(Clone, Copy, Debug)]
pub enum Print {
    /// Points across under this word, subjects down, whole microseconds.
    Microseconds(&'static str),
    /// Points down under this word, subjects across, operations a second with two decimals.
    Rates(&'static str),
    /// A line for each subject and point: least, mean, most and deviation of the samples.
    ReplyRates,
    /// A block for each subject: the mean of each metric and its standard deviation.
    Averages,
    /// A line for each call and a block for each round, microseconds with one decimal. A column is a
    /// metric of a workload, named in this order; the workloads share subjects and parameters.
    Calls(&'static [(&'static str, &'static str)]),
    /// lmbench's tables: a machine in each row, the subjects in columns of its own names.
    Summary,
}

impl Original {
    /// The workloads that measure it, where it is an original of `workload`: several, if its columns are
    /// figures of several.
    pub fn workloads<'a>(&self, workload: &'a str) -> Vec<&'a str> {
        let Print::Calls(columns) = self.print else { return vec![workload] };
        let mut all: Vec<&str> = Vec::new();
        for (workload, _) in columns {
            if !all.contains(workload) {
                all.push(workload);
            }
        }
        all
    }
}
