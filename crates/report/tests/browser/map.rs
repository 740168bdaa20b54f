//! The map of who is fastest where: its spots are the analysis's, for eyes, ears and paper.

use crate::page::{CALLS, PIPES, PIPES_TWO, Page, Runs, with, with_made};
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
    /// What a mouse finds there.
    title: String,
    /// The marker's path.
    shape: Option<String>,
    /// `var(--series-2)`.
    hue: String,
    /// The classes, which say how strong the colour is.
    strength: String,
}

fn cells(page: &mut Page, number: usize) -> Vec<Vec<Spot>> {
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
                    title: (spot.title || spot.querySelector('[title]')?.title) ?? '',
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
    findings::format::factor(lead.margin.value)
}

/// Those who lead together: `poll and epoll-level`.
fn together(map: &Map, lead: &Lead) -> String {
    let mut all = vec![label(map, &lead.best)];
    all.extend(lead.tied.iter().map(|tied| label(map, tied)));
    let last = all.pop().expect("the best");
    format!("{} and {last}", all.join(", "))
}

/// Whether the map shows who has the best median there.
fn shows_the_best(lead: &Lead) -> bool {
    lead.clear || lead.is_shared()
}

/// The runs of [`PIPES`], where three share the first lead of the map, and all share the second.
fn mixed() -> Runs {
    let mut runs: Runs = PIPES.clone();
    let map = &mut runs[0].1.analysis.maps[0];
    map.subjects.iter_mut().find(|(name, _)| name == "poll").expect("poll").1 = "poll (2)".into();
    let tied: [&[&str]; 2] =
        [&["poll", "io_uring-multishot"], &["poll", "io_uring-multishot", "select", "epoll-edge"]];
    for (lead, tied) in map.leads[0].iter_mut().flatten().zip(tied) {
        "epoll-level".clone_into(&mut lead.best);
        (lead.clear, lead.measured) = (false, 5);
        lead.tied = tied.iter().map(|name| (*name).to_owned()).collect();
        lead.second = lead.tied[0].clone();
    }
    runs
}

#[test]
fn every_spot_names_who_leads_there_and_by_how_much() {
    let runs = mixed();
    with_made(&runs, |page| {
        let map = &runs[0].1.analysis.maps[0];
        let cells = cells(page, 0);
        assert_eq!(cells.len(), map.totals.len());
        let (mut clear, mut shared, mut close, mut none) = (0, 0, 0, 0);
        for (spot, lead) in cells.iter().flatten().zip(map.leads.iter().flatten()) {
            match lead {
                Some(lead) if lead.clear => {
                    clear += 1;
                    assert_eq!(spot.subject.as_deref(), Some(lead.best.as_str()));
                    assert_eq!(spot.seen, margin(lead), "{spot:?}");
                    assert_eq!(spot.heard, format!("{} {}", label(map, &lead.best), margin(lead)));
                }
                Some(lead) if lead.is_shared() => {
                    shared += 1;
                    assert_eq!(spot.subject.as_deref(), Some(lead.best.as_str()));
                    assert_eq!(spot.seen, format!("≈{}", lead.tied.len()), "{spot:?}");
                    let wanted = format!("{} are too close to call", together(map, lead));
                    assert_eq!((&spot.heard, &spot.title), (&wanted, &wanted));
                    assert!(spot.shape.is_some());
                    assert_eq!(spot.strength, "lead-cell shared");
                }
                Some(_) => {
                    close += 1;
                    let texts = (spot.seen.as_str(), spot.heard.as_str(), spot.shape.is_none());
                    assert_eq!(texts, ("≈", "too close to call", true));
                    assert_eq!(
                        (spot.subject.as_deref(), spot.strength.as_str()),
                        (None, "lead-cell close")
                    );
                }
                None => {
                    none += 1;
                    assert_eq!((spot.seen.as_str(), spot.shape.is_none()), ("–", true));
                }
            }
        }
        let counted = (clear > 20, shared > 5, close, none);
        assert_eq!(counted, (true, true, 1, 5), "{clear} are clear, {shared} shared");
        assert_eq!(
            cells[0][0].heard,
            "epoll-level, poll (2) and io_uring-multishot are too close to call"
        );
    });
}

