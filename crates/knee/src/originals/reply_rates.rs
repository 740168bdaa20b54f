//! Reply rates as httperf printed them: a line of the minimum, the mean, the maximum and the deviation of
//! all samples.

use super::measured;
use analysis::{Row, Table};
use model::Run;
use std::fmt::Write;

pub fn lines(out: &mut String, table: &Table, run: &Run) {
    for row in measured(table) {
        for point in &table.points {
            let _ = match line(&samples(run, table, row, *point)) {
                Some(line) => {
                    writeln!(out, "{} {} {point}: {line}", row.label, table.axis_parameter)
                }
                None => writeln!(out, "{} {} {point}: -", row.label, table.axis_parameter),
            };
        }
    }
}

fn samples(run: &Run, table: &Table, row: &Row, point: u64) -> Vec<f64> {
    let cells = run.cells.iter().filter(|cell| {
        let key = &cell.key;
        (key.workload.as_str(), key.subject.as_str()) == (&table.workload, &row.subject)
            && key.parameters == table.parameters
            && key.point == point
    });
    let metrics = cells.flat_map(|cell| &cell.metrics);
    let own = metrics.filter(|metric| metric.name == table.metric.name);
    own.flat_map(|metric| metric.samples.iter().copied()).collect()
}

/// The deviation is that of a sample, as httperf's: over one less than there are.
fn line(samples: &[f64]) -> Option<String> {
    let count = samples.len();
    let mean = samples.iter().sum::<f64>() / count as f64;
    let min = samples.iter().copied().reduce(f64::min)?;
    let max = samples.iter().copied().reduce(f64::max)?;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
    Some(format!(
        "Reply rate [replies/s]: min {min:.1} avg {mean:.1} max {max:.1} stddev {deviation:.1} \
         ({count} samples)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_httperfs() {
        let output = line(&[99.0, 100.0, 101.0]).unwrap();
        let wanted = "Reply rate [replies/s]: min 99.0 avg 100.0 max 101.0 stddev 1.0 (3 samples)";
        assert_eq!(output, wanted);
        assert!(line(&[7.0]).unwrap().ends_with("stddev 0.0 (1 samples)"));
        assert_eq!(line(&[]), None);
    }
}
