//! The JSON schemas of what programs read, derived from the types that are written.

use crate::history::json::HistoryView;
use crate::json::RunView;
use crate::matrix::json::{ComparisonView, MatrixView};
use findings::limit::Judgement;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// One schema.
pub struct Document {
    /// Its name, which is also part of its `$id`.
    pub name: &'static str,
    /// The commands that print it.
    pub about: &'static str,
    /// The schema, of JSON Schema's draft 2020-12.
    pub schema: fn() -> Schema,
}

/// Those of this crate.
pub const TABLE: &[Document] = &[
    Document {
        name: "run",
        about: "a run: knee show --json, knee export --format json",
        schema: || derived::<RunView<'_>>("run", crate::json::SCHEMA),
    },
    Document {
        name: "comparison",
        about: "two runs: knee compare --json",
        schema: || derived::<ComparisonView<'_>>("comparison", crate::matrix::json::SCHEMA),
    },
    Document {
        name: "several",
        about: "several runs: knee show RUN RUN --json, knee show --fleet --json, knee history --by KEY --json",
        schema: || derived::<MatrixView<'_>>("several", crate::matrix::json::SCHEMA),
    },
    Document {
        name: "history",
        about: "a workload over time: knee history --json",
        schema: || derived::<HistoryView<'_>>("history", crate::history::json::SCHEMA),
    },
    Document {
        name: "judgement",
        about: "costs held against a limit: knee judge --json",
        schema: || derived::<Judgement>("judgement", findings::limit::SCHEMA),
    },
];

/// The schema of a type, with its number as a constant of the key `schema`, where it has that.
pub fn derived<T: JsonSchema>(name: &str, number: u32) -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(for_readers));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), json!(format!("urn:knee:{name}-{number}")));
    schema.insert("title".to_owned(), json!(name));
    if let Some(property) = schema.pointer_mut("/properties/schema") {
        property["const"] = json!(number);
    }
    schema
}

/// JSON has no word for what is not finite: such a figure is written as null. Descriptions are those of the code, without its
/// links.
fn for_readers(schema: &mut Schema) {
    if schema.get("type").is_some_and(|kind| kind == "number") {
        schema.insert("type".to_owned(), json!(["number", "null"]));
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = without_links(text);
    }
}

/// A link is written ``[`Name`]``, or with its target in brackets behind it.
fn without_links(text: &str) -> String {
    let mut parts = text.split("[`");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("`]").unwrap_or((part, ""));
        let rest =
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |at| at.1);
        let name = name.rsplit("::").next().unwrap_or(name);
        plain.extend(["`", name, "`", rest]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_no_links() {
        let text = "See [`Terms::margin`], or [`read`](read::read) of it.";
        assert_eq!(without_links(text), "See `margin`, or `read` of it.");
    }
}
