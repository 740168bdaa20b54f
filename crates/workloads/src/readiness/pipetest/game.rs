//! The game that is timed: tokens sent, waited for and read, and the account that has to be right.

use super::spread::{Spread, Way, tenths};
use crate::readiness::mechanisms::took_part;
use crate::readiness::objects::{ObjectIndex, Objects};
use engine::{Cell, Fact, Failure, Probe};
use readiness::{Event, Interest, Mechanism, Readiness, Token as Mark, Trigger};
use rustix::io::{Errno, read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// After a wait without sleep that found nothing although tokens are under way.
const PATIENCE: Duration = Duration::from_secs(1);

/// At least so many tokens are read at once where one pipe holds several.
const TOKENS_READ: usize = 16;

/// What a game is played by.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub pipes: usize,
    pub tokens: usize,
    pub generations: u32,
    pub spread: Spread,
    pub token_bytes: usize,
    pub seed: u64,
}

impl Rules {
    pub fn from_cell(cell: &Cell) -> Result<Rules, Failure> {
        let rules = Rules {
            pipes: cell.number("pipes")? as usize,
            tokens: cell.number("tokens")? as usize,
            generations: cell.number("generations")?.min(u64::from(u32::MAX)) as u32,
            spread: Spread::from_name(&cell.text("spread")?)?,
            token_bytes: cell.number("bufsize")? as usize,
            seed: cell.seed,
        };
        let fits = u32::try_from(rules.pipes).is_ok() && rules.token_bytes >= HEAD;
        if !fits || rules.tokens == 0 || rules.generations == 0 {
            return Err(Failure::new(format!("these are no rules for a game: {rules:?}")));
        }
        Ok(rules)
    }
}

/// Bytes of a token that say which it is: its number and its generation.
const HEAD: usize = 8;

/// Where a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be sent in the next loop.
    Pending,
    /// In this pipe.
    UnderWay(ObjectIndex),
    /// As old as it gets.
    Retired,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    generation: u32,
    state: State,
}

/// One mechanism over all pipes, and the tokens in them.
pub(super) struct Game<'a> {
    mechanism: Box<dyn Readiness>,
    trigger: Trigger,
    /// Whether an event may come for what an earlier one has read already.
    queued: bool,
    watched: &'a [OwnedFd],
    /// The ends to write to; none where they are parked, because no token ever goes there.
    peers: Vec<Option<BorrowedFd<'a>>>,
    generations: u32,
    way: Way,
    timeout: Option<Duration>,
    tokens: Vec<Token>,
    pending: Vec<u32>,
    /// What `pending` is exchanged with while it is worked off.
    sending: Vec<u32>,
    retired: usize,
    /// Games that came to their end.
    games: u64,
    /// Hits by pipe.
    hits: Vec<u64>,
    /// Tokens that had to wait for a loop because their pipe was full.
    held_back: u64,
    waits: u64,
    turns: u64,
    message: Vec<u8>,
    buffer: Vec<u8>,
    events: Vec<Event>,
}

