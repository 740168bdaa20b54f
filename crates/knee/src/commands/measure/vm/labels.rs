//! What each guest is called: what tells it from the others.

use super::turns::GuestSide;
use guest::{Hardware, Kernel};
use std::path::Path;

pub fn labelled(all: Vec<Hardware>) -> Vec<GuestSide> {
    labels(&all)
        .into_iter()
        .zip(all)
        .map(|(label, hardware)| GuestSide::new(label, hardware))
        .collect()
}

/// A name for each, no two alike.
fn labels(all: &[Hardware]) -> Vec<String> {
    let differs = |part: fn(&Hardware) -> &str| all.iter().any(|side| part(side) != part(&all[0]));
    let (cpu, append) = (differs(|side| &side.cpu), differs(|side| &side.append));
    let mut labels: Vec<String> = Vec::new();
    for hardware in all {
        let mut parts = vec![kernel_label(&hardware.kernel, all)];
        if cpu {
            parts.push(format!("cpu {}", hardware.cpu));
        }
        if append {
            let words = if hardware.append.is_empty() { "as it is" } else { &hardware.append };
            parts.push(words.to_owned());
        }
        let label = parts.join(" \u{b7} ");
        // The same twice is a question, too: how far does chance go?
        let again = (2..).map(|time| format!("{label} \u{b7} again {time}"));
        let mut names = std::iter::once(label.clone()).chain(again);
        labels.extend(names.find(|name| !labels.contains(name)));
    }
    labels
}

/// The release of a kernel, and where another image has the same one, what tells their paths apart.
fn kernel_label(kernel: &Kernel, all: &[Hardware]) -> String {
    let path = kernel.path.display().to_string();
    if kernel.release.is_empty() {
        return path;
    }
    let namesakes = all.iter().map(|side| &side.kernel);
    let namesakes = namesakes.filter(|namesake| namesake.release == kernel.release);
    let paths: Vec<&Path> = namesakes.map(|namesake| namesake.path.as_path()).collect();
    if paths.iter().all(|path| *path == kernel.path) {
        return kernel.release.clone();
    }
    format!("{} \u{b7} {}", kernel.release, own_part(&kernel.path, &paths).unwrap_or(path))
}

/// What is left of `path` without the components that all `paths` begin or end with; `None` if nothing is of one.
fn own_part(path: &Path, paths: &[&Path]) -> Option<String> {
    let split = |path: &Path| -> Vec<String> {
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let all: Vec<Vec<String>> = paths.iter().map(|path| split(path)).collect();
    let shortest = all.iter().map(Vec::len).min()?;
    let is_common =
        |at: &dyn Fn(&[String]) -> Option<String>| all.iter().all(|parts| at(parts) == at(&all[0]));
    let begin = (0..shortest).take_while(|&i| is_common(&|parts| parts.get(i).cloned())).count();
    let end = (1..=shortest)
        .take_while(|&i| is_common(&|parts| parts.get(parts.len() - i).cloned()))
        .count();
    if begin + end >= shortest {
        return None;
    }
    let own = split(path);
    Some(own[begin..own.len() - end].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use guest::{Accelerator, Machine};

    fn labels_of(sides: &[(&str, &str, &str)]) -> Vec<String> {
        let hardware = |&(path, cpu, append): &(&str, &str, &str)| Hardware {
            kernel: Kernel { path: path.into(), machine: Machine::X86, release: "6.1".into() },
            cpus: 2,
            memory_mib: 1_024,
            cpu: cpu.into(),
            append: append.into(),
            accelerator: Accelerator::Tcg,
            xen: None,
        };
        labels(&sides.iter().map(hardware).collect::<Vec<_>>())
    }

    #[test]
    fn two_images_of_one_release_have_two_names() {
        let paths = |first, second| labels_of(&[(first, "max", ""), (second, "max", "")]);
        let trees = paths("/src/a/arch/x86/boot/bzImage", "/src/b/arch/x86/boot/bzImage");
        assert_eq!(trees, ["6.1 \u{b7} a", "6.1 \u{b7} b"]);
        assert_eq!(paths("/k/old", "/k/new"), ["6.1 \u{b7} old", "6.1 \u{b7} new"]);
        assert_eq!(paths("/k/z", "/k/k/z"), ["6.1 \u{b7} /k/z", "6.1 \u{b7} /k/k/z"]);
        assert_eq!(paths("/k/z", "/k/z"), ["6.1", "6.1 \u{b7} again 2"]);
    }

    #[test]
    fn a_name_says_what_differs_only() {
        let sides = [("/k", "max", ""), ("/k", "max", "pti=off")];
        assert_eq!(labels_of(&sides), ["6.1 \u{b7} as it is", "6.1 \u{b7} pti=off"]);
        let sides = [("/k", "max", ""), ("/k", "max,-smap", "")];
        assert_eq!(labels_of(&sides), ["6.1 \u{b7} cpu max", "6.1 \u{b7} cpu max,-smap"]);
    }
}
