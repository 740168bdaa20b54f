//! Where the time of a run went, by workload.

use crate::layout::{Pen, Style};
use crate::matrix::grid::Grid;
use findings::format::{count, duration, percent};
use findings::grouping::grouped;
use model::Run;

/// A line a workload: its cells, their wall time, and the share of that in which operations were timed; with several
/// workloads also their sum. Of cells that knee did not time there is none.
pub fn timing(run: &Run, style: &Style) -> String {
    let cells = run.cells.iter().filter_map(|cell| {
        Some((cell.key.workload.as_str(), [1, cell.elapsed_ns, cell.timed_ns?]))
    });
    let of_workload = |(workload, cells): (_, Vec<_>)| (workload, sum(cells));
    let mut rows: Vec<(&str, [u64; 3])> = grouped(cells).into_iter().map(of_workload).collect();
    if rows.len() > 1 {
        rows.push(("all", sum(rows.iter().map(|&(_, times)| times))));
    }
    let row = |(name, [cells, elapsed_ns, timed_ns]): (&str, [u64; 3])| {
        let timed = percent(timed_ns as f64 / elapsed_ns as f64);
        (name.to_owned(), vec![count(cells), duration(elapsed_ns / 1_000_000), timed])
    };
    let pen = Pen::new(style);
    let mut out = String::new();
    pen.heading(&mut out, "Time");
    if rows.is_empty() {
        pen.indented(&mut out, "knee timed no operation of this run");
        return out;
    }
    let heads = ["cells", "wall time", "timed"].map(str::to_owned);
    pen.grid(&mut out, &Grid::plain("workload", heads, rows.into_iter().map(row)));
    out
}

fn sum(times: impl IntoIterator<Item = [u64; 3]>) -> [u64; 3] {
    let add = |sum: [u64; 3], cell: [u64; 3]| {
        std::array::from_fn(|part| sum[part].saturating_add(cell[part]))
    };
    times.into_iter().fold([0; 3], add)
}
