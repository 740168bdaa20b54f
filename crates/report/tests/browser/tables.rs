//! The page's tables and texts.

use crate::page::{
    FOREIGN, GUESTS, MACHINES, MEMORY, ONE, PIPES, Page, Runs, complaints_of, with, with_made,
};
use analysis::compare::{Terms, compare};
use analysis::{Class, Estimate, GrowthReason, Lead, Table};
use report::matrix::{Matrix, html};

#[test]
fn growth_has_its_factors_interval_and_says_why_its_order_is_open() {
    let mut runs: Runs = ONE.clone();
    let table =
        runs[0].1.analysis.tables.iter_mut().find(|table| table.headline).expect("a headline");
    let row = table.rows.iter_mut().find(|row| row.label == "poll").expect("poll");
    let growth = row.growth.as_mut().expect("its growth");
    growth.factor = Estimate { value: 1.44, low: 1.4, high: 1.48 };
    growth.class = Class::Grows;
    growth.reason = Some(GrowthReason::RivalClasses);
    with_made(&runs, |page| {
        let cell: String = page.get(
            "[...document.querySelectorAll('table.figures tr')]
                .find((row) => row.cells[0].textContent === 'poll').cells[8].innerText",
        );
        assert!(cell.contains("grows") && cell.contains("95 % CI 1.40–1.48"), "{cell}");
        let notes: String = page.get("document.querySelector('.notes').innerText");
        assert!(notes.contains("slower and faster orders than linear explain it"), "{notes}");
    });
}

#[test]
fn no_column_of_the_guests_cpus_is_cut_off_in_a_common_window() {
    let terms = Terms { margin: 0.05, fail_above: None, across: true, all: false };
    let comparison = compare(&GUESTS[0].0, &GUESTS[1].0, &terms).expect("they are alike");
    let matrix = Matrix::pair(&GUESTS[0].0, &GUESTS[1].0, &comparison);
    let text = html::page(&GUESTS, &matrix);
    let _ = complaints_of(&text, |page| {
        page.resize(1_200, 900);
        page.settle();
        let widths: Vec<[f64; 2]> = page.get(
            "[...document.querySelectorAll('#guests .scroll')]
                .map((one) => [one.scrollWidth, one.clientWidth])",
        );
        assert_eq!(widths.len(), 2, "theirs, and the published one");
        assert!(widths.iter().all(|[content, shown]| content <= shown), "{widths:?}");
    });
}

#[test]
fn what_is_not_measured_stands_item_by_item() {
    with(&ONE, |page| {
        let texts: Vec<String> = page
            .get("[...document.querySelectorAll('.not-measured li')].map((one) => one.innerText)");
        assert_eq!(texts, ONE[0].0.plan.workloads[0].not_measured);
    });
}

#[test]
fn every_table_has_the_medians_and_names_what_it_lacks() {
    with(&ONE, |page| {
        for (index, table) in
            ONE[0].1.analysis.tables.iter().filter(|table| table.headline).enumerate()
        {
            let rows: Vec<Vec<String>> = page.get(&format!(
                "[...document.querySelectorAll('table.figures')[{index}].tBodies[0].rows]
                    .map((row) => [...row.cells].map((cell) => cell.textContent))"
            ));
            assert_eq!(rows.len(), table.rows.len());
            for row in &table.rows {
                let texts = rows.iter().find(|cells| cells[0] == row.label).expect("its row");
                match &row.unavailable {
                    Some(reason) => assert_eq!(texts[1], format!("unavailable: {reason}")),
                    None => assert_eq!(texts.len(), table.points.len() + 2),
                }
                for (cell, text) in row.cells.iter().zip(&texts[1..]) {
                    if cell.is_none() && row.unavailable.is_none() {
                        assert_eq!(text, "–", "{}", row.label);
                    }
                }
            }
        }
    });
}

/// The texts of the n-th table of figures: its head, then each row; what is only heard is left out.
fn texts(page: &mut Page, number: usize) -> Vec<Vec<String>> {
    page.get(&format!(
        "[...document.querySelectorAll('table.figures')[{number}].rows].map((row) =>
            [...row.cells].map((cell) => {{
                const seen = cell.cloneNode(true);
                seen.querySelectorAll('.unseen, .interval').forEach((one) => one.remove());
                return seen.textContent;
            }}))"
    ))
}

