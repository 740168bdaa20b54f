//! The text of `perf script`, an event for each sample, for all that reads it: stackcollapse-perf, speedscope,
//! the Firefox profiler.
//!
//! The record keeps how often a stack was sampled, and neither when, nor by which process, nor at which
//! addresses: times are made up in the order of the file, process numbers are numbers of cells, and addresses
//! are 0.

use super::material::{Content, Format, Material};
use super::sampled::{self, Part};
use model::SampledEvent;
use std::fmt::Write as _;
use std::io::{self, Write};

const HEAD: &str = "# Samples of knee's.\n";

pub(super) const FORMAT: Format = Format {
    name: "perf-script",
    about: "the profile as `perf script` prints one, for the many programs that read that",
    mark: HEAD,
    choices: &[],
    check,
    content: Content::Profile,
    write,
};

/// Samples that are written: some gigabytes of text. A record that was imported may say that it has any number.
const EVENTS_MAX: u64 = 10_000_000;

fn check(material: &Material) -> Result<(), String> {
    sampled::has_samples(material)?;
    let events: u64 =
        sampled::parts(material.run).iter().map(|part| part.region.sample_count()).sum();
    if events > EVENTS_MAX {
        return Err(format!(
            "the profile has {events} samples, and perf-script has an event for each, at most {EVENTS_MAX}; \
             --format folded has a line for each stack"
        ));
    }
    Ok(())
}

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(HEAD.as_bytes())?;
    let mut time_ns = 0.0;
    for (number, part) in (1..).zip(sampled::parts(material.run)) {
        writeln!(out, "# Process {number} is {}.", part.title)?;
        write_part(material, &part, number, &mut time_ns, out)?;
    }
    Ok(())
}

fn write_part(
    material: &Material,
    part: &Part,
    process: usize,
    time_ns: &mut f64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let event = match part.cell.event {
        SampledEvent::CpuClock => "cpu-clock",
        SampledEvent::Cycles => "cycles",
    };
    for &(stack, count) in &part.region.samples {
        let frames = sampled::frames(&material.run.profile, stack);
        let Some(((_, root), callees)) = frames.split_first() else { continue };
        let mut lines = String::new();
        for (_, frame) in callees.iter().rev() {
            let function = match frame.function.as_str() {
                "" => sampled::UNKNOWN,
                function => function,
            };
            // Writing to a String can't fail.
            let _ = writeln!(lines, "\t{:16x} {function} ({})", 0, sampled::perf_module(frame));
        }
        let program = root.function.replace(';', ":");
        for _ in 0..count {
            *time_ns += part.cell.sample_ns;
            let seconds = *time_ns / 1e9;
            writeln!(out, "{program} {process} {seconds:.9}: {event}:\n{lines}")?;
        }
    }
    Ok(())
}
