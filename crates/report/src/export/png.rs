//! A [`Picture`] as PNG.

use super::material::{Content, Format, Material, has_figures};
use super::picture::Picture;
use plotters::prelude::BitMapBackend;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "png",
    about: "the picture of svg in pixels",
    mark: "Software\0knee",
    choices: &[],
    check: has_figures,
    content: Content::Tables,
    write,
};

/// Bytes of a pixel: red, green and blue.
const PIXEL_BYTES: usize = 3;

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let picture = Picture::new(material);
    let (width, height) = picture.size();
    let mut pixels = vec![0; width as usize * height as usize * PIXEL_BYTES];
    picture.draw(BitMapBackend::with_buffer(&mut pixels, (width, height)))?;
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.add_text_chunk("Software".to_owned(), "knee".to_owned())?;
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(())
}
