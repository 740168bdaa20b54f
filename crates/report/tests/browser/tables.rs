//! What the page says in words and tables beside its plots.

use crate::page::{ONE, Runs, with};
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
