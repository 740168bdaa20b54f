//! The checks themselves: a page that is broken on purpose must be caught by each.

use crate::drawing::undrawn;
use crate::hover::mismatches;
use crate::page::{ONE, Page, complaints_of, table, written};

/// What `look` finds in the page after `good` has become `bad` in its script.
fn broken(good: &str, bad: &str, look: impl Fn(&mut Page) -> Vec<String>) -> Vec<String> {
    let page = written(&ONE);
    assert_eq!(page.matches(good).count(), 1, "{good:?} is not there once");
    let mut complaints = Vec::new();
    let raised = complaints_of(&page.replace(good, bad), |page| complaints = look(page));
    complaints.extend(raised.into_iter().flatten());
    complaints
}

fn drawn(page: &mut Page) -> Vec<String> {
    let (run, conclusions) = &ONE[0];
    undrawn(page, run, table(conclusions, "loop", "1"))
}

fn hovered(page: &mut Page) -> Vec<String> {
    let (run, conclusions) = &ONE[0];
    page.evaluate("probe.only('poll')");
    mismatches(page, run, table(conclusions, "loop", "1"))
}

#[test]
fn a_wrong_figure_in_the_read_out_is_caught() {
    if crate::program::skipped() {
        return;
    }
    for (good, bad) in [
        ("['median', say(at.median)]", "['median', say(at.median * 1.002)]"),
        ("`${say(at.low)}–", "`${say(at.median)}–"),
        ("['p99', say(at.p99)]", "['p99', say(at.p90)]"),
        ("`${whole(at.samples)} in", "`${whole(at.samples - 1)} in"),
    ] {
        assert_eq!(broken(good, bad, hovered).len(), 7, "{bad}");
    }
    assert!(hovers_well());
}

/// The same look finds nothing in the page as it is.
fn hovers_well() -> bool {
    broken("['median', say(at.median)]", "['median', say(at.median * 1)]", hovered).is_empty()
}

#[test]
fn a_series_or_a_sample_that_is_not_drawn_is_caught() {
    if crate::program::skipped() {
        return;
    }
    for (good, bad, complaint) in [
        (
            "return this.series.filter((series) =>",
            "return this.series.slice(1).filter((series) =>",
            "select is not drawn",
        ),
        (
            "index < end; index++) {\n      const across",
            "index < end - 1; index++) {\n      const across",
            "samples",
        ),
        (
            "for (const point of series.points) {",
            "for (const point of series.points.slice(1)) {",
            "medians",
        ),
    ] {
        let complaints = broken(good, bad, drawn).join("\n");
        assert!(complaints.contains(complaint), "{bad}: {complaints:?}");
    }
}

#[test]
fn a_script_that_fails_on_a_gesture_is_caught() {
    if crate::program::skipped() {
        return;
    }
    let complaints =
        broken("const found = plot.nearest(x, y);", "const found = plot.nowhere(x, y);", |page| {
            let spot = page.inside(0.5, 0.5);
            page.move_to(spot);
            Vec::new()
        });
    assert!(complaints.join("\n").contains("nowhere"), "{complaints:?}");
}
