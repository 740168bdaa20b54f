//! A [`Picture`] as SVG.

use super::material::{Content, Format, Head, Material, has_figures};
use super::picture::Picture;
use plotters::prelude::SVGBackend;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "svg",
    about: "a picture of each table: medians with their intervals over the axis",
    heads: &[Head::Text("<svg")],
    choices: &[],
    check: has_figures,
    content: Content::Tables,
    write,
};

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let picture = Picture::new(material);
    let mut text = String::new();
    picture.draw(SVGBackend::with_string(&mut text, picture.size()))?;
    out.write_all(text.as_bytes())
}
