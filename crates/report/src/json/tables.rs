//! Tables as JSON: the data as `analysis` has it, with each typed reason's sentence as `because`.

use analysis::{Contest, Growth, Row, Standing, Table};
use findings::reasons;
use serde_json::{Value, json};

/// One value for each table.
pub(super) fn tables(tables: &[Table]) -> Vec<Value> {
    tables.iter().map(table).collect()
}

fn table(table: &Table) -> Value {
    let mut value = json!(table);
    value["rows"] = table.rows.iter().map(row).collect();
    value["contests"] = table.contests.iter().map(comparison).collect();
    value
}

fn row(row: &Row) -> Value {
    let mut value = json!(row);
    if let Some(growth) = &row.growth {
        explain(&mut value["growth"], growth);
    }
    for (index, mode) in row.modes.iter().flat_map(|modes| &modes.modes).enumerate() {
        if let Some(growth) = &mode.growth {
            explain(&mut value["modes"]["modes"][index]["growth"], growth);
        }
    }
    if let Some(rate) = &row.rate {
        value["rate"]["because"] = because(rate.reason.as_ref().map(reasons::trend));
    }
    if let Some(scaling) = &row.scaling {
        value["scaling"]["because"] = because(scaling.reason.as_ref().map(reasons::scaling));
    }
    value
}

fn explain(value: &mut Value, growth: &Growth) {
    value["because"] = because(growth.reason.as_ref().map(reasons::growth));
}

fn comparison(comparison: &Contest) -> Value {
    let mut value = json!(comparison);
    if let Standing::Unknown { reason } = &comparison.standing {
        value["standing"]["because"] = json!(reasons::comparison(reason));
    }
    value
}

/// Empty where there is no reason.
fn because(sentence: Option<String>) -> Value {
    json!(sentence.unwrap_or_default())
}
