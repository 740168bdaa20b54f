//! Samples in the record's shape: the sampler does not know the record.

use model::{CodeFault, Frame, FrameKind, MachineCode, ProfileLimit, SampledEvent};

/// What was sampled by.
pub(super) fn event(event: stacks::SampledEvent) -> SampledEvent {
    match event {
        stacks::SampledEvent::CpuClock => SampledEvent::CpuClock,
        stacks::SampledEvent::Cycles => SampledEvent::Cycles,
    }
}

/// A frame.
pub(super) fn frame(frame: &stacks::Frame) -> Frame {
    let stacks::Frame { function, module, .. } = frame.clone();
    Frame { function, module, kind: kind(frame.kind) }
}

fn kind(kind: stacks::FrameKind) -> FrameKind {
    match kind {
        stacks::FrameKind::Process => FrameKind::Process,
        stacks::FrameKind::Kernel => FrameKind::Kernel,
        stacks::FrameKind::KernelModule => FrameKind::KernelModule,
        stacks::FrameKind::User => FrameKind::User,
        stacks::FrameKind::Vdso => FrameKind::Vdso,
        stacks::FrameKind::Bpf => FrameKind::Bpf,
        stacks::FrameKind::Jit => FrameKind::Jit,
        stacks::FrameKind::Unknown => FrameKind::Unknown,
    }
}

/// What could not be seen.
pub(super) fn limit(limit: &stacks::ProfileLimit) -> ProfileLimit {
    match limit {
        stacks::ProfileLimit::KernelHidden { perf_level } => {
            ProfileLimit::KernelHidden { perf_level: *perf_level }
        }
        stacks::ProfileLimit::KernelSymbolsHidden => ProfileLimit::KernelSymbolsHidden,
        stacks::ProfileLimit::SamplesLost { lost } => ProfileLimit::SamplesLost { lost: *lost },
        stacks::ProfileLimit::ProcessHidden { program, error } => {
            ProfileLimit::ProcessHidden { program: program.clone(), error: error.clone() }
        }
    }
}

/// The code of a function, or why there is none.
pub(super) fn code(
    outcome: &Result<stacks::MachineCode, stacks::CodeFault>,
) -> Result<MachineCode, CodeFault> {
    match outcome {
        Ok(code) => Ok(MachineCode {
            architecture: code.architecture.clone(),
            address: code.address,
            bytes: hexadecimal(&code.bytes),
            lines: code.lines.clone(),
        }),
        Err(stacks::CodeFault::KernelMemoryUnreadable { error }) => {
            Err(CodeFault::KernelMemoryUnreadable { error: error.clone() })
        }
        Err(stacks::CodeFault::FileUnreadable { path, error }) => {
            Err(CodeFault::FileUnreadable { path: path.clone(), error: error.clone() })
        }
        Err(stacks::CodeFault::NoSuchFile) => Err(CodeFault::NoSuchFile),
        Err(stacks::CodeFault::TimedOut) => Err(CodeFault::TimedOut),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(hexadecimal(&[0, 0x0f, 0xf3, 0x90]), "000ff390");
    }
}
