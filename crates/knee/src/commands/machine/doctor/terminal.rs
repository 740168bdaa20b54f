//! The doctor's output in a terminal: one line for each check, more where something is wrong.

use ::doctor::{
    Changed, Examined, Fitness, FixResult, GROUPS, Machine, Outcome, Remedy, Setting, State,
    UndoReport, UndoResult, checks, settings_command,
};
use anstyle::Style as Paint;
use findings::format::{list, quantity};
use report::layout::{
    ALARM, BOLD, DIM, Detail, GOOD, INDENT, NOTABLE, PLAIN, Pen, Style, display_width,
    wrapped_whole,
};
use std::path::Path;

const STATE: usize = 7;
const GAP: usize = 2;
const DETAIL: usize = INDENT + STATE + GAP + INDENT;

/// A page of checks: a state, a name and a message in columns, with details below.
struct Page {
    pen: Pen,
    message_column: usize,
    text: String,
}

/// Every check by its family, the worst first; why it matters where it is not fine, or everywhere with --all.
pub fn examined(machine: &Machine, examined: &[Examined], style: &Style) -> String {
    let mut page = Page::new(style);
    if style.detail == Detail::Answer {
        page.verdict(examined);
        return page.text;
    }
    for group in GROUPS {
        let mut rows: Vec<&Examined> =
            examined.iter().filter(|row| row.group == group.name).collect();
        rows.sort_by_key(|row| row.diagnosis.state);
        if !rows.is_empty() {
            page.painted(BOLD, group.name);
        }
        for row in rows {
            page.check(machine, row, style.detail == Detail::All);
        }
    }
    page.line("");
    page.summary(examined);
    page.text
}

pub fn fixed(results: &[FixResult], after: &[Examined], saved: &Path, style: &Style) -> String {
    let mut page = Page::new(style);
    let mut changed = 0;
    for FixResult { check, outcome } in results {
        match outcome {
            Outcome::Fine => page.message(State::Ok, "fine", check, "there is nothing to fix"),
            Outcome::Left { why, remedy: command, is_command } => {
                page.message(State::Bad, "left", check, why);
                page.remedy(command, *is_command);
            }
            Outcome::Changed(files) => {
                changed += 1;
                let mut from: Vec<String> =
                    files.iter().map(|file| format!("{} → {}", file.was, file.now)).collect();
                from.sort();
                from.dedup();
                page.message(State::Ok, "fixed", check, &from.join(", "));
                let settings: Vec<Setting> = files.iter().map(Changed::setting).collect();
                page.remedy(&settings_command(&settings, true), true);
            }
        }
    }
    if results.is_empty() {
        page.wrapped("There is nothing that knee could fix without harm.", 0);
    }
    let bad = |row: &&Examined| row.diagnosis.state == State::Bad;
    let bad = list(after.iter().filter(bad).map(|row| row.check.name));
    if !bad.is_empty() {
        page.wrapped(&format!("Still bad: {bad}; `knee doctor` says what fixes it."), 0);
    }
    if changed > 0 {
        let saved = saved.display();
        let text = format!("`knee doctor --undo` puts back what was; it is saved in {saved}.");
        page.wrapped(&text, 0);
    }
    page.text
}

pub fn undone(report: &UndoReport, saved: &Path, is_root: bool, style: &Style) -> String {
    let mut page = Page::new(style);
    for UndoResult { check, file, was, now, left } in &report.settings {
        let now = now.as_deref().unwrap_or("unknown");
        match left {
            Some(why) => {
                page.message(State::Bad, "left", check, &format!("{now} in {file}: {why}"));
            }
            None if now == was => {
                page.message(State::Ok, "as was", check, &format!("{was} in {file}"));
            }
            None => {
                page.message(State::Ok, "back", check, &format!("{now} → {was} in {file}"));
            }
        }
    }
    let whole = std::path::absolute(saved).unwrap_or_else(|_| saved.into());
    let saved = whole.display();
    if report.restarted {
        page.wrapped("The machine was started anew since: so was each of its settings.", 0);
    } else if report.settings.is_empty() {
        // Root has a directory of its own.
        let sudo = if is_root { "" } else { " What was changed with sudo is put back with sudo." };
        page.wrapped(&format!("Nothing is to be put back: there is no {saved}.{sudo}"), 0);
    } else if report.settings.iter().any(|setting| setting.left.is_some()) {
        page.wrapped(&format!("What was left stays saved in {saved}."), 0);
    }
    page.text
}

impl Page {
    fn new(style: &Style) -> Page {
        let names = checks().map(|check| check.name.len()).max().unwrap_or(0);
        let behind_names = INDENT + STATE + GAP + names + GAP;
        let pen = Pen::new(style);
        // Where names leave little of a line, messages go below them.
        let message_column = if pen.width < 2 * behind_names { DETAIL } else { behind_names };
        Page { pen, message_column, text: String::new() }
    }

