//! A tree of C files to build: as many as one likes, each of some hundred lines, the same ones wherever
//! they are made, and a program that shows that it was built right.
//!
//! Every function of the tree has its twin here, so the program's answer is known.

use super::step::Step;
use fastrand::Rng;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

/// The program that is built.
pub(super) const PROGRAM: &str = "program";
/// Files in a directory of the tree.
const FILES_PER_DIRECTORY: u64 = 16;
/// Functions in a file.
const STEPS: usize = 24;
/// What the program begins to reckon with.
const START: u32 = 2_463_534_242;

/// A tree that was made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// What its program prints.
    pub answer: String,
    /// Lines of C.
    pub lines: usize,
}

/// Makes the tree in `directory`, which is there and empty.
pub(super) fn make(directory: &Path, files: u64) -> io::Result<Tree> {
    fs::create_dir(directory.join("include"))?;
    fs::write(directory.join("include/entry.h"), ENTRY)?;
    fs::write(directory.join("include/units.h"), units(files))?;
    fs::write(directory.join("Makefile"), MAKEFILE)?;
    let main = main(files);
    fs::write(directory.join("main.c"), &main)?;
    let (mut answer, mut lines) = (START, main.lines().count());
    for number in 0..files {
        let part = directory.join(format!("part{:02}", number / FILES_PER_DIRECTORY));
        if number % FILES_PER_DIRECTORY == 0 {
            fs::create_dir(&part)?;
        }
        let steps = steps(number);
        let unit = unit(number, &steps);
        lines += unit.lines().count();
        fs::write(part.join(format!("unit{number:03}.c")), unit)?;
        answer = steps.iter().fold(answer, |value, step| step.apply(value));
    }
    Ok(Tree { answer: format!("{answer:08x}\n"), lines })
}

/// The functions of one file: drawn, but the same for its number, however many files there are.
fn steps(number: u64) -> Vec<Step> {
    let mut random = Rng::with_seed(number);
    (0..STEPS).map(|_| Step::drawn(&mut random)).collect()
}

fn unit(number: u64, steps: &[Step]) -> String {
    let mut text = format!("/* Unit {number} of a tree that is there to be built. */\n");
    text.push_str("#include \"entry.h\"\n#include \"units.h\"\n\n");
    for (index, step) in steps.iter().enumerate() {
        // Writing to a String can't fail.
        let _ = write!(text, "static uint32_t step{index:02}(uint32_t s)\n{{\n{step}}}\n\n");
    }
    let _ = write!(text, "uint32_t unit{number:03}(uint32_t s)\n{{\n");
    for index in 0..steps.len() {
        let _ = writeln!(text, "    s = step{index:02}(s);");
    }
    text.push_str("    return s;\n}\n");
    text
}

/// The header that all files include.
fn units(files: u64) -> String {
    let mut text = String::from("#ifndef UNITS_H\n#define UNITS_H\n\n#include <stdint.h>\n\n");
    for number in 0..files {
        let _ = writeln!(text, "uint32_t unit{number:03}(uint32_t s);");
    }
    text.push_str("\n#endif\n");
    text
}

fn main(files: u64) -> String {
    let mut text = String::from("/* Asks every unit in turn, and prints what comes of it. */\n");
    text.push_str("#include \"entry.h\"\n#include \"units.h\"\n\nint main(void)\n{\n");
    let _ = writeln!(text, "    uint32_t s = {START}u;");
    for number in 0..files {
        let _ = writeln!(text, "    s = unit{number:03}(s);");
    }
    text.push_str("    return printf(\"%08lx\\n\", (unsigned long)s) < 0;\n}\n");
    text
}

const ENTRY: &str = r"#ifndef ENTRY_H
#define ENTRY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct entry {
    uint32_t key;
    uint32_t weight;
};

static inline uint32_t rotated(uint32_t s, unsigned by)
{
    return s << by | s >> (32 - by);
}

#endif
";

const MAKEFILE: &str = "# Made by knee, to be built: make -jN, make clean.
CC = cc
CFLAGS = -O2
SOURCES := main.c $(sort $(wildcard part*/*.c))
OBJECTS := $(SOURCES:.c=.o)

.PHONY: all clean
all: program

program: $(OBJECTS)
\t$(CC) $(CFLAGS) -o $@ $(OBJECTS)

%.o: %.c include/entry.h include/units.h
\t$(CC) $(CFLAGS) -Iinclude -c -o $@ $<

clean:
\trm -f program $(OBJECTS)
";

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The files of a version of the workload are the same ones wherever they are made: where these
    /// differ, so does what is measured, and the version has to be raised.
    #[test]
    fn the_files_are_the_same_ones_everywhere() {
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let text =
            unit(0, &steps(0)) + &unit(7, &steps(7)) + ENTRY + MAKEFILE + &main(3) + &units(3);
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
        assert_eq!((super::super::ABOUT.info.version, hash), (1, FINGERPRINT), "{hash:#018x}");
    }

    const FINGERPRINT: u64 = 0xfe19_5e31_1353_3854;

    #[test]
    fn the_program_gives_the_answer_that_its_twin_gives() {
        let directory = crate::builds::build::tests::directory("tree");
        let made = make(&directory, 18).unwrap();
        let built = Command::new("make").arg("-j2").current_dir(&directory).output();
        match built {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                eprintln!("SKIPPED: make is not installed");
            }
            built => {
                let built = built.unwrap();
                assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
                assert!(built.stderr.is_empty(), "{}", String::from_utf8_lossy(&built.stderr));
                let output = Command::new(directory.join(PROGRAM)).output().unwrap();
                assert_eq!(String::from_utf8_lossy(&output.stdout), made.answer);
                assert!(directory.join("part01/unit017.o").exists());
                let clean = Command::new("make").arg("clean").current_dir(&directory).output();
                assert!(clean.unwrap().status.success() && !directory.join(PROGRAM).exists());
            }
        }
        fs::remove_dir_all(directory).unwrap();
    }
}
