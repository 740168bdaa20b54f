//! A [`Picture`] as SVG.

use super::material::{Content, Format, Material, has_figures};
use super::picture::Picture;
use plotters::prelude::SVGBackend;
use std::io::{self, Write};

/// A comment before the picture.
const MARK: &str = "<!-- knee -->\n";

pub(super) const FORMAT: Format = Format {
    name: "svg",
    about: "a picture of each table: medians with their intervals over the axis",
    mark: MARK,
    choices: &[],
    check: has_figures,
    content: Content::Tables,
    write,
};

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let picture = Picture::new(material);
    let mut text = String::new();
    picture.draw(SVGBackend::with_string(&mut text, picture.size()))?;
    out.write_all(MARK.as_bytes())?;
    out.write_all(text.as_bytes())
}
