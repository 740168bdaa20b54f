//! Work that grows as known curves, through the whole way: worker, record, analysis, findings.

use super::bench::request;
use super::{Bench, Control, Proof, State, twice, unsigned_zero};
use crate::exit::Trouble;
use analysis::{Analysis, Class};
use findings::reasons;
use serde_json::json;

pub const CONTROL: Control = Control {
    name: "growth",
    proves: "work that grows as 1, log n, √n, n, n log n and n² is named so, from worker to finding",
    prove,
};

/// The subjects of `known`, and what each has to be named.
const CURVES: [(&str, Class, &str); 6] = [
    ("constant", Class::Constant, "1"),
    ("log", Class::Logarithmic, "log n"),
    ("root", Class::SquareRoot, "√n"),
    ("linear", Class::Linear, "n"),
    ("n-log-n", Class::Linearithmic, "n log n"),
    ("quadratic", Class::Quadratic, "n²"),
];

fn prove(bench: &mut Bench) -> Result<Proof, Trouble> {
    twice(7, |rounds| {
        let run = bench.measured(&request(&["known"], &[], &[], rounds, 5))?;
        Ok(judged(&analysis::analyse(&run)))
    })
}

fn judged(analysis: &Analysis) -> Proof {
    let rows =
        || analysis.tables.iter().filter(|table| table.headline).flat_map(|table| &table.rows);
    let (mut right, mut wrong, mut named_curves, mut figures) =
        (0, Vec::new(), Vec::new(), Vec::new());
    let mut undecided = 0;
    for (subject, class, curve) in CURVES {
        let row = rows().find(|row| row.subject == subject);
        let Some(growth) = row.and_then(|row| row.growth.as_ref()) else {
            wrong.push(format!("{curve} has no growth"));
            continue;
        };
        let exponent = growth.exponent.map_or(f64::NAN, |exponent| exponent.value);
        named_curves.push(format!("{curve} (exponent {:.2})", unsigned_zero(exponent, 2)));
        let named = growth.class;
        figures.push(json!({ "curve": curve, "named": named, "exponent": growth.exponent }));
        match named {
            _ if named == class => right += 1,
            Class::Undecided => {
                undecided += 1;
                let reason = growth.reason.as_ref().map(reasons::growth).unwrap_or_default();
                wrong.push(format!("{curve} is undecided, because {reason}"));
            }
            _ if growth.classes.contains(&class) => {
                undecided += 1;
                wrong.push(format!("{curve} is {}", findings::format::class(named)));
            }
            _ => wrong.push(format!("{curve} is named {named:?}")),
        }
    }
    let state = match (right, wrong.len() - undecided) {
        (6, _) => State::Proved,
        (_, 0) => State::Undecided,
        _ => State::Failed,
    };
    let seen = format!("{right} of 6 named rightly: {}", named_curves.join(", "));
    let seen = wrong.iter().fold(seen, |seen, what| format!("{seen}; {what}"));
    Proof::new(state, seen, json!({ "right": right, "curves": figures }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::machine::selftest::tests::fake;

    fn proof(grows: impl Fn(&str, f64) -> f64) -> Proof {
        let run = fake(&request(&["known"], &[], &[], 5, 1), |key| {
            Ok(100.0 * grows(&key.subject, key.point as f64))
        });
        judged(&analysis::analyse(&run))
    }

    fn right(subject: &str, n: f64) -> f64 {
        match subject {
            "constant" => 1.0,
            "log" => n.log2(),
            "root" => n.sqrt(),
            "linear" => n,
            "n-log-n" => n * n.log2(),
            _ => n * n,
        }
    }

    #[test]
    fn a_curve_that_grows_otherwise_is_found() {
        let proved = proof(right);
        assert_eq!(proved.state, State::Proved, "{proved:?}");
        let swapped =
            proof(|subject, n| if subject == "linear" { n * n } else { right(subject, n) });
        assert_eq!(swapped.state, State::Failed, "{swapped:?}");
        assert!(swapped.seen.starts_with("5 of 6 named rightly"), "{swapped:?}");
    }
}
