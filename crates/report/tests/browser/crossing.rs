//! Where one line overtakes another: marked in the plot, listed below it, and read out on hover.

use crate::input::{Held, Spot};
use crate::page::{FOREIGN, ONE, PIPES, PIPES_TWO, Page, Runs, with, with_made};
use analysis::{ComparisonOutcome, Crossover, Table};
use findings::{Conclusions, Finding, Kind};
use std::collections::BTreeSet;

/// The crossovers of one table that a finding tells.
fn shown_crossovers<'a>(conclusions: &'a Conclusions, table: &'a Table) -> Vec<&'a Crossover> {
    let is_in_findings = |first: &str, second: &str| {
        conclusions.findings.iter().any(|finding| {
            finding.data.kind() == Kind::Crossover
                && finding.parameters == table.parameters
                && [first, second].iter().all(|name| finding.subjects.iter().any(|s| s == name))
        })
    };
    let comparisons = table.comparisons.iter().filter(|c| is_in_findings(&c.first, &c.second));
    comparisons
        .flat_map(|comparison| match &comparison.outcome {
            ComparisonOutcome::Crosses { crossovers } => crossovers.iter().collect(),
            _ => Vec::new(),
        })
        .collect()
}

fn sentence(table: &Table, crossover: &Crossover) -> String {
    let Crossover { overtakes, overtaken, at, share, after, before, .. } = crossover;
    let points = [after, before].map(|point| *point as f64);
    let at = findings::format::position_between(at.value, points).expect("a place between points");
    let shares = table.shares.as_ref().expect("a ratio");
    let share = findings::format::share(shares, share.expect("a share").value);
    format!("{overtakes} overtakes {overtaken} at {at} tokens ({share})")
}

/// What the last frame marked, and what the list below the plot says.
fn shown(page: &mut Page) -> [Vec<String>; 2] {
    page.get(
        "[probe.plot(0).marked, [...document.querySelectorAll('.marks li')]
            .filter((one) => one.checkVisibility()).map((one) => one.textContent)]",
    )
}

/// A view of the fixture by its pipes.
fn view(page: &mut Page, table: &Table) {
    let pipes = table.parameters["pipes"].number().expect("a number");
    page.choose("Parameters", &format!("N tokens in {} pipes", findings::format::count(pipes)));
}

#[test]
fn only_crossovers_of_findings_are_marked_and_listed() {
    with(&PIPES, |page| {
        let conclusions = &PIPES[0].1;
        for table in &conclusions.analysis.tables {
            view(page, table);
            let wanted: Vec<String> = shown_crossovers(conclusions, table)
                .into_iter()
                .map(|crossover| sentence(table, crossover))
                .collect();
            assert!(!wanted.is_empty());
            let [marked, listed] = shown(page);
            assert_eq!(marked, wanted);
            assert_eq!(listed.len(), wanted.len());
            for (text, wanted) in listed.iter().zip(&wanted) {
                assert!(text.starts_with(&format!("{wanted} · 95 % CI ")), "{text}");
                assert!(text.contains(" % active"), "{text}");
            }
        }
    });
}

#[test]
fn a_mark_stands_at_its_place_on_both_lines() {
    with(&PIPES, |page| {
        let conclusions = &PIPES[0].1;
        for table in &conclusions.analysis.tables {
            view(page, table);
            // Away from the lines as far as the figures that the crossing was made from.
            let off: Vec<f64> = page.get(
                "probe.plot(0).marks.map((crossing) => {
                    const plot = probe.plot(0);
                    const pixel = plot.pixelOf(crossing);
                    const away = plot.seriesOf(crossing)
                        .map((series) => Math.abs(plot.downOnLine(series, pixel.across) - pixel.down));
                    return Math.max(Math.abs(plot.acrossValue(crossing.at) - pixel.across), ...away);
                })",
            );
            assert!(!off.is_empty() && off.iter().all(|pixels| *pixels < 1.0), "{off:?}");
        }
    });
}

#[test]
fn a_crossover_is_marked_while_both_of_its_series_are_shown() {
    with(&PIPES, |page| {
        let name =
            |subject: &str| format!("document.querySelector('button[data-subject=\"{subject}\"]')");
        let [all, _] = shown(page);
        page.press(&name("poll"), Held::Nothing);
        assert_eq!(shown(page), [Vec::<String>::new(), Vec::new()]);
        page.press(&name("epoll-level"), Held::Shift);
        let left: Vec<String> = all
            .iter()
            .filter(|text| text.contains("epoll-level") && text.contains("poll overtakes"))
            .cloned()
            .collect();
        let [marked, listed] = shown(page);
        assert_eq!((&marked, listed.len()), (&left, left.len()));
        page.press("probe.button('Show all')", Held::Nothing);
        assert_eq!(shown(page)[0], all);
    });
}

