//! A disk whose plug can be pulled: a server of the network block device protocol. What was written since the last flush is
//! kept apart, and of it a cut keeps whole sectors at random.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// What today's disks write as a whole, in bytes.
const SECTOR: usize = 4096;

/// Those that are not zeros.
pub type Sectors = HashMap<u64, Arc<[u8; SECTOR]>>;

/// The sectors of an image.
pub fn read_image(path: &Path) -> Sectors {
    let file = File::open(path).unwrap();
    let mut sectors = Sectors::new();
    for number in 0..file.metadata().unwrap().len() / SECTOR as u64 {
        let mut content = [0; SECTOR];
        file.read_exact_at(&mut content, number * SECTOR as u64).unwrap();
        if content != [0; SECTOR] {
            sectors.insert(number, Arc::new(content));
        }
    }
    sectors
}

/// A disk, on a socket of its own.
pub struct Disk {
    pub socket: PathBuf,
    state: Arc<(Mutex<State>, Condvar)>,
}

/// What a power cut leaves, how many sectors had been written without a flush, and when it was.
pub type Cut = (Sectors, usize, Instant);

#[derive(Default)]
struct State {
    bytes: u64,
    /// What a power cut does not take.
    flushed: Sectors,
    /// What was written since, in order.
    pending: Vec<(u64, Arc<[u8; SECTOR]>)>,
    /// What is read.
    written: Sectors,
    /// After so many more writes the plug is pulled.
    fuse: Option<usize>,
    cut: Option<Cut>,
    random: fastrand::Rng,
}

impl Disk {
    pub fn new(socket: PathBuf, bytes: u64, seed: u64) -> Disk {
        let listener = UnixListener::bind(&socket).unwrap();
        let random = fastrand::Rng::with_seed(seed);
        let state = State { bytes, random, ..State::default() };
        let state = Arc::new((Mutex::new(state), Condvar::new()));
        let served = Arc::clone(&state);
        // QEMU ends a connection by being killed.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = serve(&stream, &served);
            }
        });
        Disk { socket, state }
    }

    /// Puts other sectors in, which nothing has open.
    pub fn put(&self, sectors: &Sectors) {
        let mut state = self.state.0.lock().unwrap();
        state.pending.clear();
        state.flushed.clone_from(sectors);
        state.written.clone_from(sectors);
    }

    /// Pulls the plug after so many more writes, or after `patience` where they do not come.
    pub fn cut(&self, writes: usize, patience: Duration) -> Cut {
        let (state, is_cut) = &*self.state;
        let mut state = state.lock().unwrap();
        state.fuse = (writes > 0).then_some(writes);
        let waiting = is_cut.wait_timeout_while(state, patience, |state| state.fuse.is_some());
        let (mut state, _) = waiting.unwrap();
        state.fuse = None;
        state.cut.take().unwrap_or_else(|| state.cut_now())
    }
}

impl State {
    fn read(&self, offset: u64, mut out: &mut [u8]) {
        let (mut number, mut at) = (offset / SECTOR as u64, offset as usize % SECTOR);
        while !out.is_empty() {
            let (piece, rest) = out.split_at_mut(out.len().min(SECTOR - at));
            let sector = self.written.get(&number).map_or(&[0; SECTOR], |sector| &**sector);
            piece.copy_from_slice(&sector[at..][..piece.len()]);
            (number, at, out) = (number + 1, 0, rest);
        }
    }

    fn write(&mut self, offset: u64, content: &[u8]) {
        let (sectors, rest) = content.as_chunks::<SECTOR>();
        assert!(rest.is_empty() && offset.is_multiple_of(SECTOR as u64), "{offset}");
        for (number, sector) in (offset / SECTOR as u64..).zip(sectors) {
            let sector = Arc::new(*sector);
            self.pending.push((number, Arc::clone(&sector)));
            self.written.insert(number, sector);
        }
    }

    fn flush(&mut self) {
        self.flushed.extend(self.pending.drain(..));
    }

    /// Counts a write.
    fn burn(&mut self, is_cut: &Condvar) {
        self.fuse = match self.fuse {
            Some(1) => {
                self.cut = Some(self.cut_now());
                is_cut.notify_all();
                None
            }
            writes => writes.map(|writes| writes - 1),
        };
    }

    fn cut_now(&mut self) -> Cut {
        let State { flushed, pending, random, .. } = self;
        // None, all, or some share.
        let share = (2.0 * random.f64() - 0.5).clamp(0.0, 1.0);
        let mut left = flushed.clone();
        let kept = pending.iter().filter(|_| random.f64() < share);
        left.extend(kept.map(|(number, content)| (*number, Arc::clone(content))));
        (left, pending.len(), Instant::now())
    }
}

/// Answers a client until it goes: <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.
fn serve(mut stream: &UnixStream, disk: &(Mutex<State>, Condvar)) -> io::Result<()> {
    const MAGIC: u64 = 0x4948_4156_454f_5054;
    const FIXED_NEW_STYLE: u16 = 1;
    const EXPORT_NAME: u32 = 1;
    const NO_SUCH_OPTION: u32 = 1 << 31 | 1;
    const HAS_FLAGS_AND_FLUSH: u16 = 1 | 4;
    stream.write_all(b"NBDMAGICIHAVEOPT")?;
    stream.write_all(&FIXED_NEW_STYLE.to_be_bytes())?;
    let _flags: [u8; 4] = take(stream)?;
    loop {
        assert_eq!(u64::from_be_bytes(take(stream)?), MAGIC);
        let option = u32::from_be_bytes(take(stream)?);
        let length = u32::from_be_bytes(take(stream)?);
        stream.read_exact(&mut vec![0; length as usize])?;
        if option == EXPORT_NAME {
            break;
        }
        stream.write_all(&0x0003_e889_0455_65a9_u64.to_be_bytes())?;
        stream.write_all(&[option, NO_SUCH_OPTION, 0].map(u32::to_be_bytes).concat())?;
    }
    stream.write_all(&disk.0.lock().unwrap().bytes.to_be_bytes())?;
    stream.write_all(&HAS_FLAGS_AND_FLUSH.to_be_bytes())?;
    stream.write_all(&[0; 124])?;
    while request(stream, disk)? {}
    Ok(())
}

/// Answers a request, unless it is the last.
fn request(mut stream: &UnixStream, (state, is_cut): &(Mutex<State>, Condvar)) -> io::Result<bool> {
    const READ: u16 = 0;
    const WRITE: u16 = 1;
    const FLUSH: u16 = 3;
    assert_eq!(u32::from_be_bytes(take(stream)?), 0x2560_9513);
    let _flags: [u8; 2] = take(stream)?;
    let kind = u16::from_be_bytes(take(stream)?);
    let handle: [u8; 8] = take(stream)?;
    let offset = u64::from_be_bytes(take(stream)?);
    let mut content = vec![0; u32::from_be_bytes(take(stream)?) as usize];
    if kind == WRITE {
        stream.read_exact(&mut content)?;
    }
    let mut state = state.lock().unwrap();
    match kind {
        READ => state.read(offset, &mut content),
        WRITE => {
            state.write(offset, &content);
            state.burn(is_cut);
        }
        FLUSH => state.flush(),
        _ => return Ok(false),
    }
    drop(state);
    // No error, but for that of the request's number.
    let mut reply = [&[0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0][..], &handle].concat();
    if kind == READ {
        reply.extend(content);
    }
    stream.write_all(&reply)?;
    Ok(true)
}

fn take<const BYTES: usize>(mut stream: &UnixStream) -> io::Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}
