//! The file format of speedscope: a profile for each cell, weighted by CPU time.

use super::material::{Content, Format, Head, Material, identity};
use super::sampled::{self, Part};
use model::{Frame, FrameKind};
use serde::Serialize;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "speedscope",
    about: "the profile for speedscope (https://www.speedscope.app), a profile for each cell",
    heads: &[Head::Text("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"")],
    choices: &[],
    check: sampled::has_samples,
    content: Content::Profile,
    write,
};

#[derive(Serialize)]
struct File {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: String,
    exporter: String,
    #[serde(rename = "activeProfileIndex")]
    active_profile_index: usize,
    shared: Shared,
    profiles: Vec<Profile>,
}

#[derive(Serialize)]
struct Shared {
    frames: Vec<SharedFrame>,
}

#[derive(Serialize)]
struct SharedFrame {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: f64,
    end_value: f64,
    samples: Vec<Vec<u32>>,
    weights: Vec<f64>,
}

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let parts = sampled::parts(material.run);
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        name: identity(material.run),
        exporter: format!("knee {}", env!("CARGO_PKG_VERSION")),
        active_profile_index: 0,
        shared: Shared { frames: material.run.profile.frames.iter().map(frame).collect() },
        profiles: parts.iter().map(|part| profile(material, part)).collect(),
    };
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}

fn frame(frame: &Frame) -> SharedFrame {
    let file = (frame.kind != FrameKind::Process).then(|| frame.module.clone());
    SharedFrame { name: sampled::function(frame), file: file.filter(|file| !file.is_empty()) }
}

fn profile(material: &Material, part: &Part) -> Profile {
    let samples = part.region.samples.iter();
    let stack = |stack: u32| {
        let frames = sampled::frames(&material.run.profile, stack);
        frames.into_iter().map(|(index, _)| index).collect()
    };
    let weights: Vec<f64> =
        samples.clone().map(|(_, count)| *count as f64 * part.cell.sample_ns).collect();
    Profile {
        kind: "sampled",
        name: part.title.clone(),
        unit: "nanoseconds",
        start_value: 0.0,
        end_value: weights.iter().sum(),
        samples: samples.map(|(index, _)| stack(*index)).collect(),
        weights,
    }
}
