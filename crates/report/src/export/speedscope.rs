//! The file format of speedscope: a profile for each cell, weighted by CPU time.

use super::material::{Content, Format, Material, identity};
use super::sampled::{self, Part};
use model::{Frame, FrameKind};
use serde_json::{Value, json};
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "speedscope",
    about: "the profile for speedscope (https://www.speedscope.app), a profile for each cell",
    mark: "\"exporter\":\"knee ",
    choices: &[],
    check: sampled::has_samples,
    content: Content::Profile,
    write,
};

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let parts = sampled::parts(material.run);
    let file = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": identity(material.run),
        "exporter": format!("knee {}", env!("CARGO_PKG_VERSION")),
        "activeProfileIndex": 0,
        "shared": { "frames": material.run.profile.frames.iter().map(frame).collect::<Value>() },
        "profiles": parts.iter().map(|part| profile(material, part)).collect::<Value>(),
    });
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}

fn frame(frame: &Frame) -> Value {
    let mut shared = json!({ "name": sampled::function(frame) });
    if frame.kind != FrameKind::Process && !frame.module.is_empty() {
        shared["file"] = frame.module.clone().into();
    }
    shared
}

fn profile(material: &Material, part: &Part) -> Value {
    let samples = part.region.samples.iter();
    let stack = |stack: u32| -> Vec<u32> {
        let frames = sampled::frames(&material.run.profile, stack);
        frames.into_iter().map(|(index, _)| index).collect()
    };
    let weights: Vec<f64> =
        samples.clone().map(|(_, count)| *count as f64 * part.cell.sample_ns).collect();
    json!({
        "type": "sampled",
        "name": part.title,
        "unit": "nanoseconds",
        "startValue": 0.0,
        "endValue": weights.iter().sum::<f64>(),
        "samples": samples.map(|(index, _)| stack(*index)).collect::<Vec<_>>(),
        "weights": weights,
    })
}
