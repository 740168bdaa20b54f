//! PMI-1, which a rank speaks with what started it, over the inherited descriptor `PMI_FD`. The ranks of a start have a common
//! space of keys, and a barrier.

use signal_hook::consts::SIGUSR1;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The process that answers is on this machine, and does so at once.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(5);
const LINE_BYTES_MAX: usize = 1 << 16;
/// What a value may have, with room for the rest of its line in the smallest buffer that is known, of 1 KiB.
const VALUE_BYTES_MAX: usize = 800;

/// The name of this start's space of keys. Only one program of a rank is answered, and only once.
static NAME: OnceLock<Option<String>> = OnceLock::new();

pub fn space_name(fd: i32) -> Option<String> {
    NAME.get_or_init(|| Space::open(fd).ok().map(|space| space.job().to_owned())).clone()
}

pub struct Space {
    manager: UnixStream,
    unread: Vec<u8>,
    name: String,
    value_bytes_max: usize,
    /// Whether this rank has entered the barrier, and others have not.
    pub is_in_barrier: bool,
}

impl Space {
    /// Joins the space of this start, before its name is asked for.
    ///
    /// # Errors
    /// Why nothing answers.
    pub fn join(fd: i32) -> io::Result<Space> {
        // A rank of another machine may end early. hydra tells the others by this signal, which would end them.
        signal_hook::flag::register(SIGUSR1, Arc::default())?;
        let space = Space::open(fd)?;
        let _ = NAME.set(Some(space.job().to_owned()));
        Ok(space)
    }

    fn open(fd: i32) -> io::Result<Space> {
        Space::on(UnixStream::from(sys::plain::inherited(fd)?))
    }

    pub fn on(manager: UnixStream) -> io::Result<Space> {
        let mut space = Space {
            manager,
            unread: Vec::new(),
            name: String::new(),
            value_bytes_max: VALUE_BYTES_MAX,
            is_in_barrier: false,
        };
        let hello = space.asked("cmd=init pmi_version=1 pmi_subversion=1")?;
        if value(&hello, b"rc") != Some(b"0") {
            return Err(unexpected(&hello));
        }
        let answer = space.asked("cmd=get_my_kvsname")?;
        let name = value(&answer, b"kvsname").ok_or_else(|| unexpected(&answer))?;
        space.name = String::from_utf8_lossy(name).into_owned();
        let maxes = space.asked("cmd=get_maxes")?;
        let max = value(&maxes, b"vallen_max").and_then(number).filter(|max| *max > 1);
        // It ends with a zero. A longer value would be cut without an error.
        let max = max.ok_or_else(|| unexpected(&maxes))? - 1;
        space.value_bytes_max = max.min(VALUE_BYTES_MAX);
        Ok(space)
    }

    /// What only the ranks of this start have in common.
    pub fn job(&self) -> &str {
        self.name.strip_prefix("kvs_").unwrap_or(&self.name)
    }

    /// Puts a text, without blanks, where all see it after the next barrier.
    pub fn put(&mut self, key: &str, text: &[u8]) -> io::Result<()> {
        let chunks = text.chunks(self.value_bytes_max);
        let count = chunks.len().to_string();
        for (at, chunk) in chunks.enumerate() {
            self.put_value(&format!("{key}.{at}"), chunk)?;
        }
        // At last: on one machine others see it at once, and then read all of it.
        self.put_value(key, count.as_bytes())
    }

    fn put_value(&mut self, key: &str, text: &[u8]) -> io::Result<()> {
        let mut command = format!("cmd=put kvsname={} key={key} value=", self.name).into_bytes();
        command.extend(text);
        let answer = self.answered(command)?;
        if value(&answer, b"rc") == Some(b"0") { Ok(()) } else { Err(unexpected(&answer)) }
    }

    /// Whether anything was put under a key. While this rank is in the barrier, it sees what those have put that are in it.
    pub fn has(&mut self, key: &str) -> io::Result<bool> {
        Ok(self.value(key)?.is_some())
    }

    pub fn get(&mut self, key: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(count) = self.value(key)? else { return Ok(None) };
        let count = number(&count).ok_or_else(|| unexpected(&count))?;
        let mut text = Vec::new();
        for at in 0..count {
            let key = format!("{key}.{at}");
            let chunk = self.value(&key)?;
            text.extend(chunk.ok_or_else(|| io::Error::other(format!("{key} is missing")))?);
        }
        Ok(Some(text))
    }

