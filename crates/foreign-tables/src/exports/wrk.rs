//! What wrk and wrk2 print, once or for several numbers of connections one after the other.

use super::{Export, ExportRow, Measurements, STATISTIC, line_that_begins};
use model::Warning;

pub const EXPORT: Export = Export {
    program: "wrk",
    option: "its output, with --latency for percentiles",
    is_head: |head| {
        let start = line_that_begins(head, START);
        start.is_some_and(|start| String::from_utf8_lossy(&head[start..]).contains(URL))
    },
    is_table: |_| false,
    read,
};

const START: &str = "Running ";
const URL: &str = " test @ ";

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let text = str::from_utf8(bytes).map_err(|_| "is no UTF-8")?;
    let (mut rows, mut warnings) = (Vec::new(), Vec::new());
    let mut run = ExportRow::default();
    // Of the two distributions of wrk2, the second counts no wait before sending.
    let mut is_corrected = true;
    for line in text.lines() {
        let mut push = |statistic: String, value: &str| {
            let mut row = run.clone();
            let prefix = if is_corrected { "" } else { "uncorrected " };
            row.parameters.push((STATISTIC.to_owned(), format!("{prefix}{statistic}")));
            row.figures.push(("latency".to_owned(), value.to_owned()));
            rows.push(row);
        };
        match line.split_whitespace().collect::<Vec<&str>>().as_slice() {
            [threads, "threads", "and", connections, "connections"] => {
                let both = [("connections", connections), ("threads", threads)];
                run.parameters = both.map(|(name, value)| (name.into(), (*value).into())).into();
            }
            ["Latency", _, _, _, "-nan%"] => {
                push("mean".to_owned(), "failed: no request was answered");
            }
            ["Latency", mean, _, max, _] => {
                push("mean".to_owned(), mean);
                push("max".to_owned(), max);
            }
            ["Requests/sec:", rate] => {
                let mut row = run.clone();
                row.figures.push(("rate".to_owned(), format!("{rate} requests/s")));
                rows.push(row);
            }
            ["Socket", "errors:", ..] | ["Non-2xx", ..] => warnings.push(Warning {
                what: format!("{}: {}", run.name, line.trim()),
                remedy: "rates and latencies are of the others".to_owned(),
            }),
            ["Uncorrected", "Latency", ..] => is_corrected = false,
            [percent, value] => {
                if let Some(percentile) = percentile(percent) {
                    push(percentile, value);
                }
            }
            _ => {
                if let Some((_, url)) = line.split_once(URL).filter(|_| line.starts_with(START)) {
                    run = ExportRow { name: url.trim().to_owned(), ..ExportRow::default() };
                    is_corrected = true;
                }
            }
        }
    }
    Ok(Measurements { rows, warnings, ..Measurements::default() })
}

/// `50%` and `50.000%` are p50.
fn percentile(text: &str) -> Option<String> {
    let percent: f64 = text.strip_suffix('%')?.parse().ok()?;
    Some(format!("p{percent}"))
}