#[test]
fn a_shared_spot_is_hatched_over_the_weakest_of_its_hue() {
    with(&PIPES, |page| {
        for dark in [false, true] {
            let name = if dark { "dark" } else { "light" };
            let features = json!([{ "name": "prefers-color-scheme", "value": name }]);
            let media = json!({ "media": "screen", "features": features });
            page.call("Emulation.setEmulatedMedia", &media);
            page.settle();
            let [shared, weakest, paper, image]: [String; 4] = page.get(
                "(() => { const spot = document.querySelector('.lead-cell.shared');
                    const colour = () => getComputedStyle(spot).backgroundColor;
                    const image = getComputedStyle(spot).backgroundImage;
                    const shared = colour();
                    spot.className = 'lead-cell lead-0';
                    const weakest = colour();
                    spot.className = 'lead-cell shared';
                    return [shared, weakest, probe.background(), image]; })()",
            );
            assert_eq!(shared, weakest);
            assert_ne!(shared, paper);
            assert!(image.starts_with("repeating-linear-gradient("), "{name}: {image}");
        }
    });
}

/// What a screen reader says of each cell of a table: its name, and what it adds to that.
fn read_out(page: &mut Page) -> Vec<(String, String)> {
    page.call("Accessibility.enable", &json!({}));
    let tree = page.call("Accessibility.getFullAXTree", &json!({}));
    let nodes = tree["nodes"].as_array().expect("nodes").iter();
    let cells = nodes.filter(|node| {
        node["ignored"] != true
            && ["cell", "gridcell"].contains(&node["role"]["value"].as_str().unwrap_or_default())
    });
    let text =
        |node: &serde_json::Value| node["value"].as_str().unwrap_or_default().trim().to_owned();
    cells.map(|node| (text(&node["name"]), text(&node["description"]))).collect()
}

#[test]
fn no_spot_is_read_out_twice() {
    let runs = mixed();
    with_made(&runs, |page| {
        let cells = read_out(page);
        let shared = "epoll-level, poll (2) and io_uring-multishot are too close to call";
        assert_eq!(cells.iter().filter(|(name, _)| name == shared).count(), 1);
        for (name, more) in cells {
            assert!(more.is_empty() || !name.contains(&more), "{name:?} and again {more:?}");
        }
    });
}

/// What stands above, in and below the first map.
fn around(page: &mut Page) -> [String; 3] {
    page.get(
        "['.map .map-legend', '.heat .across', '.map figcaption']
            .map((one) => document.querySelector(one).textContent)",
    )
}

#[test]
fn the_sign_of_a_shared_lead_is_explained_where_there_is_one() {
    let shared = |further: &str| {
        format!("the one shown, with the best median, and {further}, too close to call")
    };
    with(&PIPES, |page| {
        let [legend, ..] = around(page);
        assert!(legend.contains(&format!("≈1{}", shared("1 other"))), "{legend}");
    });
    with_made(&mixed(), |page| {
        let [legend, ..] = around(page);
        assert!(legend.contains(&format!("≈2{}", shared("2 others"))), "{legend}");
        assert!(legend.contains("≈too close to call"), "{legend}");
    });
    let mut clear: Runs = PIPES.clone();
    for lead in clear[0].1.analysis.maps[0].leads.iter_mut().flatten().flatten() {
        lead.clear = true;
        lead.tied.clear();
    }
    with_made(&clear, |page| {
        assert!(around(page).iter().all(|text| !text.contains('≈')));
    });
}

#[test]
fn rows_and_columns_are_explained_by_whatever_word_the_share_has() {
    with(&PIPES, |page| {
        let [_, across, how] = around(page);
        assert_eq!(across, "active");
        let start = "A row is a number of pipes, a column the share of them (active). Shape";
        assert!(how.starts_with(start), "{how}");
    });
    let mut of_pipes: Runs = PIPES.clone();
    let (run, conclusions) = &mut of_pipes[0];
    run.plan.workloads[0].ratio.as_mut().expect("a ratio").word = "of pipes".to_owned();
    conclusions.analysis.maps[0].word = "of pipes".to_owned();
    with_made(&of_pipes, |page| {
        let [_, across, how] = around(page);
        assert_eq!(across, "tokens, share of pipes");
        let start = "A row is a number of pipes, a column a number of tokens, as a share of pipes.";
        assert!(how.starts_with(start), "{how}");
        let head: String =
            page.get("document.querySelector('table.in-words thead').rows[0].cells[2].textContent");
        assert_eq!(head, "10 % of pipes");
    });
}

