//! A guest that is a shell on its serial port, with knee, and a disk whose plug can be pulled.

use crate::common::PATIENCE;
use crate::common::guests::{KERNEL, cache};
use crate::disk::Disk;
use guest::{Carried, write_initramfs};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The first program: executes each line that comes, and says with which code it ended. On the terminal knee shows how many
/// cells are in the record.
const START: &str = r#"#!/bin/busybox sh
/bin/busybox mkdir -p /disk
/bin/busybox --install -s /bin
export PATH=/bin LD_LIBRARY_PATH=/lib HOME=/tmp TMPDIR=/tmp TERM=linux NO_COLOR=1
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs devtmpfs /dev; mount -t tmpfs tmpfs /tmp
ln -s /init /bin/knee
stty -echo -onlcr
echo " ended:0"
while read -r line; do eval "{ $line; } </dev/null"; echo " ended:$?"; done
"#;

/// What any guest needs for a disk, before the module of its file system.
const MODULES: [&str; 2] = ["virtio_pci", "virtio_blk"];

/// Names the loader of what is linked dynamically.
const LOADER: &[u8] = b"/lib64/ld-linux";

/// A kernel with its modules, and busybox.
pub struct Parts {
    image: PathBuf,
    modules: PathBuf,
    busybox: PathBuf,
}

impl Parts {
    /// Fetched by apt once, into the directory for what tests keep; or what is missing.
    pub fn new() -> Result<Parts, String> {
        let busybox = fixtures::program("busybox").ok_or("busybox is missing")?;
        let bytes = fs::read(&busybox).map_err(|error| error.to_string())?;
        if bytes.windows(LOADER.len()).any(|part| part == LOADER) {
            return Err("busybox is not linked statically".into());
        }
        let version = KERNEL.strip_prefix("debian:").unwrap();
        let prefix = format!("linux-image-{version}.");
        let names = output(Command::new("apt-cache").args(["pkgnames", &prefix]))?;
        let is_meant = |name: &&str| name.ends_with("-cloud-amd64-unsigned");
        // The newest of them has the longest name, or else the greatest.
        let package = names.lines().filter(is_meant).max_by_key(|name| (name.len(), *name));
        let package = package.ok_or_else(|| format!("apt knows no package {prefix}"))?;
        let kept = cache().join("modules").join(package);
        if !kept.exists() {
            fs::create_dir_all(kept.parent().unwrap()).unwrap();
            let work = tempfile::tempdir_in(kept.parent().unwrap()).unwrap();
            output(Command::new("apt-get").args(["download", package]).current_dir(&work))?;
            let file = fs::read_dir(&work).unwrap().next().unwrap().unwrap().path();
            let root = work.path().join("root");
            output(Command::new("dpkg-deb").arg("-x").arg(file).arg(&root))?;
            let release = only_file(&root.join("lib/modules"));
            let release = release.file_name().unwrap();
            output(Command::new(&busybox).arg("depmod").arg("-b").arg(&root).arg(release))?;
            // Another test program may have been as quick.
            let _ = fs::rename(root, &kept);
        }
        let images = fs::read_dir(kept.join("boot")).unwrap().map(|entry| entry.unwrap().path());
        let image = { images }.find(|path| path.to_string_lossy().contains("vmlinuz-")).unwrap();
        Ok(Parts { image, modules: only_file(&kept.join("lib/modules")), busybox })
    }

    /// Whether the kernel has this file system.
    pub fn has(&self, file_system: &str) -> bool {
        let built_in = fs::read_to_string(self.modules.join("modules.builtin")).unwrap();
        built_in.contains(&format!("/{file_system}.ko")) || self.modules_of(file_system).is_some()
    }

    /// The files of a module and of those that it needs, in the order in which they are loaded.
    fn modules_of(&self, name: &str) -> Option<Vec<PathBuf>> {
        let lists = fs::read_to_string(self.modules.join("modules.dep")).unwrap();
        let is_its = |line: &&str| {
            let file = Path::new(line.split(':').next().unwrap());
            file.file_stem() == Some(OsStr::new(name))
        };
        let line = lists.lines().find(is_its)?.replacen(':', "", 1);
        Some(line.split_whitespace().rev().map(|file| self.modules.join(file)).collect())
    }

    /// Writes the root of a guest, and returns the commands that load the modules.
    fn write_root(&self, file_system: &str, path: &Path) -> Vec<String> {
        let mut carried = vec![
            Carried { path: "start".into(), content: START.into() },
            Carried { path: "bin/busybox".into(), content: fs::read(&self.busybox).unwrap() },
        ];
        let (mut commands, mut loaded) = (Vec::new(), BTreeSet::new());
        let names = MODULES.into_iter().chain([file_system]);
        for module in names.filter_map(|name| self.modules_of(name)).flatten() {
            let name = module.file_name().unwrap().to_string_lossy().into_owned();
            if loaded.insert(name.clone()) {
                let path = Path::new("modules").join(&name);
                carried.push(Carried { path, content: fs::read(&module).unwrap() });
                commands.push(format!("insmod /modules/{name}"));
            }
        }
        let knee = Path::new(env!("CARGO_BIN_EXE_knee"));
        write_initramfs(knee, &carried, &mut File::create(path).unwrap()).unwrap();
        commands
    }
}

