//! Folded stacks: a line for each call stack with its samples, for flame graphs.
//!
//! The process comes first, frames are separated by semicolons, and a function of the kernel has `_[k]` behind
//! it, as in the output of `stackcollapse-perf`.

use super::material::{Content, Format, Material};
use super::sampled::{self, Part};
use model::{Frame, FrameKind};
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "folded",
    about: "the profile as folded stacks, for flamegraph.pl, inferno-flamegraph and difffolded",
    mark: "",
    choices: &[],
    check: sampled::has_samples,
    content: Content::Profile,
    write,
};

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let parts = sampled::parts(material.run);
    // So that two files of one cell each can be compared, nothing but the stacks is in them.
    let is_single = parts.iter().all(|part| part.is_with(&parts[0]));
    for part in &parts {
        write_part(material, part, is_single, out)?;
    }
    Ok(())
}

fn write_part(
    material: &Material,
    part: &Part,
    is_single: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines: Vec<(String, u64)> = Vec::new();
    for &(stack, count) in &part.region.samples {
        let frames = sampled::frames(&material.run.profile, stack);
        let names = frames.iter().enumerate().map(|(depth, (_, frame))| match depth {
            0 => separable(&frame.function.replace(' ', "_")),
            _ => separable(&name(frame)),
        });
        let title = (!is_single).then(|| separable(&part.title));
        let names: Vec<String> = title.into_iter().chain(names).collect();
        lines.push((names.join(";"), count));
    }
    lines.sort();
    // Frames of different modules may share a name.
    lines.dedup_by(|line, kept| {
        let is_same = line.0 == kept.0;
        kept.1 += if is_same { line.1 } else { 0 };
        is_same
    });
    lines.iter().try_for_each(|(stack, count)| writeln!(out, "{stack} {count}"))
}

fn separable(name: &str) -> String {
    name.replace(';', ":")
}

fn name(frame: &Frame) -> String {
    let module = sampled::perf_module(frame);
    let mark = match frame.kind {
        FrameKind::Jit => "_[j]",
        _ if module.starts_with('[') && module != sampled::UNKNOWN => "_[k]",
        _ => "",
    };
    format!("{}{mark}", sampled::function(frame))
}
