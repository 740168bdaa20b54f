//! The map of who is fastest where: its spots are the analysis's, for eyes, ears and paper.

use crate::page::{ONE, PIPES, PIPES_TWO, Page, Runs, with};
use analysis::{Lead, Map};
use serde::Deserialize;
use serde_json::json;

/// One spot as the page shows it.
#[derive(Debug, Deserialize)]
struct Spot {
    /// What a screen reader says.
    heard: String,
    /// What stands there for eyes.
    seen: String,
    subject: Option<String>,
    /// The marker's path.
    shape: Option<String>,
    /// `var(--series-2)`.
    hue: String,
    /// The classes, which say how strong the colour is.
    strength: String,
}

fn spots(page: &mut Page, number: usize) -> Vec<Vec<Spot>> {
    page.get(&format!(
        "[...document.querySelectorAll('table.heat')[{number}].tBodies[0].rows].map((row) =>
            [...row.querySelectorAll('td')].map((spot) => {{
                const heard = spot.cloneNode(true);
                heard.querySelectorAll('[aria-hidden]').forEach((one) => one.remove());
                const seen = spot.cloneNode(true);
                seen.querySelectorAll('.unseen').forEach((one) => one.remove());
                return {{
                    heard: heard.textContent, seen: seen.textContent,
                    subject: spot.dataset.subject ?? null,
                    shape: spot.querySelector('path')?.getAttribute('d') ?? null,
                    hue: spot.style.getPropertyValue('--hue'), strength: spot.className,
                }};
            }}))"
    ))
}

/// The label of a subject that leads somewhere.
fn label<'a>(map: &'a Map, subject: &str) -> &'a str {
    &map.subjects.iter().find(|(name, _)| name == subject).expect("a subject of the map").1
}

fn margin(lead: &Lead) -> String {
    analysis::words::factor(lead.margin.value)
}

#[test]
fn every_spot_names_who_leads_there_and_by_how_much() {
    with(&PIPES, |page| {
        let map = &PIPES[0].1.maps[0];
        let spots = spots(page, 0);
        assert_eq!(spots.len(), map.totals.len());
        let (mut clear, mut close, mut none) = (0, 0, 0);
        for (spot, lead) in spots.iter().flatten().zip(map.spots.iter().flatten()) {
            match lead {
                Some(lead) if lead.clear => {
                    clear += 1;
                    assert_eq!(spot.subject.as_deref(), Some(lead.best.as_str()));
                    assert_eq!(spot.seen, margin(lead), "{spot:?}");
                    assert_eq!(spot.heard, format!("{} {}", label(map, &lead.best), margin(lead)));
                }
                Some(_) => {
                    close += 1;
                    let said = (spot.seen.as_str(), spot.heard.as_str(), spot.shape.is_none());
                    assert_eq!(said, ("≈", "too close to call", true));
                }
                None => {
                    none += 1;
                    assert_eq!((spot.seen.as_str(), spot.shape.is_none()), ("–", true));
                }
            }
        }
        assert!(clear > 20 && close > 5 && none == 5, "{clear}, {close} and {none}");
    });
}

#[test]
fn shapes_and_colours_are_those_of_the_plot() {
    with(&PIPES, |page| {
        for spot in spots(page, 0).iter().flatten() {
            let Some(subject) = &spot.subject else { continue };
            let [shape, hue]: [String; 2] = page.get(&format!(
                "(() => {{ const plot = probe.plot(0);
                    const look = plot.lookOf(plot.series.find((one) => one.label === {}));
                    return [SHAPES[look.shape], `var(--series-${{look.colour}})`]; }})()",
                json!(subject)
            ));
            assert_eq!((spot.shape.as_deref(), &spot.hue), (Some(shape.as_str()), &hue));
        }
    });
}

#[test]
fn the_head_of_the_map_has_totals_and_shares() {
    with(&PIPES, |page| {
        let map = &PIPES[0].1.maps[0];
        let [head, side]: [Vec<String>; 2] = page.get(
            "(() => { const map = document.querySelector('table.heat');
                const texts = (all) => [...all].map((one) => one.textContent);
                return [texts(map.tHead.querySelectorAll('th')),
                    texts(map.tBodies[0].querySelectorAll('th'))]; })()",
        );
        assert_eq!(head[..2], ["pipes", "active"]);
        assert_eq!(head.len(), 2 + map.shares.len());
        assert_eq!((head[2].as_str(), head[12].as_str()), ("1 %", "100 %"));
        assert_eq!(side, ["100", "1,000", "10,000", "20,000"]);
    });
}

