//! A server of ours and nginx over one directory, and a client that believes neither: it sends raw bytes
//! and takes replies apart by itself.

use super::PATIENCE;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// No reply takes longer than this: a test that waits so long has failed.
pub const REPLY_MAX: Duration = Duration::from_secs(60);

/// The program's server, which ends with this value.
pub struct Httpd {
    pub address: SocketAddr,
    pub mechanism: String,
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Httpd {
    /// Serves `directory` on a free port of the loopback; `words` follow.
    pub fn start(directory: &Path, words: &[&str]) -> Httpd {
        Httpd::start_by(&mut Command::new(env!("CARGO_BIN_EXE_knee")), directory, words)
    }

    /// As [`Httpd::start`], by a command that ends with starting the program.
    pub fn start_by(command: &mut Command, directory: &Path, words: &[&str]) -> Httpd {
        command.arg("httpd").arg(directory).args(["--port", "0", "--json"]);
        if !words.contains(&"--bind") {
            command.args(["--bind", "127.0.0.1"]);
        }
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let Ok(output) = serde_json::from_str::<serde_json::Value>(&line) else {
            let _ = child.kill();
            panic!("knee httpd {words:?} printed {line:?}: {:?}", child.wait());
        };
        let address: SocketAddr = output["address"].as_str().unwrap().parse().unwrap();
        let scheme =
            if words.iter().any(|word| word.starts_with("--tls")) { "https" } else { "http" };
        assert_eq!(output["url"], format!("{scheme}://{address}/"));
        let mechanism = output["mechanism"].as_str().unwrap().to_owned();
        assert_eq!(output["pid"], child.id(), "{output}");
        Httpd { address, mechanism, child, out }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> Client {
        Client::tcp(self.address)
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// How many descriptors it has open, in the table of every thread.
    pub fn descriptors(&self) -> usize {
        let count = |table: PathBuf| std::fs::read_dir(table).map_or(0, Iterator::count);
        let process = PathBuf::from(format!("/proc/{}", self.pid()));
        // Workers have tables of their own. Another thread shares the first one's, and may come late.
        let tasks = std::fs::read_dir(process.join("task")).unwrap().flatten();
        let is_worker = |task: &PathBuf| {
            std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.starts_with("httpd-"))
        };
        let workers = tasks.map(|task| task.path()).filter(is_worker);
        count(process.join("fd")) + workers.map(|task| count(task.join("fd"))).sum::<usize>()
    }

    /// A figure of `/proc/PID/status`, in kilobytes: `VmRSS`, `VmHWM`.
    pub fn kilobytes(&self, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Asks it to end, waits for that, and hands over what it counted.
    pub fn end(mut self) -> serde_json::Value {
        let pid = rustix::process::Pid::from_raw(self.pid().cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success(), "{rest}");
        serde_json::from_str(&rest).unwrap_or_else(|error| panic!("{error}: {rest}"))
    }
}

impl Drop for Httpd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `nginx` with a plain configuration, on a socket in a directory of its own, so that no port is needed. It
/// ends with this value.
pub struct Nginx {
    child: Child,
    directory: TempDir,
}

impl Nginx {
    /// None, with a message, where there is no nginx.
    pub fn start(directory: &Path) -> Option<Nginx> {
        Nginx::start_with(directory, "")
    }

    /// The same, with further lines for its server.
    pub fn start_with(directory: &Path, lines: &str) -> Option<Nginx> {
        let program = fixtures::needed_program("nginx")?;
        let own = tempfile::tempdir().unwrap();
        let configuration = own.path().join("nginx.conf");
        std::fs::write(&configuration, plain(own.path(), directory, lines)).unwrap();
        let child = dying_with_us(&program)
            .args(["-c".as_ref(), configuration.as_os_str(), "-p".as_ref(), own.path().as_os_str()])
            .args(["-e".as_ref(), own.path().join("error.log").as_os_str()])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut nginx = Nginx { child, directory: own };
        super::wait_until("nginx listens", || {
            assert!(nginx.child.try_wait().unwrap().is_none(), "nginx ended: {}", nginx.log());
            UnixStream::connect(nginx.socket()).is_ok()
        });
        Some(nginx)
    }

    /// Where it listens.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    pub fn connect(&self) -> Client {
        Client::local(UnixStream::connect(self.socket()).unwrap())
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("error.log")).unwrap_or_default()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What nginx does by itself: only places are named, the types that it comes with, and `etag`.
fn plain(own: &Path, root: &Path, lines: &str) -> String {
    let own = own.display();
    let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
    let types = ["/etc/nginx/mime.types", "/usr/local/etc/nginx/mime.types"];
    let types = types.iter().find(|file| Path::new(file).exists());
    let types = types.map_or_else(String::new, |file| format!("include {file};"));
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {own}/{name};\n"))
        .concat();
    format!(
        "{user}\ndaemon off;\nmaster_process off;\npid {own}/pid;\nevents {{}}\nhttp {{\n\
         access_log off;\n{temporary}{types}\ndefault_type application/octet-stream;\n\
         etag on;\nserver {{\nlisten unix:{own}/socket;\n{lines}root {};\n}}\n}}\n",
        root.display()
    )
}

/// A program that ends with the thread that starts it, where the system has a way to say so.
pub fn dying_with_us(program: &Path) -> Command {
    let Some(setpriv) = fixtures::program("setpriv") else { return Command::new(program) };
    let mut command = Command::new(setpriv);
    command.args(["--pdeathsig", "KILL"]).arg(program);
    command
}

/// What a connection is made of.
pub trait Wire: Read + Write + Send {
    fn end_writing(&self) -> io::Result<()>;
}

impl Wire for TcpStream {
    fn end_writing(&self) -> io::Result<()> {
        self.shutdown(std::net::Shutdown::Write)
    }
}

impl Wire for UnixStream {
    fn end_writing(&self) -> io::Result<()> {
        self.shutdown(std::net::Shutdown::Write)
    }
}

/// One connection to a server.
pub struct Client(BufReader<Box<dyn Wire>>);

/// A reply, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub version: String,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn tcp(address: SocketAddr) -> Client {
        Client::new(TcpStream::connect_timeout(&address, PATIENCE).unwrap())
    }

    /// Over a connection that is there.
    pub fn new(stream: TcpStream) -> Client {
        stream.set_read_timeout(Some(REPLY_MAX)).unwrap();
        stream.set_write_timeout(Some(REPLY_MAX)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client(BufReader::new(Box::new(stream)))
    }

    fn local(stream: UnixStream) -> Client {
        stream.set_read_timeout(Some(REPLY_MAX)).unwrap();
        stream.set_write_timeout(Some(REPLY_MAX)).unwrap();
        Client(BufReader::new(Box::new(stream)))
    }

    /// Sends bytes as they are. A server may have closed before it took them all.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    pub fn end_writing(&mut self) {
        let _ = self.0.get_ref().end_writing();
    }

    /// The next reply: its head, and exactly as many bytes as it says.
    pub fn reply(&mut self, to_head: bool) -> io::Result<Reply> {
        loop {
            let reply = read_reply(&mut self.0, to_head)?;
            // An interim reply is followed by the one that counts.
            if reply.status >= 200 {
                return Ok(reply);
            }
        }
    }

    pub fn ask(&mut self, request: &[u8]) -> io::Result<Reply> {
        self.send(request)?;
        self.reply(request.starts_with(b"HEAD "))
    }

    /// What else comes until the server closes.
    pub fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => Err(error),
            _ => Ok(rest),
        }
    }
}

