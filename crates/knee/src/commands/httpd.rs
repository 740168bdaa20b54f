//! `knee httpd`: a server of files by itself, over any mechanism.

mod ending;

use crate::exit::{Exit, Trouble, note};
use crate::output::print;
use crate::usage;
use clap::Args;
use clap::builder::PossibleValuesParser;
use ending::Ending;
use http::{Certificate, Config, Counts, Limits, SENDING, Server};
use serde_json::json;
use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Serve a directory over HTTP, by a mechanism of your choice
///
/// A server of files over HTTP/1.1: keep-alive, pipelining, ranges, conditional requests. Nothing outside
/// of the directory is ever served. SIGTERM and Ctrl-C end it when what is under way is done; a second one
/// ends it at once.
#[derive(Args, Debug)]
#[command(after_help = more())]
pub struct Httpd {
    /// The directory that is served
    #[arg(value_name = "DIR")]
    pub root: PathBuf,
    /// The port to listen on; with 0 the kernel chooses, and the first line printed says which
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    pub port: u16,
    /// The address to listen on [default: all, of IPv6 and IPv4]
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// What tells which connections are ready; those that there are, are below
    #[arg(long, value_name = "NAME", default_value = "epoll-level")]
    #[arg(value_parser = PossibleValuesParser::new(http::mechanisms().iter().map(|row| row.name)), hide_possible_values = true)]
    pub mechanism: String,
    /// Threads, each of which listens, accepts and serves on its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = quantities::count_within::<u16>(1..=1024))]
    pub workers: u16,
    /// Pin the workers to these CPUs in turn, separated by commas
    #[arg(long, value_name = "CPUS", value_delimiter = ',', value_parser = usage::cpu)]
    pub pin: Vec<usize>,
    /// How files are sent that are too large to be kept
    #[arg(long, value_name = "WAY", default_value = "sendfile")]
    #[arg(value_parser = PossibleValuesParser::new(SENDING.iter().map(|way| way.name)))]
    pub send: String,
    /// The longest from the first byte of a request to the end of its head; then 408
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = quantities::time_from_ms)]
    pub header_timeout: Duration,
    /// The longest that a connection is kept without a request
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = quantities::time_from_ms)]
    pub idle_timeout: Duration,
    /// The longest that a connection is kept at all
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = quantities::time_from_ms)]
    pub lifetime: Duration,
    /// The longest that a client may go without taking a byte of its reply
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantities::time_from_ms)]
    pub stall_timeout: Duration,
    /// The longest that it takes to end, after the first signal
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = quantities::time_from_ms)]
    pub drain: Duration,
    /// The most connections that a worker has at a time; others wait to be accepted
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    #[arg(value_parser = quantities::count_within::<usize>(1..=16_777_216))]
    pub connections: usize,
    /// Small files that each worker keeps in memory, in all: 0, 512k, 16M
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = quantities::bytes)]
    pub cache: usize,
    /// Append a line for each reply to this file, in the common log format
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Serve HTTPS; without --tls-cert by a new certificate for localhost, signed by itself
    #[arg(long)]
    pub tls: bool,
    /// Certificate of the server, and its chain, in PEM; implies --tls
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Key of the certificate, in PEM [default: in the file of --tls-cert]
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Print one line of JSON when it listens, and one when it has ended
    #[arg(short, long)]
    pub json: bool,
}

pub fn httpd(ask: &Httpd) -> Result<Exit, Trouble> {
    http::available(&ask.mechanism).map_err(|why| {
        Trouble::not_possible(format!("{} is unavailable here: {why}", ask.mechanism))
    })?;
    engine::pinnable(&ask.pin)?;
    // One is needed for each connection. With fewer, accepting pauses sooner, which the counts tell.
    engine::raise_descriptors_max();
    let ending = Ending::watch(ask.drain)?;
    let trouble = |error: http::Error| match error {
        http::Error::Invalid(what) => Trouble::usage(what),
        http::Error::Failed(what) => Trouble::failed(what),
    };
    let certificate = certificate(ask).map_err(trouble)?;
    let is_tls = certificate.is_some();
    let server = Server::start(Config { certificate, ..config(ask) }).map_err(trouble)?;
    server.remarks().iter().for_each(|remark| note(&format!("knee: {remark}")));
    print(&listening(ask, &server, is_tls)).map_err(no_address)?;
    ending.end_with(server.stopper().clone());
    print(&served(ask, server.wait().map_err(trouble)?))?;
    Ok(Exit::Done)
}

