//! Histories as people see them: in a wide terminal, in a narrow one, and as a page.

use crate::fixture::history::made;
use analysis::Estimate;
use analysis::compare::Direction;
use analysis::history::JointChange;
use report::history::{html, json, terminal};
use report::layout::{Detail, Style};

const PLAIN: Style = Style { colour: false, width: 120, detail: Detail::Headline };

#[test]
fn a_wide_terminal_shows_a_table_of_what_changed() {
    insta::assert_snapshot!("history_wide", terminal::text(&made(20), &PLAIN));
}

#[test]
fn forty_columns_show_a_list() {
    let narrow = terminal::text(&made(20), &Style { width: 40, ..PLAIN });
    assert!(narrow.lines().all(|line| textwrap::core::display_width(line) <= 40), "{narrow}");
    let figures = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().filter(|word| word.starts_with('×'));
        words.map(str::to_owned).collect()
    };
    let wide = figures(&terminal::text(&made(20), &PLAIN));
    assert!(!wide.is_empty() && wide.iter().all(|factor| figures(&narrow).contains(factor)));
}

#[test]
fn everything_has_a_line_of_its_own_when_it_is_asked_for() {
    let text = terminal::text(&made(20), &Style { detail: Detail::All, ..PLAIN });
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("<edge>")).count(), 3);
}

#[test]
fn colour_adds_no_word() {
    let coloured = terminal::text(&made(20), &Style { colour: true, ..PLAIN });
    assert!(coloured.contains('\u{1b}'));
    let mut parts = coloured.split('\u{1b}');
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        bare.push_str(part.split_once('m').map_or("", |(_, text)| text));
    }
    let bare: Vec<&str> = bare.lines().map(str::trim_end).collect();
    assert_eq!(bare, terminal::text(&made(20), &PLAIN).lines().collect::<Vec<_>>());
}

/// A disturbed run just before a change hides neither the change nor its place.
#[test]
fn a_disturbed_run_is_no_change() {
    let history = made(20);
    let at: Vec<(&str, i64)> =
        history.changes.iter().map(|t| (t.subject.as_str(), history.runs[t.at].number)).collect();
    assert_eq!(at, [("poll", 18), ("epoll-level", 12), ("io_uring", 7)]);
    assert!(history.changes.iter().all(|change| !change.drift));
    // Run 10 is the ninth that is joined.
    assert!(history.lines.iter().all(|line| line.apart == [8]));
}

#[test]
fn what_most_subjects_share_comes_first_and_says_where_to_look() {
    let mut history = made(20);
    assert!(history.joint_changes.is_empty(), "each subject changed with a run of its own");
    let sentence = "All 4 subjects became slower with run 12: ×1.12 to ×1.18.";
    let by = |value| Estimate { value, low: value, high: value };
    history.joint_changes.push(JointChange {
        from: 10,
        to: 10,
        direction: Direction::Worse,
        subjects: 4,
        judged: 4,
        lines: vec![(0, by(1.12)), (1, by(1.18))],
        differences: Vec::new(),
    });
    let why = "What happens to most subjects at once comes rather from what they share";
    for shown in [terminal::text(&history, &PLAIN), html::page(&history)] {
        let positions = [sentence, why, "poll"].map(|text| shown.rfind(text));
        assert!(positions.iter().all(Option::is_some) && positions.is_sorted(), "{positions:?}");
    }
}

#[test]
fn few_runs_and_quiet_ones_say_so() {
    let few = terminal::text(&made(3), &PLAIN);
    assert!(few.contains("Too few runs to tell a change from chance: 4 are the fewest"), "{few}");
    let quiet = terminal::text(&made(6), &PLAIN);
    assert!(
        quiet.contains("Nothing changed.\nNone of the 12 lines changed: a change of ×"),
        "{quiet}"
    );
}

#[test]
fn the_page_has_every_line_and_loads_nothing() {
    let history = made(20);
    let page = html::page(&history);
    assert_eq!(page.matches("<figure class=\"timeline\"").count(), history.lines.len());
    assert!(page.contains("&lt;edge&gt;") && !page.contains("<edge>"));
    let value = serde_json::to_value(json::value(&history)).expect("written");
    let sentences = value["changes"].as_array().expect("changes").iter();
    for sentence in sentences.map(|change| change["sentence"].as_str().expect("a sentence")) {
        assert!(page.contains(sentence), "{sentence}");
    }
    assert!(!page.contains("src=") && !page.contains("@import") && !page.contains("NaN"));
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    assert_eq!(page, html::page(&made(20)));
}

#[test]
fn json_is_what_its_schema_says() {
    let history = made(20);
    let value = serde_json::to_value(json::value(&history)).expect("written");
    let schema = crate::fixture::strict_schema("history");
    assert!(schema.is_valid(&value), "{:?}", schema.validate(&value));
    let shift = &value["lines"][0]["shifts"][0];
    assert_eq!(value["runs"][shift["at"].as_u64().expect("a place") as usize]["number"], 18);
    assert_eq!(shift["direction"], "worse");
}
