//! Which instructions of a function were sampled, with their text where the function's code was read.

mod disassembly;

use analysis::{ProfileRow, ProfileTable};
use disassembly::{Instruction, at, disassemble};
use findings::format::short_function;
use findings::reasons;
use model::{CodeFault, Frame, InstructionSamples, MachineCode, ProfiledRegion, Run};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A function of one subject at one point, with the instructions that were sampled.
pub(crate) struct SampledFunction<'a> {
    /// The function.
    pub frame: &'a Frame,
    /// The point on the axis.
    pub point: u64,
    /// Samples in the function itself.
    pub samples: u64,
    /// Its instructions in order of address.
    pub instructions: Vec<SampledInstruction<'a>>,
    /// Why they have no text; empty where they do.
    pub missing: String,
}

/// An instruction that was sampled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SampledInstruction<'a> {
    /// Bytes from the function's beginning.
    pub offset: u64,
    /// Samples at it.
    pub samples: u64,
    /// Its bytes in hexadecimal digits; empty where they are not known.
    pub bytes: String,
    /// What it does; empty where that is not known.
    pub text: String,
    /// Its source line; empty where that is not known.
    pub source: &'a str,
}

/// What stands below a list of instructions.
pub(crate) const SKID: &str = "A sample stands at the instruction that would have run next, or where the kernel next accepts \
                               interrupts: look at those before it too.";

impl SampledFunction<'_> {
    /// The `max` instructions with most samples, and how many others there are.
    pub(crate) fn hottest(&self, max: usize) -> (Vec<&SampledInstruction<'_>>, usize) {
        let mut hottest: Vec<&SampledInstruction> = self.instructions.iter().collect();
        hottest.sort_by_key(|instruction| Reverse(instruction.samples));
        let hidden = hottest.len().saturating_sub(max);
        hottest.truncate(max);
        (hottest, hidden)
    }
}

/// With fewer samples the instructions of a function say nothing.
const SAMPLES_MIN: u64 = 20;

/// Which functions to look into.
#[derive(Clone, Copy, Debug)]
pub enum Chosen<'a> {
    /// So many of those that grew most; where none did, the one with most samples. Those with few samples are left
    /// out.
    Grown(usize),
    /// The functions of this name, in full or as reports shorten it.
    Named(&'a str),
}

/// The chosen functions of a row, at the last point that has a profile.
pub(crate) fn functions<'a>(
    run: &'a Run,
    table: &'a ProfileTable,
    row: &'a ProfileRow,
    chosen: Chosen,
) -> Vec<SampledFunction<'a>> {
    let last = row.cells.iter().flatten().next_back().map(|cell| cell.point);
    let Some(point) = row.change.as_ref().map(|change| change.to).or(last) else {
        return Vec::new();
    };
    let regions = regions(run, table, row, point);
    let function = |frame: &'a Frame| sampled(run, &regions, frame, point);
    match chosen {
        Chosen::Named(name) => {
            let frames = run.profile.frames.iter();
            let named = frames.filter(|frame| is_named(frame, name));
            named.map(function).filter(|function| function.samples > 0).collect()
        }
        Chosen::Grown(max) => {
            let grew = row
                .functions
                .iter()
                .filter(|function| function.added.is_some_and(|added| added.ns.low > 0.0));
            let sampled = grew.map(|grown| function(&grown.frame));
            let has_enough = |function: &SampledFunction| function.samples >= SAMPLES_MIN;
            let mut grew: Vec<SampledFunction> = sampled.filter(has_enough).take(max).collect();
            if grew.is_empty() {
                let all = row.functions.iter().map(|listed| function(&listed.frame));
                grew.extend(all.filter(has_enough).max_by_key(|function| function.samples));
            }
            grew
        }
    }
}

/// The names of all functions with samples at instructions, as reports shorten them.
pub(crate) fn names(run: &Run) -> BTreeSet<String> {
    let regions = run.profile.cells.iter().flat_map(|cell| &cell.regions);
    let samples = regions.flat_map(|region| &region.instructions);
    let frames = samples.filter_map(|sample| run.profile.frames.get(sample.frame as usize));
    let named = frames.filter(|frame| !frame.function.is_empty());
    named.map(|frame| short_function(&frame.function)).collect()
}

fn is_named(frame: &Frame, name: &str) -> bool {
    !name.is_empty() && (frame.function == name || short_function(&frame.function) == name)
}

/// The timed regions of a row at one point.
fn regions<'a>(
    run: &'a Run,
    table: &ProfileTable,
    row: &ProfileRow,
    point: u64,
) -> Vec<&'a ProfiledRegion> {
    let cells = run.profile.cells.iter().filter(|cell| {
        (&cell.key.workload, &cell.key.parameters, &cell.key.subject)
            == (&table.workload, &table.parameters, &row.subject)
    });
    let regions = cells.flat_map(|cell| &cell.regions);
    regions
        .filter(|region| region.metric == table.metric.name && region.position == point)
        .collect()
}