impl Reply {
    /// A field's values, joined; none where it is not there.
    pub fn field(&self, name: &str) -> Option<String> {
        let fields = self.fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        let values: Vec<&str> = fields.map(|(_, value)| value.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Whether the server says that it will close.
    pub fn closes(&self) -> bool {
        let output = self.field("Connection").unwrap_or_default().to_ascii_lowercase();
        let says = |word| output.split(',').any(|field| field.trim() == word);
        says("close") || (self.version == "HTTP/1.0" && !says("keep-alive"))
    }
}

fn read_reply(from: &mut impl BufRead, to_head: bool) -> io::Result<Reply> {
    let first = line(from)?;
    let mut words = first.splitn(3, ' ');
    let version = words.next().unwrap_or_default().to_owned();
    let status = words.next().and_then(|word| word.parse().ok());
    let status = status.filter(|_| version == "HTTP/1.1" || version == "HTTP/1.0");
    let status: u16 = status.ok_or_else(|| wrong(format!("no status line: {first:?}")))?;
    let mut fields = Vec::new();
    loop {
        let text = line(from)?;
        if text.is_empty() {
            break;
        }
        let (name, value) =
            text.split_once(':').ok_or_else(|| wrong(format!("no field: {text:?}")))?;
        let token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.is_empty() || !name.bytes().all(token) {
            return Err(wrong(format!("no field name: {text:?}")));
        }
        fields.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut reply = Reply { status, version, fields, body: Vec::new() };
    if status >= 200 && status != 204 && status != 304 && !to_head {
        reply.body = body(from, &reply)?;
    }
    Ok(reply)
}

/// Exactly what the head announces.
fn body(from: &mut impl BufRead, reply: &Reply) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    match reply.field("Content-Length") {
        Some(length) => {
            let bytes: u64 = length.parse().map_err(|_| wrong(format!("length {length:?}")))?;
            from.take(bytes).read_to_end(&mut body)?;
            if body.len() as u64 != bytes {
                return Err(wrong(format!("{} bytes of {bytes}", body.len())));
            }
        }
        None if reply.closes() => {
            from.read_to_end(&mut body)?;
        }
        None => return Err(wrong(format!("a reply without an end: {reply:?}"))),
    }
    Ok(body)
}

/// A line without its end, which has to be CR LF.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(64 * 1024).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let text = bytes.strip_suffix(b"\r\n").map(|text| String::from_utf8(text.to_vec()));
    match text {
        Some(Ok(text)) => Ok(text),
        _ => Err(wrong(format!("no line: {:?}", String::from_utf8_lossy(&bytes)))),
    }
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