#[test]
fn names_of_elements_hold_whatever_the_workload_is_called() {
    let mut runs: Runs = PIPES.clone();
    let odd = "my \"t\" x";
    let (run, conclusions) = &mut runs[0];
    run.plan.workloads[0].name = odd.to_owned();
    run.cells.iter_mut().for_each(|cell| cell.key.workload = odd.to_owned());
    conclusions.analysis.tables.iter_mut().for_each(|table| table.workload = odd.to_owned());
    conclusions.findings.iter_mut().for_each(|finding| finding.workload = odd.to_owned());
    conclusions.analysis.maps[0].workload = odd.to_owned();
    with_made(&runs, |page| {
        let lost: Vec<String> = page.get(
            "['aria-labelledby', 'aria-describedby'].flatMap((kind) =>
                [...document.querySelectorAll(`[${kind}]`)].flatMap((one) =>
                    one.getAttribute(kind).split(/\\s+/).filter((id) =>
                        [...document.querySelectorAll('[id]')].filter((it) => it.id === id
                            && it.textContent.trim()).length !== 1)))",
        );
        assert!(lost.is_empty(), "{lost:?}");
        let odd: Vec<String> = page.get(
            "[...document.querySelectorAll('[id]')].map((one) => one.id)
                .filter((id) => !/^[a-z][a-z0-9-]*$/.test(id))",
        );
        assert!(odd.is_empty(), "{odd:?}");
        let named: String =
            page.get("document.querySelector('.map').getAttribute('aria-labelledby')");
        assert_eq!(named, "map-0-0-head");
    });
}

#[test]
fn shapes_and_colours_are_those_of_the_plot() {
    with(&PIPES, |page| {
        for spot in cells(page, 0).iter().flatten() {
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
        let map = &PIPES[0].1.analysis.maps[0];
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
    let runs = mixed();
    with_made(&runs, |page| {
        let map = &runs[0].1.analysis.maps[0];
        let texts: Vec<Vec<String>> = page.get(
            "[...document.querySelector('table.in-words').tBodies[0].rows].map((row) =>
                [...row.querySelectorAll('td')].map((cell) => cell.textContent))",
        );
        let texts: Vec<&String> = texts.iter().flatten().collect();
        let leads: Vec<&Option<Lead>> = map.leads.iter().flatten().collect();
        assert_eq!(texts.len(), leads.len());
        for (texts, lead) in texts.into_iter().zip(leads) {
            let Some(lead) = lead else {
                assert_eq!(texts, "–");
                continue;
            };
            if lead.is_shared() {
                assert_eq!(*texts, format!("{} are too close to call", together(map, lead)));
                continue;
            }
            let (best, margin) = (label(map, &lead.best), margin(lead));
            let start = if lead.clear { format!("{best} before ") } else { format!("{best} and ") };
            let middle = if lead.clear {
                format!(": {margin} (")
            } else {
                " are too close to call (".into()
            };
            assert!(texts.contains(&middle), "{middle:?} is not in {texts:?}");
            assert!(texts.starts_with(&start), "{texts:?} does not begin with {start:?}");
            let low = findings::format::factor(lead.margin.low);
            assert!(texts.contains(&low), "{low} is not in {texts:?}");
        }
    });
}

#[test]
fn a_larger_lead_has_a_stronger_colour() {
    let mut runs: Runs = PIPES.clone();
    let row = &mut runs[0].1.analysis.maps[0].leads[0];
    for (lead, value) in row.iter_mut().flatten().zip([1.05, 1.2, 1.9, 40.0]) {
        (lead.clear, lead.margin.value) = (true, value);
        lead.tied.clear();
    }
    with_made(&runs, |page| {
        let strengths: Vec<String> =
            cells(page, 0)[0][..4].iter().map(|spot| spot.strength.clone()).collect();
        assert_eq!(
            strengths,
            ["lead-cell lead-0", "lead-cell lead-1", "lead-cell lead-2", "lead-cell lead-3"]
        );
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
        for (number, (_, conclusions)) in PIPES_TWO.iter().enumerate() {
            let shown: Vec<Option<String>> =
                cells(page, number).into_iter().flatten().map(|spot| spot.subject).collect();
            let wanted: Vec<Option<String>> = conclusions.analysis.maps[0]
                .leads
                .iter()
                .flatten()
                .map(|lead| lead.as_ref().filter(|lead| shows_the_best(lead)))
                .map(|lead| lead.map(|lead| lead.best.clone()))
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
        assert_eq!(cells(page, 0).len(), 4);
        let shown: usize = page
            .get("[...document.querySelectorAll('table.heat svg')].filter((m) => m.getBoundingClientRect().width > 8).length");
        let leads = PIPES[0].1.analysis.maps[0].leads.iter().flatten().flatten();
        assert_eq!(shown, leads.filter(|lead| shows_the_best(lead)).count());
    });
}

#[test]
fn a_workload_without_a_map_or_with_a_single_row_shows_none() {
    let mut line: Runs = PIPES.clone();
    for (number, row) in line[0].1.analysis.maps[0].leads.iter_mut().enumerate() {
        for (_, spot) in row.iter_mut().enumerate().filter(|(column, _)| *column != number) {
            *spot = None;
        }
    }
    for runs in [&*CALLS, &line] {
        with_made(runs, |page| {
            let maps: usize = page.get("document.querySelectorAll('.map, table.heat').length");
            assert_eq!(maps, 0);
        });
    }
}
