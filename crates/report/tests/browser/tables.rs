//! What the page says in words and tables beside its plots.

use crate::page::{FOREIGN, ONE, PIPES, Page, Runs, with};
use analysis::Basis;

#[test]
fn an_order_of_growth_says_when_it_was_taken_from_the_fastest_samples() {
    let mut runs: Runs = ONE.clone();
    let table = runs[0].1.tables.iter_mut().find(|table| table.headline).expect("a headline");
    let row = table.rows.iter_mut().find(|row| row.label == "poll").expect("poll");
    let growth = row.growth.as_mut().expect("its growth");
    growth.basis = Basis::FastestTenth;
    growth.because = "the median at 300 falls between two modes".to_owned();
    with(&runs, |page| {
        let cell: String = page.get(
            "[...document.querySelectorAll('table.figures tr')]
                .find((row) => row.cells[0].textContent === 'poll').cells[8].innerText",
        );
        assert!(cell.contains("by the fastest tenth of its samples"), "{cell}");
        let notes: String = page.get("document.querySelector('.notes').innerText");
        let why = "its medians leave it undecided: the median at 300 falls between two modes";
        assert!(notes.contains(why), "{notes}");
    });
}

#[test]
fn what_is_not_measured_stands_item_by_item() {
    with(&ONE, |page| {
        let said: Vec<String> = page
            .get("[...document.querySelectorAll('.not-measured li')].map((one) => one.innerText)");
        assert_eq!(said, ONE[0].0.plan.workloads[0].not_measured);
    });
}

#[test]
fn every_table_has_the_medians_and_names_what_it_lacks() {
    with(&ONE, |page| {
        for (index, table) in ONE[0].1.tables.iter().filter(|table| table.headline).enumerate() {
            let rows: Vec<Vec<String>> = page.get(&format!(
                "[...document.querySelectorAll('table.figures')[{index}].tBodies[0].rows]
                    .map((row) => [...row.cells].map((cell) => cell.textContent))"
            ));
            assert_eq!(rows.len(), table.rows.len());
            for row in &table.rows {
                let said = rows.iter().find(|cells| cells[0] == row.label).expect("its row");
                match &row.unavailable {
                    Some(reason) => assert_eq!(said[1], format!("unavailable: {reason}")),
                    None => assert_eq!(said.len(), table.points.len() + 2),
                }
                for (cell, text) in row.cells.iter().zip(&said[1..]) {
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
        for (number, table) in PIPES[0].1.tables.iter().enumerate() {
            let rows = texts(page, number);
            let measured: Vec<_> =
                table.rows.iter().filter(|row| row.unavailable.is_none()).collect();
            let mut head = vec!["tokens", "active"];
            head.extend(measured.iter().map(|row| row.label.as_str()));
            assert_eq!(rows[0], head);
            assert_eq!(rows.len(), 1 + table.points.len());
            for (column, said) in rows[1..].iter().enumerate() {
                assert_eq!(said[0], analysis::words::count(table.points[column]));
                let share = table.shares.as_ref().expect("shares").values[column] * 100.0;
                assert_eq!(said[1], format!("{} %", share.round()));
                let best = table.leads[column].as_ref().filter(|lead| lead.clear);
                for (row, text) in measured.iter().zip(&said[2..]) {
                    let marked = best.is_some_and(|lead| lead.best == row.subject);
                    assert_eq!(text.ends_with('★'), marked, "{}: {text}", row.label);
                    assert_eq!(row.cells[column].is_none(), text == "–");
                }
            }
        }
    });
}

#[test]
fn the_best_is_seen_and_heard_and_who_is_missing_is_named() {
    with(&PIPES, |page| {
        let [marks, heard]: [usize; 2] = page.get(
            "[document.querySelectorAll('td.best .star').length,
                [...document.querySelectorAll('td.best')]
                    .filter((cell) => cell.querySelector('.unseen').textContent === ' fastest').length]",
        );
        let clear: usize = PIPES[0]
            .1
            .tables
            .iter()
            .map(|table| table.leads.iter().flatten().filter(|lead| lead.clear).count())
            .sum();
        assert_eq!((marks, heard), (clear, clear));
        let [legend, notes]: [String; 2] = page.get(
            "['.legend-line', '.notes'].map((one) => document.querySelector(one).textContent)",
        );
        let wanted = "★ the fastest; nobody is marked where the lead is too close to call.";
        assert_eq!(legend, wanted);
        assert!(notes.contains("kqueue (libkqueue) unavailable: libkqueue is not"), "{notes}");
    });
}

#[test]
fn where_every_lead_is_too_close_nobody_is_marked() {
    let mut runs: Runs = PIPES.clone();
    for lead in runs[0].1.tables[0].leads.iter_mut().flatten() {
        lead.clear = false;
    }
    with(&runs, |page| {
        assert!(texts(page, 0).iter().flatten().all(|text| !text.contains('★')));
        let legend: String = page.get("document.querySelector('.legend-line').textContent");
        assert_eq!(legend, "Nobody is marked: every lead is too close to call.");
    });
}

#[test]
fn a_table_of_somebody_else_tells_of_no_clock_and_no_machine() {
    with(&FOREIGN, |page| {
        let section = |page: &mut Page, id: &str| {
            page.get::<String>(&format!("document.getElementById('{id}').innerText"))
        };
        let machine = section(page, "machine");
        assert!(machine.contains("The figures come from a table, server.csv."), "{machine}");
        assert!(!machine.contains("Clock:") && !machine.contains("0 ns"), "{machine}");
        let again = section(page, "reproduce");
        assert!(again.contains("knee analyse --csv server.csv --x threads"), "{again}");
        assert!(again.contains("Single figures."), "{again}");
        for word in ["--seed", "Seed", " ms ", "deadline"] {
            assert!(!again.contains(word), "{word} is in {again}");
        }
        let head: String = page.get("document.querySelector('.dateline').innerText");
        assert!(head.contains("a table, server.csv") && !head.contains("Machine"), "{head}");
        assert_eq!(page.get::<usize>("document.querySelectorAll('td .interval').length"), 10);
    });
}
