//! Samples in the record's shape: the sampler does not know the record.

use record::{CodeFault, Frame, FrameKind, MachineCode, ProfileLimit, SampledEvent};

/// What was sampled by.
pub(super) fn event(event: stacks::SampledEvent) -> SampledEvent {
    match event {
        stacks::SampledEvent::CpuClock => SampledEvent::CpuClock,
        stacks::SampledEvent::Cycles => SampledEvent::Cycles,
    }
}

/// A frame. This program starts itself by a name of the kernel's, which says nothing.
pub(super) fn frame(frame: &stacks::Frame) -> Frame {
    let kind = kind(frame.kind);
    let is_own = kind == FrameKind::Process && frame.function == "exe";
    let function = if is_own { "knee".to_owned() } else { frame.function.clone() };
    Frame { function, module: frame.module.clone(), kind }
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
    found: &Result<stacks::MachineCode, stacks::CodeFault>,
) -> Result<MachineCode, CodeFault> {
    match found {
        Ok(code) => Ok(MachineCode {
            architecture: code.architecture.clone(),
            address: code.address,
            bytes: code.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            lines: code.lines.clone(),
        }),
        Err(stacks::CodeFault::KernelMemoryUnreadable { error }) => {
            Err(CodeFault::KernelMemoryUnreadable { error: error.clone() })
        }
        Err(stacks::CodeFault::FileUnreadable { path, error }) => {
            Err(CodeFault::FileUnreadable { path: path.clone(), error: error.clone() })
        }
        Err(stacks::CodeFault::NoSuchFile) => Err(CodeFault::NoSuchFile),
    }
}
