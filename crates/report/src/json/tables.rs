//! Tables as JSON: the data as `analysis` has it, with each typed reason's sentence as `because`.

use analysis::compare::ChangeDetail;
use analysis::{
    ComparisonOutcome, CutShort, Growth, GrowthReason, Modes, ProfileTable, Rate, Row, Scaling,
    SubjectComparison, Table, TrendReason,
};
use findings::{Data, reasons};
use serde_json::{Value, json};

/// One value for each table.
pub(super) fn tables(tables: &[Table]) -> Vec<Value> {
    tables.iter().map(table).collect()
}

/// One value for each table of profiles.
pub(super) fn profiles(tables: &[ProfileTable]) -> Vec<Value> {
    tables.iter().map(profile).collect()
}

fn profile(table: &ProfileTable) -> Value {
    let mut value = json!(table);
    for (index, row) in table.rows.iter().enumerate() {
        let value = &mut value["rows"][index];
        if let Some(growth) = &row.growth {
            explain_growth(&mut value["growth"], growth);
        }
        for (index, function) in row.functions.iter().enumerate() {
            let value = &mut value["functions"][index];
            let growths =
                [("growth", &function.growth), ("inclusive_growth", &function.inclusive_growth)];
            for (key, growth) in growths {
                if let Some(growth) = growth {
                    explain_growth(&mut value[key], growth);
                }
            }
        }
    }
    value
}

fn table(table: &Table) -> Value {
    let mut value = json!(table);
    value["rows"] = table.rows.iter().map(row).collect();
    value["comparisons"] = table.comparisons.iter().map(comparison).collect();
    value
}

fn row(row: &Row) -> Value {
    let mut value = json!(row);
    for (index, (_, reason)) in row.missing.iter().enumerate() {
        value["missing"][index][1]["text"] = json!(reasons::missing_figure(reason));
    }
    if let Some(short) = &row.short {
        explain_short(&mut value["short"], short);
    }
    if let Some(growth) = &row.growth {
        explain_growth(&mut value["growth"], growth);
    }
    if let Some(modes) = &row.modes {
        explain_modes(&mut value["modes"], modes);
    }
    if let Some(rate) = &row.rate {
        explain_rate(&mut value["rate"], rate);
    }
    if let Some(scaling) = &row.scaling {
        explain_scaling(&mut value["scaling"], scaling);
    }
    value
}

/// Adds to the data of a finding the sentences of its reasons.
pub(super) fn explain_finding(value: &mut Value, data: &Data) {
    match data {
        Data::Growth(growth) => explain_growth(value, growth),
        Data::Trend(rate) => explain_rate(value, rate),
        Data::Scaling(scaling) => explain_scaling(&mut value["law"], &scaling.law),
        Data::Modes(modes) => explain_modes(value, modes),
        Data::Crossover(crossover) => value["comparison"] = comparison(&crossover.comparison),
        _ => {}
    }
}

/// Adds to the data of a change between two runs the sentences of its reasons.
pub(crate) fn explain_change(value: &mut Value, detail: &ChangeDetail) {
    match detail {
        ChangeDetail::Growth { base, new } => {
            explain_growth(&mut value["base"], base);
            explain_growth(&mut value["new"], new);
        }
        ChangeDetail::Crossover { base, new } => {
            value["base"] = comparison(base);
            value["new"] = comparison(new);
        }
        ChangeDetail::ModesAppeared { modes } | ChangeDetail::ModesVanished { modes } => {
            explain_modes(&mut value["modes"], modes);
        }
        ChangeDetail::CutShort { short } | ChangeDetail::Completed { short } => {
            explain_short(&mut value["short"], short);
        }
        _ => {}
    }
}

fn explain_short(value: &mut Value, short: &CutShort) {
    value["because"] = json!(short.reason.cause());
    value["remedy"] = json!(short.reason.remedy());
}

fn explain_growth(value: &mut Value, growth: &Growth) {
    value["because"] = because(growth.reason.as_ref().map(reasons::growth));
    value["remedy"] = json!(growth.reason.as_ref().and_then(GrowthReason::remedy));
}

fn explain_modes(value: &mut Value, modes: &Modes) {
    for (index, mode) in modes.modes.iter().enumerate() {
        if let Some(growth) = &mode.growth {
            explain_growth(&mut value["modes"][index]["growth"], growth);
        }
    }
}

fn explain_rate(value: &mut Value, rate: &Rate) {
    value["because"] = because(rate.reason.as_ref().map(reasons::trend));
    value["remedy"] = json!(rate.reason.as_ref().and_then(TrendReason::remedy));
}

fn explain_scaling(value: &mut Value, scaling: &Scaling) {
    value["because"] = because(scaling.reason.as_ref().map(reasons::scaling));
}

fn comparison(comparison: &SubjectComparison) -> Value {
    let mut value = json!(comparison);
    if let ComparisonOutcome::Unknown { reason } = &comparison.outcome {
        value["outcome"]["because"] = json!(reasons::comparison(reason));
    }
    value
}

/// Empty where there is no reason.
fn because(sentence: Option<String>) -> Value {
    json!(sentence.unwrap_or_default())
}
