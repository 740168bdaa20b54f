//! Where the time of a run went, by workload.

use crate::layout::{GAP, Pen, Style};
use crate::matrix::grid::{Cell, Grid, GridRow};
use findings::format::{count, duration, percent};
use findings::grouping::grouped;
use model::Run;

/// A line a workload: its cells, their wall time, and the share of that in which operations were timed; with several
/// workloads also their sum.
pub fn timing(run: &Run, style: &Style) -> String {
    let cells = run.cells.iter();
    let times = |cell: &model::Cell| [1, cell.elapsed_ns, cell.timed_ns.unwrap_or(0)];
    let mut rows: Vec<(&str, [u64; 3])> =
        grouped(cells.map(|cell| (cell.key.workload.as_str(), times(cell))))
            .into_iter()
            .map(|(workload, cells)| (workload, sum(cells)))
            .collect();
    if rows.len() > 1 {
        rows.push(("all", sum(rows.iter().map(|&(_, times)| times))));
    }
    let row = |(name, [cells, elapsed_ns, timed_ns]): (&str, [u64; 3])| {
        let timed = percent(timed_ns as f64 / elapsed_ns as f64);
        let texts = [count(cells), duration(elapsed_ns / 1_000_000), timed];
        GridRow::new(name, texts.map(|text| vec![text]).to_vec())
    };
    let pen = Pen::new(style);
    let mut out = String::new();
    pen.heading(&mut out, "Time");
    let heads: Vec<Cell> = ["cells", "wall time", "timed"].map(|head| vec![head.to_owned()]).into();
    let rows = rows.into_iter().map(row).collect();
    pen.grid(&mut out, &Grid { stub: vec!["workload".to_owned()], heads, rows, gap: GAP });
    pen.aside(
        &mut out,
        "The rest starts each worker, makes what it measures on, warms it up and takes it down.",
    );
    out
}

fn sum(times: impl IntoIterator<Item = [u64; 3]>) -> [u64; 3] {
    times.into_iter().fold([0; 3], |sum, cell| std::array::from_fn(|at| sum[at] + cell[at]))
}