#[test]
fn points_stand_down_and_subjects_across_where_the_workload_wants_it() {
    with(&PIPES, |page| {
        for (number, table) in PIPES[0].1.analysis.tables.iter().enumerate() {
            let rows = texts(page, number);
            let measured: Vec<_> =
                table.rows.iter().filter(|row| row.unavailable.is_none()).collect();
            let mut head = vec!["tokens", "active"];
            head.extend(measured.iter().map(|row| row.label.as_str()));
            assert_eq!(rows[0], head);
            assert_eq!(rows.len(), 2 + table.points.len());
            // At the foot where each rate goes.
            assert_eq!(rows[rows.len() - 1][0], "growth");
            for (column, texts) in rows[1..=table.points.len()].iter().enumerate() {
                assert_eq!(texts[0], findings::format::count(table.points[column]));
                let share = table.shares.as_ref().expect("shares").values[column] * 100.0;
                assert_eq!(texts[1], format!("{} %", share.round()));
                let lead = table.leads[column].first();
                for (row, text) in measured.iter().zip(&texts[2..]) {
                    let best = lead.is_some_and(|lead| lead.clear && lead.best == row.subject);
                    assert_eq!(text.ends_with('★'), best, "{}: {text}", row.label);
                    let shares = lead.is_some_and(|lead| sharing(lead).contains(&row.subject));
                    assert_eq!(text.ends_with('≈'), shares, "{}: {text}", row.label);
                    assert_eq!(row.cells[column].is_none(), text == "–");
                }
            }
        }
    });
}

/// Those who are marked as sharing a lead.
fn sharing(lead: &Lead) -> Vec<String> {
    if !lead.is_shared() || lead.tied.len() > 3 {
        return Vec::new();
    }
    std::iter::once(&lead.best).chain(&lead.tied).cloned().collect()
}

/// How many cells show this sign, and how many of them say these words to a screen reader.
fn marked(page: &mut Page, sign: &str, words: &str) -> [usize; 2] {
    page.get(&format!(
        "(() => {{ const marked = [...document.querySelectorAll('table.figures td')]
            .filter((cell) => cell.querySelector('.star[aria-hidden]')?.textContent === '{sign}');
        return [marked.length, marked.filter((cell) =>
            cell.querySelector('.unseen').textContent === '{words}').length]; }})()"
    ))
}

#[test]
fn the_best_is_seen_and_heard_and_who_is_missing_is_named() {
    with(&PIPES, |page| {
        let leads =
            || PIPES[0].1.analysis.tables.iter().flat_map(|table| table.leads.iter().flatten());
        let clear = leads().filter(|lead| lead.clear).count();
        let shared: usize = leads().map(|lead| sharing(lead).len()).sum();
        assert!(clear > 20 && shared > 10, "{clear} and {shared}");
        assert_eq!(marked(page, "★", " fastest"), [clear; 2]);
        assert_eq!(marked(page, "≈", " among the fastest"), [shared; 2]);
        assert_eq!(page.get::<usize>("document.querySelectorAll('td.best').length"), clear);
        let texts = "document.querySelectorAll('table.figures td .unseen').length";
        assert_eq!(page.get::<usize>(texts), clear + shared);
        let [legend, notes]: [String; 2] = page.get(
            "['.legend-line', '.notes'].map((one) => document.querySelector(one).textContent)",
        );
        assert_eq!(legend, "★ the fastest; ≈ among the fastest, too close to call.");
        assert!(notes.contains("kqueue (libkqueue) unavailable: libkqueue is not"), "{notes}");
    });
}

#[test]
fn where_every_lead_is_too_close_no_figure_is_marked() {
    let mut runs: Runs = PIPES.clone();
    let table = &mut runs[0].1.analysis.tables[0];
    for column in 0..table.points.len() {
        share_among_all(table, column);
    }
    with_made(&runs, |page| {
        assert!(texts(page, 0).iter().flatten().all(|text| !text.contains(['★', '≈'])));
        let unseen = "document.querySelector('table.figures').querySelectorAll('.unseen').length";
        assert_eq!(page.get::<usize>(unseen), 0);
        let legend: String = page.get("document.querySelector('.legend-line').textContent");
        assert_eq!(legend, "No figure is marked: every lead is too close to call.");
    });
}

