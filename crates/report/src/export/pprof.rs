//! pprof's `profile.proto`, compressed, with labels that say which cell a sample is of.
//!
//! The messages are those of <https://github.com/google/pprof/blob/main/proto/profile.proto>, without fields that
//! stay empty here.

use super::material::{Content, Format, Material, identity};
use super::sampled::{self, Part};
use flate2::{Compression, GzBuilder};
use indexmap::IndexSet;
use model::Run;
use prost::Message;
use std::io::{self, Write};

/// In the header of the compressed file, so that it differs from others.
const COMMENT: &str = "knee profile";

pub(super) const FORMAT: Format = Format {
    name: "pprof",
    about: "the profile for pprof (`go tool pprof`), with labels for subject, point and metric",
    mark: COMMENT,
    choices: &[],
    check: sampled::has_samples,
    content: Content::Profile,
    write,
};

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// The innermost one first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    text: i64,
    #[prost(int64, tag = "3")]
    number: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<ProtoLine>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ProtoLine {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// The texts of a file, each once, the empty one first.
type Texts = IndexSet<String>;

fn index(texts: &mut Texts, text: &str) -> i64 {
    signed(texts.insert_full(text.to_owned()).0 as u64)
}

/// A count as protobuf has it.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let bytes = profile(material.run).encode_to_vec();
    let builder = GzBuilder::new().comment(COMMENT).operating_system(255);
    let mut compressed = builder.write(out, Compression::default());
    compressed.write_all(&bytes)?;
    compressed.finish().map(drop)
}

fn profile(run: &Run) -> Profile {
    let parts = sampled::parts(run);
    let mut texts = Texts::from([String::new()]);
    let mut value_type =
        |kind, unit| ValueType { kind: index(&mut texts, kind), unit: index(&mut texts, unit) };
    let sample_type = [("samples", "count"), ("cpu", "nanoseconds"), ("wait", "nanoseconds")]
        .map(|(kind, unit)| value_type(kind, unit));
    let cpu = sample_type[1];
    let sample = parts.iter().flat_map(|part| samples(run, part, &mut texts)).collect();
    let mut code = (Vec::new(), Vec::new());
    // The files that code is in; 0 is that of code whose file is not known.
    let mut modules = IndexSet::from([""]);
    for (frame, id) in run.profile.frames.iter().zip(1..) {
        let mapping_id = modules.insert_full(&frame.module).0 as u64;
        let name = index(&mut texts, &sampled::function(frame));
        let filename = index(&mut texts, &frame.module);
        code.0.push(Location { id, mapping_id, line: vec![ProtoLine { function_id: id }] });
        code.1.push(Function { id, name, system_name: name, filename });
    }
    let mapping = (0..).zip(modules).skip(1).map(|(id, module)| Mapping {
        id,
        filename: index(&mut texts, module),
        has_functions: true,
    });
    let mapping = mapping.collect();
    let comment = vec![index(&mut texts, &identity(run))];
    let started =
        run.summary.started.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_nanosecond);
    Profile {
        sample_type: sample_type.into(),
        sample,
        mapping,
        location: code.0,
        function: code.1,
        string_table: texts.into_iter().collect(),
        time_nanos: started.ok().and_then(|ns| i64::try_from(ns).ok()).unwrap_or_default(),
        duration_nanos: signed(
            parts.iter().map(|part| part.region.elapsed_ns).fold(0, u64::saturating_add),
        ),
        period_type: Some(cpu),
        period: parts.first().map_or(0, |part| part.cell.sample_ns as i64),
        comment,
        default_sample_type: cpu.kind,
    }
}

fn samples(run: &Run, part: &Part, texts: &mut Texts) -> Vec<Sample> {
    let key = &part.cell.key;
    let names = ["workload", "subject", "metric"].map(str::to_owned);
    let words = [&key.workload, &key.subject, &part.region.metric].map(String::clone);
    let parameters = key.parameters.iter().map(|(name, value)| (name.clone(), value.to_string()));
    let words = names.into_iter().zip(words).chain(parameters);
    let label = |(name, text): (String, String)| Label {
        key: index(texts, &name),
        text: index(texts, &text),
        number: 0,
    };
    let mut labels: Vec<Label> = words.map(label).collect();
    labels.push(Label {
        key: index(texts, "point"),
        text: 0,
        number: signed(part.region.position),
    });
    let has_waits = part.has_waits(run);
    let sample = |&(stack, count): &(u32, u64)| {
        let frames = sampled::frames(&run.profile, stack);
        let time_ns = (count as f64 * part.cell.sample_ns) as i64;
        let [cpu_ns, wait_ns] = if has_waits { [0, time_ns] } else { [time_ns, 0] };
        Sample {
            location_id: frames.iter().rev().map(|(index, _)| u64::from(*index) + 1).collect(),
            value: vec![signed(count), cpu_ns, wait_ns],
            label: labels.clone(),
        }
    };
    part.region.samples.iter().map(sample).collect()
}