    fn check(&mut self, machine: &Machine, row: &Examined, all: bool) {
        let Examined { check, diagnosis, .. } = row;
        let says = match (diagnosis.state, diagnosis.message.as_str()) {
            (State::Unknown, why) => why.to_owned(),
            (_, "") => diagnosis.value.clone(),
            (_, says) => format!("{}: {says}", diagnosis.value),
        };
        self.message(diagnosis.state, diagnosis.state.name(), check.name, &says);
        if all || matches!(diagnosis.state, State::Bad | State::Warn) {
            let workloads = check.workloads_text();
            let why = check.why;
            let why =
                if workloads.is_empty() { why.to_owned() } else { format!("{workloads}: {why}") };
            self.detail(DIM, &why);
        }
        let is_command = !matches!(diagnosis.remedy, Remedy::Advice(_));
        self.remedy(&diagnosis.remedy.text(machine), is_command);
    }

    /// A word in the colour of a state, a check's name, and its message to the right or below.
    fn message(&mut self, state: State, word: &str, name: &str, says: &str) {
        let painted = self.pen.paint(colour(state), &format!("{word:<STATE$}"));
        let gap = " ".repeat(GAP);
        let head = format!("{}{painted}{gap}{name}", " ".repeat(INDENT));
        let used = INDENT + STATE + GAP + name.len();
        let width = self.pen.width - self.message_column;
        let lines = wrapped_whole(says, width, 0, 0);
        // A long path is never cut, and has more width below.
        if used + GAP > self.message_column || lines.iter().any(|line| display_width(line) > width)
        {
            self.line(&head);
            self.detail(PLAIN, says);
            return;
        }
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        self.line(&format!("{head}{}{first}", " ".repeat(self.message_column - used)));
        let rest: Vec<String> = lines.collect();
        for line in rest {
            self.line(&format!("{}{line}", " ".repeat(self.message_column)));
        }
    }

    fn detail(&mut self, paint: Paint, text: &str) {
        for line in wrapped_whole(text, self.pen.width - DETAIL, 0, 0) {
            let painted = self.pen.paint(paint, &line);
            self.line(&format!("{}{painted}", " ".repeat(DETAIL)));
        }
    }

    /// What to do, or to type: where that is folded, a shell still takes it as one line.
    fn remedy(&mut self, text: &str, is_command: bool) {
        if text.is_empty() {
            return;
        }
        // Width for the arrow before it and the backslash behind it.
        let lines =
            wrapped_whole(text, self.pen.width - DETAIL - 2 - if is_command { 2 } else { 0 }, 0, 0);
        let last = lines.len().saturating_sub(1);
        for (number, line) in lines.iter().enumerate() {
            let arrow = if number == 0 { "→ " } else { "  " };
            let more = if is_command && number < last { " \\" } else { "" };
            self.line(&format!("{}{arrow}{line}{more}", " ".repeat(DETAIL)));
        }
    }

    fn verdict(&mut self, examined: &[Examined]) {
        let number = |state| examined.iter().filter(|row| row.diagnosis.state == state).count();
        let counts: Vec<String> = State::ALL
            .into_iter()
            .filter(|&state| number(state) > 0)
            .map(|state| match state {
                State::Warn => quantity(number(state) as u64, "warning"),
                _ => format!("{} {}", number(state), state.name()),
            })
            .collect();
        self.wrapped(&format!("{}.", list(&counts)), 0);
        self.wrapped(&fitness(&Fitness::new(examined)), 0);
    }

    fn summary(&mut self, examined: &[Examined]) {
        self.verdict(examined);
        let fixable = |by_name: bool| -> Vec<String> {
            let can = |row: &&Examined| {
                matches!(row.diagnosis.remedy, Remedy::Settings(_))
                    && row.check.fix_risk.is_some() == by_name
            };
            examined.iter().filter(can).map(|row| row.check.name.to_owned()).collect()
        };
        let (free, named) = (fixable(false), fixable(true));
        if !free.is_empty() {
            let text = format!("`knee doctor --fix` fixes {}; --undo puts it back.", list(&free));
            self.wrapped(&text, 0);
        }
        if !named.is_empty() {
            let text = format!(
                "Only where it is named: `knee doctor --fix {}`; `--help` says why.",
                named.join(",")
            );
            self.wrapped(&text, 0);
        }
    }

    fn painted(&mut self, paint: Paint, text: &str) {
        let painted = self.pen.paint(paint, text);
        self.line(&painted);
    }