    fn value(&mut self, key: &str) -> io::Result<Option<Vec<u8>>> {
        let answer = self.asked(&format!("cmd=get kvsname={} key={key}", self.name))?;
        let is_there = value(&answer, b"rc") == Some(b"0");
        Ok(value(&answer, b"value").filter(|_| is_there).map(<[u8]>::to_vec))
    }

    /// Enters the barrier, which is left when all have entered it.
    pub fn enter(&mut self) -> io::Result<()> {
        self.is_in_barrier = true;
        self.manager.write_all(b"cmd=barrier_in\n")
    }

    pub fn leave_within(&mut self, wait: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + wait;
        while self.is_in_barrier {
            let Some(line) = self.line(deadline)? else { return Ok(false) };
            self.see(&line)?;
        }
        Ok(true)
    }

    /// Takes a line that answers no question.
    fn see(&mut self, line: &[u8]) -> io::Result<()> {
        if self.is_in_barrier && value(line, b"cmd") == Some(b"barrier_out") {
            self.is_in_barrier = false;
            return Ok(());
        }
        Err(unexpected(line))
    }

    fn asked(&mut self, command: &str) -> io::Result<Vec<u8>> {
        self.answered(command.as_bytes().to_vec())
    }

    fn answered(&mut self, mut command: Vec<u8>) -> io::Result<Vec<u8>> {
        command.push(b'\n');
        self.manager.write_all(&command)?;
        let deadline = Instant::now() + ANSWER_WAIT_MAX;
        loop {
            let line = self.line(deadline)?.ok_or(ErrorKind::TimedOut)?;
            if value(&line, b"cmd") != Some(b"barrier_out") {
                return Ok(line);
            }
            self.see(&line)?;
        }
    }

    fn line(&mut self, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = [0; 4096];
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let rest = self.unread.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.unread, rest);
                line.pop();
                return Ok(Some(line));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.manager.set_read_timeout(Some(left))?;
            match self.manager.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.unread.extend(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.unread.len() > LINE_BYTES_MAX {
                return Err(unexpected(&self.unread[..80]));
            }
        }
    }
}

impl Drop for Space {
    /// Without a farewell the end of this process is taken for that of a broken program, and those of all are ended.
    fn drop(&mut self) {
        let _ = self.asked("cmd=finalize");
    }
}

fn unexpected(line: &[u8]) -> io::Error {
    io::Error::other(format!("`{}`", printable::one_line(&String::from_utf8_lossy(line))))
}