#[test]
fn a_mark_is_read_out_under_the_mouse_and_by_the_keyboard() {
    with(&PIPES, |page| {
        let table = &PIPES[0].1.analysis.tables[0];
        let crossovers = shown_crossovers(&PIPES[0].1, table).into_iter();
        let wanted: Vec<String> = crossovers.map(|crossover| sentence(table, crossover)).collect();
        let positions: Vec<[f64; 2]> = page.get(
            "probe.plot(0).marks.map((crossing) => {
                const plot = probe.plot(0);
                plot.canvas.scrollIntoView({ block: 'center', behavior: 'instant' });
                const at = plot.canvas.getBoundingClientRect();
                const pixel = plot.pixelOf(crossing);
                return [at.left + pixel.across, at.top + pixel.down];
            })",
        );
        for ([x, y], wanted) in positions.into_iter().zip(&wanted) {
            page.move_to(Spot { x, y });
            page.settle();
            assert!(page.read_out().starts_with(wanted), "{}", page.read_out());
            let card: String = page.get("document.querySelector('.card strong').textContent");
            assert_eq!(&card, wanted);
        }
        page.evaluate("document.querySelector('.stage').focus()");
        for text in wanted.iter().chain([&wanted[0]]) {
            page.key("m", Held::Nothing);
            page.settle();
            assert!(page.read_out().starts_with(text), "{} is not {text}", page.read_out());
        }
        // From a crossover the arrows walk on to the points of the one that overtakes.
        page.key("ArrowRight", Held::Nothing);
        assert!(page.read_out().starts_with("poll at "), "{}", page.read_out());
    });
}

#[test]
fn with_two_runs_each_crossover_names_its_own() {
    with(&PIPES_TWO, |page| {
        let [marked, listed] = shown(page);
        assert_eq!((marked.len(), listed.len()), (2, 2));
        let count_of = |run: &str| listed.iter().filter(|text| text.contains(run)).count();
        assert_eq!((count_of("run 9 on bench-7"), count_of("run 10 on bench-7")), (1, 1));
        page.press("document.querySelector('[data-run=\"1\"]')", Held::Nothing);
        let [marked, listed] = shown(page);
        assert_eq!((marked.len(), listed.len()), (1, 1));
        assert!(listed.iter().all(|text| text.contains("run 10 on bench-7")), "{listed:?}");
    });
}

#[test]
fn without_a_finding_nothing_is_marked() {
    let mut runs: Runs = PIPES.clone();
    runs[0].1.findings.retain(|finding: &Finding| finding.data.kind() != Kind::Crossover);
    for runs in [&runs, &*ONE] {
        with_made(runs, |page| {
            assert_eq!(shown(page), [Vec::<String>::new(), Vec::new()]);
            page.evaluate("document.querySelector('.stage').focus()");
            page.key("m", Held::Nothing);
            assert_eq!(page.read_out(), "");
        });
    }
}

#[test]
fn a_rate_says_its_unit_and_that_more_is_better() {
    with(&PIPES, |page| {
        let texts: Vec<String> = page.get("probe.written().map((one) => one.text)");
        for wanted in ["tokens", "tokens/s, more is better", "100 k", "1 M"] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} is not in {texts:?}");
        }
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        let text = page.read_out();
        assert!(
            text.starts_with("select at 1: median 7") && text.contains(" k tokens/s"),
            "{text}"
        );
    });
    with(&FOREIGN, |page| {
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        let text = page.read_out();
        assert!(text.contains("95 % CI none: a single figure"), "{text}");
    });
}

#[test]
fn findings_of_two_name_both_and_say_how_it_ends() {
    with(&PIPES, |page| {
        let text: Vec<[String; 3]> = page.get(
            "[...document.querySelectorAll('.findings li')].map((one) => [
                one.querySelector('.tag').textContent,
                [...one.querySelectorAll('strong')].map((name) => name.textContent).join(', '),
                one.querySelector('.sentence').textContent])",
        );
        let findings = &PIPES[0].1.findings;
        assert_eq!(text.len(), findings.len());
        for ([tag, names, sentence], finding) in text.iter().zip(findings) {
            assert_eq!(sentence, &finding.text().to_string());
            assert_eq!(tag, finding.data.tag().word);
            for subject in &finding.subjects {
                assert!(names.split(", ").any(|name| name == subject), "{names}: {sentence}");
            }
            // A sentence and its details may name a subject again.
            let named: BTreeSet<&str> = names.split(", ").collect();
            assert_eq!(named.len(), finding.subjects.len(), "{names}");
        }
    });
}