/// A server whose address is not printed has failed; elsewhere a reader that has gone is no failure.
fn no_address(trouble: Trouble) -> Trouble {
    if trouble.exit != Exit::ReaderGone && !sys::stdout::was_closed() {
        return trouble;
    }
    Trouble::failed(
        "nothing reads standard output, so the address can't be printed and nothing was served; to serve \
         anyway, redirect it (`> /dev/null`)",
    )
}

fn certificate(ask: &Httpd) -> Result<Option<Certificate>, http::Error> {
    match (&ask.tls_cert, &ask.tls_key) {
        (Some(chain), key) => Certificate::read(chain, key.as_ref().unwrap_or(chain)).map(Some),
        (None, _) if ask.tls => Certificate::new_of_localhost().map(Some),
        (None, _) => Ok(None),
    }
}

fn config(ask: &Httpd) -> Config {
    Config {
        root: ask.root.clone(),
        address: ask.bind,
        port: ask.port,
        mechanism: ask.mechanism.clone(),
        sending: ask.send.clone(),
        workers: ask.workers.into(),
        pin: ask.pin.clone(),
        limits: Limits {
            header: ask.header_timeout,
            idle: ask.idle_timeout,
            lifetime: ask.lifetime,
            stalled: ask.stall_timeout,
            drain: ask.drain,
            connections: ask.connections,
        },
        cache_bytes: ask.cache,
        log: ask.log.clone(),
        ..Config::default()
    }
}

fn listening(ask: &Httpd, server: &Server, is_tls: bool) -> String {
    let address = server.address().to_string();
    let scheme = if is_tls { "https" } else { "http" };
    let url = format!("{scheme}://{address}/");
    if ask.json {
        let line = json!({
            "address": address,
            "url": url,
            "pid": std::process::id(),
            "mechanism": ask.mechanism,
            "workers": ask.workers,
        });
        return format!("{line}\n");
    }
    let (root, mechanism) = (ask.root.display(), &ask.mechanism);
    let workers = if ask.workers == 1 { "worker" } else { "workers" };
    format!("{root} is served at {url} by {mechanism}, {} {workers}; Ctrl-C ends it\n", ask.workers)
}

fn served(ask: &Httpd, counts: Counts) -> String {
    let Counts { accepted, open, replies, aborted, bytes, pauses, unlogged } = counts;
    if ask.json {
        let line = json!({
            "accepted": accepted, "open": open, "replies": replies, "aborted": aborted, "bytes": bytes,
            "pauses": pauses, "unlogged": unlogged,
        });
        return format!("{line}\n");
    }
    let mut text =
        format!("Served: {replies} replies of {bytes} bytes over {accepted} connections\n");
    if aborted > 0 {
        let _ = writeln!(
            text,
            "{aborted} more replies were cut off: the client left, or a limit was met"
        );
    }
    if pauses > 0 {
        let remedy = "raise `ulimit -n`, or use more --workers";
        let _ =
            writeln!(text, "Descriptors ran out, and accepting paused {pauses} times → {remedy}");
    }
    if unlogged > 0 {
        let remedy = "is the disk full, or does nothing read the pipe?";
        let _ = writeln!(text, "{unlogged} lines of the log were dropped → {remedy}");
    }
    text
}

fn more() -> String {
    let mut text = String::from("Mechanisms (--mechanism):\n");
    for mechanism in http::mechanisms() {
        let _ = writeln!(text, "  {:<20} {}", mechanism.name, mechanism.summary);
    }
    text.push_str("\nWays to send files (--send):\n");
    for way in SENDING {
        let _ = writeln!(text, "  {:<20} {}", way.name, way.summary);
    }
    text.push_str(
        "\n`knee list mechanisms` says which are available here; io_uring-completion needs Linux 6.1. Each \
         worker\nhas a limit on descriptors of its own; where they run out, accepting pauses until a connection closes.\n\nExample:\n  knee \
         httpd public --port 0 --mechanism io_uring-completion --workers 2 --pin 0,1\n",
    );
    text
}