fn sampled<'a>(
    run: &'a Run,
    regions: &[&'a ProfiledRegion],
    frame: &'a Frame,
    point: u64,
) -> SampledFunction<'a> {
    let index = run.profile.frames.iter().position(|entry| entry == frame);
    let is_own = |sample: &&InstructionSamples| Some(sample.frame as usize) == index;
    let mut offsets: BTreeMap<u64, u64> = BTreeMap::new();
    for sample in regions.iter().flat_map(|region| &region.instructions).filter(is_own) {
        *offsets.entry(sample.offset).or_default() += sample.count;
    }
    let code = index.and_then(|index| run.profile.code(index as u32));
    let (instructions, missing) = with_text(&offsets, code);
    let samples = offsets.values().sum();
    SampledFunction { frame, point, samples, instructions, missing }
}

/// The instructions at these offsets, and why they have no text.
fn with_text<'a>(
    offsets: &BTreeMap<u64, u64>,
    code: Option<&'a Result<MachineCode, CodeFault>>,
) -> (Vec<SampledInstruction<'a>>, String) {
    let listing = match code {
        Some(Ok(MachineCode { architecture, address, bytes, .. })) => {
            disassemble(architecture, *address, &unhexed(bytes).unwrap_or_default())
                .ok_or_else(|| reasons::no_disassembler(architecture))
        }
        Some(Err(fault)) => Err(reasons::missing_code(fault)),
        None => Err(reasons::CODE_NOT_KEPT.to_owned()),
    };
    let missing = listing.as_ref().err().cloned().unwrap_or_default();
    let listing = listing.unwrap_or_default();
    let lines = code.and_then(|code| code.as_ref().ok()).map_or(&[][..], |code| &code.lines);
    let mut instructions: Vec<SampledInstruction> = Vec::new();
    for (&offset, &samples) in offsets {
        let instruction = at(&listing, offset);
        let offset = instruction.map_or(offset, |instruction| instruction.offset);
        match instructions.last_mut().filter(|last| last.offset == offset) {
            Some(last) => last.samples += samples,
            None => instructions.push(decoded(lines, offset, samples, instruction)),
        }
    }
    (instructions, missing)
}

/// An instruction with its text and its source line, by the offset of the first instruction of each of these `lines`.
fn decoded<'a>(
    lines: &'a [(u64, String)],
    offset: u64,
    samples: u64,
    instruction: Option<&Instruction>,
) -> SampledInstruction<'a> {
    let behind = lines.partition_point(|(start, _)| *start <= offset);
    // Behind the code that is known, nothing says which line it is.
    let line = instruction.and(behind.checked_sub(1)).map(|index| lines[index].1.as_str());
    let bytes = instruction.map_or(&[][..], |instruction| &instruction.bytes);
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    SampledInstruction {
        offset,
        samples,
        bytes: digits.join(" "),
        text: instruction.map(|instruction| instruction.text.clone()).unwrap_or_default(),
        source: line.unwrap_or_default(),
    }
}

/// Bytes from hexadecimal digits, two a byte.
fn unhexed(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CodeFault;

    fn machine(bytes: &str, architecture: &str) -> MachineCode {
        let lines = vec![(0, "net/socket.c:1380".to_owned()), (4, "net/socket.c:1382".to_owned())];
        let architecture = architecture.to_owned();
        MachineCode { architecture, address: 0x1000, bytes: bytes.into(), lines }
    }

    #[test]
    fn samples_within_an_instruction_are_samples_of_it() {
        let offsets = BTreeMap::from([(0, 1), (1, 2), (4, 5), (9, 7)]);
        let code = Ok(machine("488b4718c3", "x86_64"));
        let (instructions, missing) = with_text(&offsets, Some(&code));
        let rows: Vec<_> = instructions
            .iter()
            .map(|each| (each.offset, each.samples, &*each.bytes, &*each.text, each.source))
            .collect();
        assert_eq!(
            rows,
            [
                (0, 3, "48 8b 47 18", "mov 0x18(%rdi),%rax", "net/socket.c:1380"),
                (4, 5, "c3", "ret", "net/socket.c:1382"),
                (9, 7, "", "", ""),
            ],
            "behind the code that is known there is no instruction"
        );
        assert_eq!(missing, "");
    }

    #[test]
    fn without_code_there_are_offsets_and_a_reason() {
        let offsets = BTreeMap::from([(0x1a3, 31)]);
        let fault = Err(CodeFault::NoSuchFile);
        let foreign = Ok(machine("00", "riscv64"));
        for (code, reason) in [
            (None, "only that of the functions with most samples"),
            (Some(&fault), "made at run time"),
            (Some(&foreign), "riscv64"),
        ] {
            let (instructions, missing) = with_text(&offsets, code);
            assert_eq!((instructions[0].offset, instructions[0].samples), (0x1a3, 31));
            assert!(missing.contains(reason) && instructions[0].text.is_empty(), "{missing}");
        }
        let odd = Ok(machine("4", "x86_64"));
        assert!(with_text(&offsets, Some(&odd)).0[0].text.is_empty(), "damaged digits");
        let foreign = Ok(machine("é", "x86_64"));
        assert_eq!(with_text(&offsets, Some(&foreign)).0.len(), 1);
    }
}