#[test]
fn the_words_below_the_map_say_the_same() {
    with(&PIPES, |page| {
        let map = &PIPES[0].1.maps[0];
        let said: Vec<Vec<String>> = page.get(
            "[...document.querySelector('table.in-words').tBodies[0].rows].map((row) =>
                [...row.querySelectorAll('td')].map((cell) => cell.textContent))",
        );
        let said: Vec<&String> = said.iter().flatten().collect();
        let leads: Vec<&Option<Lead>> = map.spots.iter().flatten().collect();
        assert_eq!(said.len(), leads.len());
        for (said, lead) in said.into_iter().zip(leads) {
            let Some(lead) = lead else {
                assert_eq!(said, "–");
                continue;
            };
            let (best, margin) = (label(map, &lead.best), margin(lead));
            let start = if lead.clear {
                format!("{best} {margin}")
            } else {
                format!("too close to call{best} and ")
            };
            assert!(said.starts_with(&start), "{said:?} does not begin with {start:?}");
            let low = analysis::words::factor(lead.margin.low);
            assert!(said.contains(&low), "{low} is not in {said:?}");
        }
    });
}

#[test]
fn a_larger_lead_has_a_stronger_colour() {
    let mut runs: Runs = PIPES.clone();
    let row = &mut runs[0].1.maps[0].spots[0];
    for (lead, value) in row.iter_mut().flatten().zip([1.05, 1.2, 1.9, 40.0]) {
        (lead.clear, lead.margin.value) = (true, value);
    }
    with(&runs, |page| {
        let strengths: Vec<String> =
            spots(page, 0)[0][..4].iter().map(|spot| spot.strength.clone()).collect();
        assert_eq!(strengths, ["spot lead-0", "spot lead-1", "spot lead-2", "spot lead-3"]);
        // Each is further from the paper than the one before it.
        let lightness: Vec<f64> = page.get(
            "[...document.querySelectorAll('table.heat tbody tr:first-child td')].slice(0, 4)
                .map((spot) => getComputedStyle(spot).backgroundColor.match(/[\\d.]+/g)
                    .slice(0, 3).reduce((sum, one) => sum + Number(one), 0))",
        );
        assert!(lightness.is_sorted_by(|a, b| a > b), "{lightness:?}");
    });
}

#[test]
fn each_run_has_a_map_of_its_own_under_its_name() {
    with(&PIPES_TWO, |page| {
        let heads: Vec<String> =
            page.get("[...document.querySelectorAll('.map h3')].map((one) => one.textContent)");
        let wanted =
            ["run 9", "run 10"].map(|run| format!("Which is fastest where · {run} on bench-7"));
        assert_eq!(heads, wanted);
        for (number, (_, analysis)) in PIPES_TWO.iter().enumerate() {
            let shown: Vec<Option<String>> =
                spots(page, number).into_iter().flatten().map(|spot| spot.subject).collect();
            let wanted: Vec<Option<String>> = analysis.maps[0]
                .spots
                .iter()
                .flatten()
                .map(|lead| lead.as_ref().filter(|lead| lead.clear).map(|lead| lead.best.clone()))
                .collect();
            assert_eq!(shown, wanted);
        }
    });
}

#[test]
fn the_map_stands_without_a_script_and_scrolls_inside_its_own_box() {
    with(&PIPES, |page| {
        page.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        page.reload();
        page.resize(360, 800);
        let [box_width, table_width, window]: [f64; 3] = page.get(
            "(() => { const table = document.querySelector('table.heat');
                return [table.parentElement.clientWidth, table.scrollWidth, innerWidth]; })()",
        );
        assert!(table_width > box_width && box_width < window, "{table_width} in {box_width}");
        assert_eq!(spots(page, 0).len(), 4);
        let shown: usize = page
            .get("[...document.querySelectorAll('table.heat svg')].filter((m) => m.getBoundingClientRect().width > 8).length");
        let clear = PIPES[0].1.maps[0].spots.iter().flatten().flatten().filter(|lead| lead.clear);
        assert_eq!(shown, clear.count());
    });
}

#[test]
fn a_workload_without_a_map_or_with_a_mere_line_of_spots_shows_none() {
    let mut line: Runs = PIPES.clone();
    for (number, row) in line[0].1.maps[0].spots.iter_mut().enumerate() {
        for (_, spot) in row.iter_mut().enumerate().filter(|(column, _)| *column != number) {
            *spot = None;
        }
    }
    for runs in [&*ONE, &line] {
        with(runs, |page| {
            let maps: usize = page.get("document.querySelectorAll('.map, table.heat').length");
            assert_eq!(maps, 0);
        });
    }
}
