//! All of it as JSON: the same text as `knee show --json` prints.

use super::material::{Content, Format, Material, write_json};
use crate::json::run;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "json",
    about: "all of it for programs, with every sample: what `knee show --json` prints",
    mark: "{\n  \"schema\": 1,\n  \"summary\":",
    choices: &[],
    check: |_| Ok(()),
    content: Content::Figures,
    write,
};

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    write_json(&run(material.run, material.conclusions()), out)
}
