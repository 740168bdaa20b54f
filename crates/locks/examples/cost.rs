//! What a lock costs: one thread or two hold it so often, batch by batch, and the nanoseconds for each
//! time are printed. `benches/c/locks/hold.h` plays the same game in C; `cargo xtask bench locks` lets
//! them take turns.
//!
//! ```sh
//! cost ours NAME THREADS BATCHES HOLDS      # by way of our trait
//! cost names                                # of all locks but the control
//! cost direct NAME THREADS BATCHES HOLDS    # std or parking_lot, as its users use it
//! ```

use locks::{CacheLine, Lock, Setup, TABLE, Visitor, visit};
use std::error::Error;
use std::hint::spin_loop;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How long a thread stays outside when there are two, in spins.
const OUTSIDE: u32 = 4;

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// What is measured.
#[derive(Clone, Copy)]
struct Game {
    threads: u64,
    batches: u64,
    holds: u64,
}

/// A number that the threads share, on lines of its own.
#[derive(Default)]
struct Counter(CacheLine<AtomicU64>);

impl Counter {
    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }

    fn wait_for(&self, value: u64) {
        while self.0.load(Ordering::Acquire) < value {
            spin_loop();
        }
    }

    /// Adds one as if no other thread did. That is two instructions: a lock has to make them one.
    #[inline]
    fn add(&self) {
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// What the threads share.
#[derive(Default)]
struct Shared {
    count: Counter,
    ready: Counter,
    go: Counter,
    done: Counter,
}

impl Game {
    /// One batch, of what holds the lock and adds one.
    #[inline]
    fn batch(self, hold: &mut impl FnMut()) {
        for _ in 0..self.holds {
            hold();
            if self.threads > 1 {
                for _ in 0..OUTSIDE {
                    spin_loop();
                }
            }
        }
    }

    /// All batches, with a way to hold the lock for each of two threads.
    fn play(self, shared: &Shared, mut mine: impl FnMut(), theirs: impl FnMut() + Send) -> Outcome {
        std::thread::scope(|scope| {
            let partner = (self.threads > 1).then(|| scope.spawn(|| self.partner(shared, theirs)));
            pin(usize::from(self.threads > 1))?;
            for batch in 1..=self.batches {
                if self.threads > 1 {
                    shared.ready.wait_for(batch);
                }
                let begun = Instant::now();
                shared.go.set(batch);
                self.batch(&mut mine);
                if self.threads > 1 {
                    shared.done.wait_for(batch);
                }
                let took_ns = begun.elapsed().as_nanos() as f64;
                println!("{:.3}", took_ns / (self.holds * self.threads) as f64);
            }
            partner.map_or(Ok(()), |partner| partner.join().map_err(|_| "a thread failed")?)
        })?;
        let counted = shared.count.0.0.load(Ordering::Relaxed);
        if counted == self.threads * self.batches * self.holds {
            Ok(())
        } else {
            Err("two were inside at once".into())
        }
    }

    /// The second thread.
    fn partner(self, shared: &Shared, mut hold: impl FnMut()) -> Outcome {
        pin(0)?;
        for batch in 1..=self.batches {
            shared.ready.set(batch);
            shared.go.wait_for(batch);
            self.batch(&mut hold);
            shared.done.set(batch);
        }
        Ok(())
    }
}

/// Stays on that CPU.
fn pin(cpu: usize) -> Outcome {
    sys::cpus::pin(&[cpu]).map_err(|error| format!("pinning to CPU {cpu}: {error}").into())
}

struct Ours(Game);

impl Visitor for Ours {
    type Output = Outcome;

    fn visit<L: Lock>(self) -> Outcome {
        let lock = &CacheLine(L::new(&Setup { seats: 2, spins: Setup::SPINS })).0;
        let (mut mine, mut theirs, shared) = (lock.seat(), lock.seat(), Shared::default());
        self.0.play(
            &shared,
            || lock.hold(&mut mine, || shared.count.add()),
            || lock.hold(&mut theirs, || shared.count.add()),
        )
    }
}

fn direct(name: &str, game: Game) -> Outcome {
    let shared = Shared::default();
    match name {
        "std" => {
            let mutex = &CacheLine(std::sync::Mutex::new(())).0;
            let hold = || {
                let _held = mutex.lock().unwrap_or_else(PoisonError::into_inner);
                shared.count.add();
            };
            game.play(&shared, hold, hold)
        }
        "parking_lot" => {
            let mutex = &CacheLine(parking_lot::Mutex::new(())).0;
            let hold = || {
                let _held = mutex.lock();
                shared.count.add();
            };
            game.play(&shared, hold, hold)
        }
        _ => Err(format!("{name} is used by way of our trait only").into()),
    }
}

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args == ["names"] {
        TABLE.iter().filter(|row| !row.control).for_each(|row| println!("{}", row.name));
        return Ok(());
    }
    let [way, name, threads, batches, holds] = args.as_slice() else {
        return Err("cost names, or cost ours|direct NAME THREADS BATCHES HOLDS".into());
    };
    let game = Game { threads: threads.parse()?, batches: batches.parse()?, holds: holds.parse()? };
    match way.as_str() {
        "ours" => visit(name, Ours(game)).unwrap_or_else(|| Err(format!("no lock {name}").into())),
        "direct" => direct(name, game),
        _ => Err(format!("{way} is neither ours nor direct").into()),
    }
}