/// Makes no subject clearly behind at one point.
fn share_among_all(table: &mut Table, column: usize) {
    let measured = table.rows.iter().filter(|row| row.cells[column].is_some());
    let subjects: Vec<String> = measured.map(|row| row.subject.clone()).collect();
    let lead = &mut table.leads[column][0];
    lead.clear = false;
    lead.measured = subjects.len();
    lead.tied = subjects.into_iter().filter(|subject| *subject != lead.best).collect();
}

#[test]
fn where_more_than_four_or_all_share_a_lead_no_figure_is_marked() {
    let mut runs: Runs = PIPES.clone();
    let table = &mut runs[0].1.analysis.tables[0];
    share_among_all(table, 0);
    share_among_all(table, 1);
    // Five of the six lead together.
    table.leads[1][0].measured = 6;
    with_made(&runs, |page| {
        let rows = texts(page, 0);
        assert!(rows[1..3].iter().flatten().all(|text| !text.contains(['★', '≈'])), "{rows:?}");
        assert!(rows[3..].iter().flatten().any(|text| text.contains('≈')), "{rows:?}");
        let legend: String = page.get("document.querySelector('.legend-line').textContent");
        let wanted = "★ the fastest; ≈ among the fastest, too close to call; no mark \
                      where more than 4, or all, are.";
        assert_eq!(legend, wanted);
    });
}

#[test]
fn a_foreign_table_has_no_clock_and_no_machine() {
    with(&FOREIGN, |page| {
        let section = |page: &mut Page, id: &str| {
            page.get::<String>(&format!("document.getElementById('{id}').innerText"))
        };
        let machine = section(page, "machine");
        assert!(machine.contains("The figures come from a table, server.csv."), "{machine}");
        assert!(!machine.contains("Clock:") && !machine.contains("0 ns"), "{machine}");
        let again = section(page, "reproduce");
        assert!(again.contains("knee analyse server.csv --x threads"), "{again}");
        assert!(again.contains("Single figures."), "{again}");
        for word in ["--seed", "Seed", " ms ", "deadline"] {
            assert!(!again.contains(word), "{word} is in {again}");
        }
        let head: String = page.get("document.querySelector('.dateline').innerText");
        assert!(head.contains("a table, server.csv") && !head.contains("Machine"), "{head}");
        assert_eq!(page.get::<usize>("document.querySelectorAll('td .interval').length"), 2);
    });
}

#[test]
fn levels_of_memory_stand_with_what_the_kernel_says_of_their_caches() {
    with(&MEMORY, |page| {
        let answer: String = page.get("document.querySelector('#answer').innerText");
        for level in ["L1 (kernel 48 KiB) 1.2", "L3 (kernel 480 MiB, shared) 4"] {
            assert!(answer.contains(level), "{answer}");
        }
    });
}

#[test]
fn three_machines_stand_across_with_their_ratios_to_the_first() {
    with(&MACHINES, |page| {
        let heads: Vec<String> = page.get(
            "[...document.querySelectorAll('#comparison caption')].map((one) => one.innerText)",
        );
        assert_eq!(heads.len(), 2, "{heads:?}");
        let rows: Vec<Vec<String>> = page.get(
            "[...document.querySelectorAll('#comparison table')[0].rows].map((row) =>
                [...row.cells].slice(0, 4).map((cell) => cell.innerText))",
        );
        assert_eq!(rows[0][1..], ["amber", "birch", "cedar"]);
        assert_eq!((&rows[1][0][..], &rows[4][0][..]), ("Processor", "stat"), "{rows:?}");
        // The first one has no ratio; the second is slower at system calls, the third faster.
        let classes: Vec<String> = page.get(
            "[...document.querySelectorAll('#comparison table')[0].rows[4].cells].slice(1)
                .map((cell) => cell.className)",
        );
        assert_eq!(classes, ["number", "number slower", "number faster"]);
        assert!(rows[4][2].contains("×1.4") && rows[4][3].contains('★'), "{rows:?}");
        for width in [1280, 390] {
            page.resize(width, 900);
            page.settle();
            let is_wider: bool = page.get("document.documentElement.scrollWidth > innerWidth");
            assert!(!is_wider, "{width} pixels");
        }
    });
}