fn number(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The value of a key in `cmd=my_kvsname kvsname=kvs_811_0`.
fn value<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut words = line.split(|byte| *byte == b' ');
    words.find_map(|word| word.strip_prefix(key)?.strip_prefix(b"="))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::io::{BufRead, BufReader};
    use std::sync::Mutex;

    /// A start of ranks in one process: answers as hydra's proxies do.
    #[derive(Default)]
    struct Start {
        size: usize,
        /// What was put; what all may see.
        values: HashMap<Vec<u8>, Vec<u8>>,
        waiting: Vec<UnixStream>,
    }

    /// The spaces of the ranks of a start.
    pub fn spaces(size: usize) -> Vec<Space> {
        let start = Arc::new(Mutex::new(Start { size, ..Start::default() }));
        let space = |_| {
            let (here, there) = UnixStream::pair().unwrap();
            let start = Arc::clone(&start);
            std::thread::spawn(move || serve(&there, &start));
            Space::on(here).unwrap()
        };
        (0..size).map(space).collect()
    }

    fn serve(rank: &UnixStream, start: &Mutex<Start>) {
        for line in BufReader::new(rank.try_clone().unwrap()).split(b'\n') {
            let line = line.unwrap();
            let answer = start.lock().unwrap().answer(rank, &line);
            (&*rank).write_all(&answer).unwrap();
        }
    }

    impl Start {
        fn answer(&mut self, rank: &UnixStream, line: &[u8]) -> Vec<u8> {
            let key = || value(line, b"key").unwrap().to_vec();
            match value(line, b"cmd").unwrap() {
                b"init" => b"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n".to_vec(),
                b"get_my_kvsname" => b"cmd=my_kvsname kvsname=kvs_811_0_1804_amber\n".to_vec(),
                b"get_maxes" => b"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=64\n".to_vec(),
                b"put" => {
                    let text = value(line, b"value").unwrap();
                    self.values.insert(key(), text[..text.len().min(63)].to_vec());
                    b"cmd=put_result rc=0 msg=success\n".to_vec()
                }
                b"get" => match self.values.get(&key()) {
                    Some(text) => {
                        [b"cmd=get_result rc=0 msg=success value=", &text[..], b"\n"].concat()
                    }
                    None => b"cmd=get_result rc=-1 msg=key_not_found value=unknown\n".to_vec(),
                },
                b"barrier_in" => {
                    self.waiting.push(rank.try_clone().unwrap());
                    if self.waiting.len() == self.size {
                        for mut waiting in self.waiting.drain(..) {
                            // One may be gone.
                            let _ = waiting.write_all(b"cmd=barrier_out\n");
                        }
                    }
                    Vec::new()
                }
                b"finalize" => b"cmd=finalize_ack\n".to_vec(),
                unknown => panic!("{}", String::from_utf8_lossy(unknown)),
            }
        }
    }

    #[test]
    fn a_text_that_is_longer_than_a_value_comes_whole() {
        let mut spaces = spaces(2);
        let text: Vec<u8> = (0..1_000_u32).map(|at| b'a' + (at % 26) as u8).collect();
        spaces[0].put("long", &text).unwrap();
        spaces[1].put("empty", b"").unwrap();
        for space in &mut spaces {
            space.enter().unwrap();
        }
        for space in &mut spaces {
            assert!(space.leave_within(ANSWER_WAIT_MAX).unwrap());
            assert_eq!(space.get("long").unwrap(), Some(text.clone()));
            assert_eq!(space.get("empty").unwrap(), Some(Vec::new()));
            assert_eq!(space.get("none").unwrap(), None);
        }
    }

    /// On one machine another rank may look between two lines.
    #[test]
    fn a_text_is_there_only_when_it_is_whole() {
        let (here, there) = UnixStream::pair().unwrap();
        let manager = std::thread::spawn(move || {
            let mut start = Start { size: 1, ..Start::default() };
            let mut keys = Vec::new();
            for line in BufReader::new(there.try_clone().unwrap()).split(b'\n') {
                let line = line.unwrap();
                if value(&line, b"cmd") == Some(b"put") {
                    keys.push(String::from_utf8(value(&line, b"key").unwrap().to_vec()).unwrap());
                }
                (&there).write_all(&start.answer(&there, &line)).unwrap();
            }
            keys
        });
        let mut space = Space::on(here).unwrap();
        space.put("long", &[b'x'; 100]).unwrap();
        drop(space);
        assert_eq!(manager.join().unwrap(), ["long.0", "long.1", "long"]);
    }

    /// The answer to a question and the end of the barrier come in any order.
    #[test]
    fn one_in_the_barrier_can_ask() {
        let mut spaces = spaces(2);
        spaces[0].put("a", b"1").unwrap();
        spaces[0].enter().unwrap();
        assert!(!spaces[0].leave_within(Duration::from_millis(1)).unwrap());
        assert!(spaces[0].has("a").unwrap() && !spaces[0].has("b").unwrap());
        spaces[1].put("b", b"2").unwrap();
        spaces[1].enter().unwrap();
        assert!(spaces[1].leave_within(ANSWER_WAIT_MAX).unwrap());
        assert!(spaces[0].has("b").unwrap());
        assert!(spaces[0].leave_within(Duration::ZERO).unwrap(), "its end was read before");
    }

    #[test]
    fn the_name_of_the_space_names_the_job() {
        assert_eq!(spaces(1)[0].job(), "811_0_1804_amber");
    }

    #[test]
    fn what_speaks_otherwise_has_no_space() {
        for answers in [&b"cmd=response_to_init rc=-1\n"[..], b"", b"hello\n"] {
            let (here, mut there) = UnixStream::pair().unwrap();
            there.write_all(answers).unwrap();
            there.shutdown(std::net::Shutdown::Write).unwrap();
            assert!(Space::on(here).is_err());
        }
    }
}
