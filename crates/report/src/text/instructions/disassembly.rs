//! Machine code as instructions: for each its offset, its bytes and its text, in the syntax of objdump.

use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter, Instruction as Decoded};

/// One instruction of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Bytes from the function's beginning.
    pub offset: u64,
    /// The instruction itself.
    pub bytes: Vec<u8>,
    /// What it does: `mov 0x18(%rdi),%rax`. A branch within the function has its target as an offset, `jne +0x1a`;
    /// `(bad)` where the bytes are no instruction.
    pub text: String,
}

/// The instructions of a function whose first byte is at `address`; none where the architecture, as
/// `std::env::consts::ARCH` names it, is another than x86.
pub(super) fn disassemble(
    architecture: &str,
    address: u64,
    code: &[u8],
) -> Option<Vec<Instruction>> {
    let bits = match architecture {
        "x86_64" => 64,
        "x86" => 32,
        _ => return None,
    };
    let mut decoder = Decoder::with_ip(bits, code, address, DecoderOptions::NONE);
    let mut formatter = GasFormatter::new();
    let options = formatter.options_mut();
    options.set_uppercase_hex(false);
    options.set_small_hex_numbers_in_decimal(false);
    options.set_space_after_operand_separator(false);
    options.set_branch_leading_zeros(false);
    let (mut decoded, mut text) = (Decoded::default(), String::new());
    let mut instructions = Vec::new();
    while decoder.can_decode() {
        let start = decoder.position();
        decoder.decode_out(&mut decoded);
        text.clear();
        formatter.format(&decoded, &mut text);
        let target = decoded.near_branch_target();
        let offset = target.wrapping_sub(address);
        if target != 0 && offset < code.len() as u64 {
            text = text.replace(&format!("{target:#x}"), &format!("+{offset:#x}"));
        }
        instructions.push(Instruction {
            offset: start as u64,
            bytes: code[start..decoder.position()].to_vec(),
            text: if decoded.is_invalid() { "(bad)".to_owned() } else { text.clone() },
        });
    }
    Some(instructions)
}

/// The instruction that the byte at `offset` is in.
pub(super) fn at(instructions: &[Instruction], offset: u64) -> Option<&Instruction> {
    let behind = instructions.partition_point(|instruction| instruction.offset <= offset);
    let instruction = &instructions[behind.checked_sub(1)?];
    let end = instruction.offset.saturating_add(instruction.bytes.len() as u64);
    (offset < end).then_some(instruction)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the kernel's `sock_poll`, with the text of objdump.
    #[test]
    fn instructions_are_written_as_objdump_does() {
        let code = [
            0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x47, 0x20, 0x85, 0xc0,
            0x74, 0x05, 0xe8, 0xf3, 0xff, 0xff, 0xff, 0xf0, 0x0f, 0xb1, 0x17, 0xc3,
        ];
        let instructions = disassemble("x86_64", 0xffff_ffff_8120_0000, &code).unwrap();
        let texts: Vec<&str> = instructions.iter().map(|each| each.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "endbr64",
                "push %rbp",
                "mov %rsp,%rbp",
                "mov 0x20(%rdi),%rax",
                "test %eax,%eax",
                "je +0x15",
                "call +0x8",
                "lock cmpxchg %edx,(%rdi)",
                "ret",
            ]
        );
        let bytes: Vec<u8> = instructions.iter().flat_map(|each| each.bytes.clone()).collect();
        assert_eq!(bytes, code, "nothing is left out");
        assert_eq!(disassemble("aarch64", 0x1000, &code), None, "only x86 so far");
    }

    #[test]
    fn an_offset_is_in_one_instruction_or_in_none() {
        let instructions = disassemble("x86_64", 0, &[0x48, 0x89, 0xe5, 0xc3]).unwrap();
        let offset_at = |offset| at(&instructions, offset).map(|each| each.offset);
        assert_eq!([0, 2, 3, 4].map(offset_at), [Some(0), Some(0), Some(3), None]);
        assert_eq!(at(&[], 0), None);
        assert_eq!(at(&instructions, u64::MAX), None);
    }

    #[test]
    fn bytes_that_are_no_instructions_end() {
        for code in [vec![], vec![0x06], vec![0x0f], vec![0xff; 100], vec![0x48, 0x8b]] {
            for address in [0, u64::MAX] {
                let instructions = disassemble("x86_64", address, &code).unwrap();
                let bytes: usize = instructions.iter().map(|each| each.bytes.len()).sum();
                assert_eq!(bytes, code.len(), "{code:?}");
            }
        }
        assert_eq!(disassemble("x86_64", 0, &[0x06]).unwrap()[0].text, "(bad)");
        assert_eq!(disassemble("x86", 0, &[0x06]).unwrap()[0].text, "push %es");
    }
}