/// The one file of a directory.
fn only_file(directory: &Path) -> PathBuf {
    fs::read_dir(directory).unwrap().next().unwrap().unwrap().path()
}

/// What a program prints, or the last line of why it failed.
pub fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{name}: {}", errors.lines().last().unwrap_or("it failed")))
}

/// A guest that runs. It is killed with this value.
pub struct Machine {
    qemu: Child,
    to: ChildStdin,
    words: Receiver<(Instant, String)>,
    /// One that came too late for [`Machine::hear_before`].
    next: Option<(Instant, String)>,
    /// The file that is its second disk.
    copy: PathBuf,
}

impl Machine {
    /// Boots, and loads what the file system needs.
    pub fn boot(parts: &Parts, file_system: &str, disk: &Disk, directory: &Path) -> Machine {
        let root = directory.join("root");
        let load = parts.write_root(file_system, &root);
        let copy = directory.join("copy");
        File::create(&copy).unwrap().set_len(COPY_BYTES).unwrap();
        let drive = |file: &str| format!("format=raw,if=none,{file}");
        // A kernel on a busy machine would hold its timer for broken.
        let words = "console=ttyS0 rdinit=/start loglevel=1 quiet panic=-1 no_timer_check";
        let mut qemu = Command::new("setpriv");
        qemu.args(["--pdeathsig", "KILL", "qemu-system-x86_64"])
            .args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"])
            .args(["-accel", "tcg", "-cpu", "max", "-m", "512", "-serial", "chardev:console"])
            .args(["-chardev", "stdio,id=console,signal=off"])
            .args(["-append", words])
            .arg("-drive")
            .arg(drive(&format!("id=disk,file=nbd:unix:{}", disk.socket.display())))
            .args([
                "-device",
                "virtio-blk-pci,drive=disk,logical_block_size=4096,physical_block_size=4096",
            ])
            .arg("-drive")
            .arg(drive(&format!("id=copy,file={}", copy.display())))
            .args(["-device", "virtio-blk-pci,drive=copy", "-kernel"])
            .arg(&parts.image)
            .arg("-initrd")
            .arg(root);
        let mut qemu = qemu.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = qemu.stdin.take().unwrap();
        let from = BufReader::new(qemu.stdout.take().unwrap());
        let (sender, words) = channel();
        std::thread::spawn(move || {
            // What knee draws ends with no line.
            let mut word = Vec::new();
            for byte in from.bytes().map_while(Result::ok) {
                if byte > b' ' {
                    word.push(byte);
                } else if !word.is_empty() {
                    let text = String::from_utf8_lossy(&word).into_owned();
                    word.clear();
                    if sender.send((Instant::now(), text)).is_err() {
                        break;
                    }
                }
            }
        });
        let mut machine = Machine { qemu, to, words, next: None, copy };
        machine.end();
        for command in load {
            machine.execute(&command);
        }
        machine
    }

    /// Starts a command.
    pub fn start(&mut self, command: &str) {
        self.to.write_all(format!("{command}\n").as_bytes()).unwrap();
    }

    /// The next word, if one comes within the time or is there already.
    pub fn hear(&mut self, within: Duration) -> Option<Word> {
        let next = self.next.take().or_else(|| self.words.recv_timeout(within).ok());
        next.map(|(_, text)| Word::from_text(text))
    }

    /// The next word, if it came before that moment.
    pub fn hear_before(&mut self, moment: Instant) -> Option<Word> {
        self.next = self.next.take().or_else(|| self.words.try_recv().ok());
        let (_, text) = self.next.take_if(|(came, _)| *came < moment)?;
        Some(Word::from_text(text))
    }

    /// Waits for the end of the command that runs, which has to be well.
    pub fn end(&mut self) {
        let mut text = String::new();
        loop {
            match self.hear(PATIENCE) {
                Some(Word::Ended(0)) => return,
                Some(Word::Other(word)) => text += &(word + " "),
                Some(Word::Cells(_)) => {}
                word => panic!("it ended with {word:?}: {text}"),
            }
        }
    }

    pub fn execute(&mut self, command: &str) {
        self.start(command);
        self.end();
    }

    /// Copies the files of the guest's directory to one here.
    pub fn copy_out(&mut self, from: &str, to: &Path) {
        self.execute(&format!("tar -cf /dev/vdb -C {from} . && sync"));
        output(Command::new("tar").arg("-xf").arg(&self.copy).arg("-C").arg(to)).unwrap();
    }
}

/// What a guest's record has room for.
const COPY_BYTES: u64 = 256 << 20;

/// What a guest says.
#[derive(Debug)]
pub enum Word {
    /// So many cells of the run are in the record.
    Cells(usize),
    /// The code with which the command ended.
    Ended(i32),
    Other(String),
}

impl Word {
    fn from_text(text: String) -> Word {
        if let Some(code) = text.strip_prefix("ended:") {
            return Word::Ended(code.parse().unwrap());
        }
        let cells =
            text.split_once('/').map(|(cells, planned)| (cells.parse(), planned.parse::<usize>()));
        match cells {
            Some((Ok(cells), Ok(_))) => Word::Cells(cells),
            _ => Word::Other(text),
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}