impl<'a> Game<'a> {
    /// Watches every pipe, and puts every token at its start.
    pub fn new(
        row: &Mechanism,
        pipes: &'a Objects,
        rules: &Rules,
        timeout: Option<Duration>,
    ) -> Result<Game<'a>, Failure> {
        let mut mechanism =
            (row.open)(rules.pipes).map_err(|error| Failure::call("opening it", error))?;
        for (pipe, end) in pipes.watched.iter().enumerate() {
            mechanism
                .add(end.as_fd(), Mark(pipe as u64), Interest::Readable)
                .map_err(|error| Failure::call("adding a descriptor", error))?;
        }
        let mut peers = vec![None; rules.pipes];
        for pipe in rules.spread.written(rules.tokens, rules.pipes) {
            peers[pipe] = Some(pipes.peer(pipe)?.as_fd());
        }
        let mut game = Game {
            mechanism,
            trigger: row.trigger,
            queued: row.queued,
            watched: &pipes.watched,
            peers,
            generations: rules.generations,
            way: Way::new(rules.spread, rules.tokens, rules.pipes, rules.seed),
            timeout,
            tokens: vec![Token { generation: 0, state: State::Retired }; rules.tokens],
            pending: Vec::with_capacity(rules.tokens),
            sending: Vec::with_capacity(rules.tokens),
            retired: rules.tokens,
            games: 0,
            hits: vec![0; rules.pipes],
            held_back: 0,
            waits: 0,
            turns: 0,
            message: vec![0; rules.token_bytes],
            buffer: vec![0; rules.token_bytes * TOKENS_READ],
            events: Vec::with_capacity(rules.pipes),
        };
        // What io_uring and AIO held back is paid here, before the game.
        game.nothing_left()?;
        Ok(game)
    }

    /// One loop: send what is pending, wait once, read what is ready. Returns the passes.
    pub fn turn(&mut self) -> Result<u64, Failure> {
        if self.retired == self.tokens.len() {
            self.begin();
        }
        std::mem::swap(&mut self.pending, &mut self.sending);
        for at in 0..self.sending.len() {
            self.send(self.sending[at])?;
        }
        self.sending.clear();
        self.receive(true)
    }

    /// A new game: every token is young again.
    fn begin(&mut self) {
        self.tokens.fill(Token { generation: 0, state: State::Pending });
        self.pending.extend(0..self.tokens.len() as u32);
        self.retired = 0;
    }

    #[inline]
    fn send(&mut self, number: u32) -> Result<(), Failure> {
        let token = &mut self.tokens[number as usize];
        let pipe = self.way.pipe(number, token.generation);
        let Some(peer) = self.peers[pipe] else {
            return Err(Failure::new(format!("pipe {pipe} was parked and is written to")));
        };
        self.message[..4].copy_from_slice(&number.to_ne_bytes());
        self.message[4..HEAD].copy_from_slice(&token.generation.to_ne_bytes());
        match write(peer, &self.message) {
            Ok(count) if count == self.message.len() => token.state = State::UnderWay(pipe),
            Ok(count) => return Err(Failure::new(format!("a write took {count} bytes"))),
            Err(Errno::AGAIN) => {
                self.pending.push(number);
                self.held_back += 1;
            }
            Err(error) => return Err(Failure::call("writing", error)),
        }
        Ok(())
    }

    /// Waits once and reads what is ready; returns the tokens that came. They go on if `on`. Once
    /// more where that was only an event of what had been read already.
    #[inline]
    fn receive(&mut self, on: bool) -> Result<u64, Failure> {
        self.turns += 1;
        let mut came = 0;
        while came == 0 {
            self.wait(self.timeout)?;
            if self.events.is_empty() {
                self.wait(Some(PATIENCE))?;
            }
            let events = std::mem::take(&mut self.events);
            for event in &events {
                came += self.handle(event, on)?;
            }
            if came == 0 && (events.is_empty() || !self.queued) {
                let lost = self.under_way();
                return Err(Failure::new(format!("{lost} tokens were lost: nothing is ready")));
            }
            self.events = events;
        }
        Ok(came)
    }

    #[inline]
    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), Failure> {
        self.waits += 1;
        let waited = self.mechanism.wait(&mut self.events, timeout);
        waited.map_err(|error| Failure::call("waiting", error))
    }

    /// The handler of one event: reads the tokens, and does what the trigger obliges to.
    #[inline]
    fn handle(&mut self, event: &Event, on: bool) -> Result<u64, Failure> {
        let pipe = event.token.0 as usize;
        let Some(end) = self.watched.get(pipe) else {
            let mark = event.token.0;
            return Err(Failure::new(format!("an event bears the token {mark}, not a pipe's")));
        };
        let mut came = 0;
        loop {
            let count = match read(end, &mut self.buffer[..]) {
                Ok(0) => return Err(Failure::new("a pipe came to its end")),
                Ok(count) => count,
                Err(Errno::AGAIN) if came > 0 || self.queued => break,
                Err(Errno::AGAIN) => return Err(Failure::new("an event came without its data")),
                Err(error) => return Err(Failure::call("reading", error)),
            };
            came += self.take(pipe, count, on)?;
            if self.trigger != Trigger::Edge {
                break;
            }
        }
        if self.trigger == Trigger::Oneshot {
            self.mechanism
                .modify(end.as_fd(), event.token, Interest::Readable)
                .map_err(|error| Failure::call("arming a descriptor again", error))?;
        }
        Ok(came)
    }

    /// Takes the tokens in the first `count` bytes of the buffer, which came out of pipe `pipe`.
    /// Each must be one that was sent there and has not come yet.
    #[inline]
    fn take(&mut self, pipe: ObjectIndex, count: usize, on: bool) -> Result<u64, Failure> {
        let bytes = self.message.len();
        if !count.is_multiple_of(bytes) {
            return Err(Failure::new(format!("a read gave {count} bytes: a token was torn")));
        }
        for at in (0..count).step_by(bytes) {
            let word = |from: usize| {
                let four = &self.buffer[at + from..at + from + 4];
                four.try_into().map_or(u32::MAX, u32::from_ne_bytes)
            };
            let (number, generation) = (word(0), word(4));
            let sent = Token { generation, state: State::UnderWay(pipe) };
            let token = self.tokens.get_mut(number as usize);
            let Some(token) = token.filter(|token| token.is(&sent)) else {
                return Err(Failure::new(format!(
                    "token {number} of generation {generation} came out of pipe {pipe}: twice, or \
                     never sent there"
                )));
            };
            token.generation += 1;
            if token.generation == self.generations {
                token.state = State::Retired;
                self.retired += 1;
                self.games += u64::from(self.retired == self.tokens.len());
            } else {
                token.state = State::Pending;
                if on {
                    self.pending.push(number);
                }
            }
        }
        let came = (count / bytes) as u64;
        self.hits[pipe] += came;
        Ok(came)
    }

    /// After each batch: the mechanism itself did the work.
    pub fn check(&mut self, _passes: u64) -> Result<(), Failure> {
        took_part(&*self.mechanism)
    }

    /// Takes every token that is still under way, and closes the account: each came exactly as often
    /// as it was sent, out of the pipe that the spread says, and nothing else is ready.
    pub fn finish(&mut self, probe: &mut Probe) -> Result<(), Failure> {
        while self.under_way() > 0 {
            self.receive(false)?;
        }
        self.nothing_left()?;
        let expected = self.expected();
        let wrong = self.hits.iter().zip(&expected).position(|(hits, expected)| hits != expected);
        if let Some(pipe) = wrong {
            let (hits, expected) = (self.hits[pipe], expected[pipe]);
            return Err(Failure::new(format!(
                "pipe {pipe} was hit {hits} times, and by its spread {expected} times"
            )));
        }
        self.say(probe);
        Ok(())
    }

    /// How often the spread sends a token through each pipe, from the generations alone.
    fn expected(&self) -> Vec<u64> {
        let mut expected = vec![0; self.hits.len()];
        let mut add = |number: usize, generations: u32, times: u64| {
            for generation in 0..generations {
                expected[self.way.pipe(number as u32, generation)] += times;
            }
        };
        let over = self.retired == self.tokens.len();
        for (number, token) in self.tokens.iter().enumerate() {
            if self.games > 0 {
                add(number, self.generations, self.games);
            }
            if !over {
                add(number, token.generation, 1);
            }
        }
        expected
    }

    fn under_way(&self) -> usize {
        self.tokens.iter().filter(|token| matches!(token.state, State::UnderWay(_))).count()
    }

    /// Nothing is ready any more.
    fn nothing_left(&mut self) -> Result<(), Failure> {
        self.wait(Some(Duration::ZERO))?;
        let events = std::mem::take(&mut self.events);
        for event in &events {
            // A queued event may outlive what an earlier one has read; data may not be left.
            if !self.queued || self.handle(event, false)? > 0 {
                return Err(Failure::new(format!("an event without a cause: {event:?}")));
            }
        }
        self.events = events;
        Ok(())
    }

    /// States what a reader has to know.
    fn say(&self, probe: &mut Probe) {
        probe.fact("hits per tenth", Fact::shares(&tenths(&self.hits)));
        let active = self.way.active(self.tokens.len());
        if active < self.tokens.len() {
            probe.fact("pipes active at once, by the rule", active as u64);
        }
        if self.held_back > 0 {
            probe.fact("tokens held back by a full pipe", self.held_back);
        }
        if self.waits > 2 * self.turns {
            let each = self.waits as f64 / self.turns.max(1) as f64;
            probe.fact("waits per loop", Fact::rounded(each, 1));
        }
    }
}

impl Token {
    #[inline]
    fn is(&self, sent: &Token) -> bool {
        self.generation == sent.generation && self.state == sent.state
    }
}