    fn wrapped(&mut self, text: &str, indent: usize) {
        for line in wrapped_whole(text, self.pen.width - indent, 0, 0) {
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    fn line(&mut self, line: &str) {
        self.pen.line(&mut self.text, line);
    }
}

fn fitness(fitness: &Fitness) -> String {
    let Fitness { distorting, limiting, unknown } = fitness;
    let text = match (distorting.as_slice(), unknown.as_slice()) {
        ([], []) => "Fit for absolute times and for comparisons with other machines.".to_owned(),
        ([], unknown) => {
            format!("Fit for absolute times, as far as is known without {}.", list(unknown))
        }
        (wrong, _) => {
            format!("Fit for ratios within a run, not for absolute times: {}.", list(wrong))
        }
    };
    if limiting.is_empty() { text } else { format!("{text} Limited by {}.", list(limiting)) }
}

const fn colour(state: State) -> Paint {
    match state {
        State::Bad => ALARM,
        State::Warn => NOTABLE,
        State::Unknown => DIM,
        State::Ok => GOOD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::doctor::{Examined, examine};
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn a_machine_is_fit_for_what_its_checks_allow() {
        let fit =
            |distorting: &[&'static str], limiting: &[&'static str], unknown: &[&'static str]| {
                let [distorting, limiting, unknown] =
                    [distorting, limiting, unknown].map(<[&'static str]>::to_vec);
                fitness(&Fitness { distorting, limiting, unknown })
            };
        assert!(fit(&[], &[], &[]).starts_with("Fit for absolute times and"));
        assert!(fit(&[], &[], &["turbo"]).ends_with("known without turbo."));
        assert_eq!(
            fit(&["load", "thp"], &["ports"], &["turbo"]),
            "Fit for ratios within a run, not for absolute times: load and thp. Limited by ports."
        );
    }

    /// The root of a machine where much is wrong.
    fn sick() -> TempDir {
        let root = tempfile::tempdir().unwrap();
        let set = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        set("proc/self/limits", "Max open files  64  64  files\n");
        set("proc/sys/net/ipv4/ip_local_port_range", "40000 41000");
        set("sys/devices/system/cpu/smt/control", "on");
        set("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never");
        for number in 0..16 {
            let directory = format!("sys/devices/system/cpu/cpufreq/policy{number}");
            set(&format!("{directory}/scaling_governor"), "powersave");
            set(&format!("{directory}/scaling_available_governors"), "performance powersave");
        }
        root
    }

    /// One examination, written in different styles: what is free on a disk changes from one to the next.
    struct Sick {
        _root: TempDir,
        machine: Machine,
        checks: Vec<Examined>,
    }

    impl Sick {
        fn new() -> Self {
            let root = sick();
            let temporary = Path::new("/tmp");
            let mut machine = Machine::below(root.path(), temporary, &temporary.join("knee.db"));
            machine.is_root = false;
            let checks = examine(&machine);
            Self { _root: root, machine, checks }
        }

        fn shown(&self, width: usize, colour: bool, detail: Detail) -> String {
            examined(&self.machine, &self.checks, &Style { colour, width, detail })
        }
    }

    fn shown(width: usize, colour: bool, detail: Detail) -> String {
        Sick::new().shown(width, colour, detail)
    }

    #[test]
    fn it_fits_the_terminal_and_says_the_same_without_colour() {
        let sick = Sick::new();
        let plain = sick.shown(80, false, Detail::All);
        for line in plain.lines() {
            assert!(display_width(line) <= 80, "{line}");
        }
        let coloured = sick.shown(80, true, Detail::All);
        let stripped = anstyle_free(&coloured);
        assert_eq!(stripped, plain);
        assert_ne!(coloured, plain);
        for width in [1, 40, 60] {
            assert!(sick.shown(width, false, Detail::All).contains("descriptors"), "{width}");
        }
    }

    /// Without what stands between an escape and its `m`.
    fn anstyle_free(text: &str) -> String {
        let mut parts = text.split('\x1b');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
    }

    #[test]
    fn what_is_wrong_has_its_reason_and_its_command_and_what_is_fine_has_not() {
        let text = shown(200, false, Detail::Headline);
        assert!(text.contains("64: 10,000 sockets need 10,400"), "{text}");
        assert!(
            text.contains(
                "poll, pipetest, socket, bind, accept, close, open, manyfiles: each socket"
            ),
            "{text}"
        );
        assert!(text.contains("→ sudo prlimit --pid $$ --nofile=10400:10400"), "{text}");
        assert!(!text.contains("are somewhere"), "{text}");
        let unknown = text.lines().find(|line| line.contains("max_map_count")).unwrap();
        assert!(unknown.trim_start().starts_with("unknown  map-count"), "{unknown}");
        assert!(text.contains("`knee doctor --fix` fixes ports, governor and thp;"), "{text}");
        assert!(text.contains("`knee doctor --fix smt`"), "{text}");
        let (bad, fine) = (text.find("bad ").unwrap(), text.find("unknown ").unwrap());
        assert!(bad < fine, "the worst comes first: {text}");
    }

    #[test]
    fn the_answer_is_what_the_machine_is_fit_for() {
        let text = shown(200, false, Detail::Answer);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].contains(" bad, ") && lines[1].contains("it for "),
            "{text}"
        );
    }

    #[test]
    fn a_command_that_is_folded_is_still_one_for_a_shell() {
        let text = shown(80, false, Detail::Headline);
        let command: Vec<&str> =
            text.lines().skip_while(|line| !line.contains("→ echo performance")).collect();
        let (mut joined, mut rest) = (String::new(), command.iter());
        while let Some(line) = rest.next().map(|line| line.trim().trim_start_matches("→ ")) {
            joined.push_str(line.trim_end_matches('\\'));
            if !line.ends_with('\\') {
                break;
            }
        }
        let file = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
        assert_eq!(joined, format!("echo performance | sudo tee {file}"));
    }
}
