//! URLs: taken apart, looked up, and whether what they name may be loaded.

use crate::address::Address;
use crate::connect::unix_within;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;
use std::{fmt, io};
use sys::sockets::is_own;

/// A URL, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// A name or an address, without the brackets of IPv6.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Whether it is one of `https`.
    pub is_tls: bool,
}

/// As it would be typed, without what is the usual.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.host_header(), self.path)
    }
}

impl Url {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// With one line that says what is wrong with it.
    pub fn parse(typed: &str) -> Result<Url, String> {
        let wrong = |why: &str| Err(format!("`{typed}` is not a URL that can be loaded: {why}"));
        let Some((scheme, rest)) = typed.split_once("://") else {
            return wrong("it begins with http:// or https://");
        };
        let is_tls = scheme.eq_ignore_ascii_case("https");
        if !is_tls && !scheme.eq_ignore_ascii_case("http") {
            return wrong("it begins with http:// or https://");
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return wrong("a user's name has no place in it");
        }
        let (host, port) = match split(authority, default_port(is_tls)) {
            Ok(both) => both,
            Err(why) => return wrong(why),
        };
        if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return wrong("what is no plain character in its path is written as %20");
        }
        let path = if path.starts_with('/') { path.into() } else { format!("/{path}") };
        Ok(Url { host, port, path, is_tls })
    }

    /// The host as a request names it.
    pub fn host_header(&self) -> String {
        // A zone has a meaning on this machine only.
        let host = self.host.split('%').next().unwrap_or_default();
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        if self.port == default_port(self.is_tls) { host } else { format!("{host}:{}", self.port) }
    }

    /// Whether its host is a name, which may have several addresses.
    pub fn has_name(&self) -> bool {
        let host = self.host.split('%').next().unwrap_or_default();
        host.parse::<IpAddr>().is_err()
    }

    /// The addresses of its host, in the order of the system. Refuses those that are neither on this machine nor
    /// private, unless the user `owns` them.
    ///
    /// # Errors
    /// With one line, where it has no address, or one that needs consent.
    pub fn addresses(&self, owns: bool) -> Result<Vec<SocketAddr>, String> {
        let unknown = |why: String| format!("{}: {why}", self.host);
        let name = if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        };
        let addresses = name.to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        if let Some(foreign) = addresses.iter().find(|address| !owns && !is_near(address.ip())) {
            return Err(format!(
                "{} is neither this machine nor at a private address; if its owner agrees, say \
                 --yes-i-own-this-host",
                foreign.ip()
            ));
        }
        if addresses.is_empty() {
            return Err(unknown("it has no address".into()));
        }
        Ok(addresses)
    }
}

/// The first of these addresses that accepts a connection, each given so long.
///
/// # Errors
/// Where none does, with the reason of each.
pub fn accepting<A: Clone + Into<Address>>(
    addresses: &[A],
    patience: Duration,
) -> Result<A, NoneAccepts> {
    let mut failures = Vec::new();
    for candidate in addresses {
        let address = candidate.clone().into();
        let reached = match &address {
            Address::Tcp(address) => TcpStream::connect_timeout(address, patience).map(drop),
            Address::Unix(path) => unix_within(path, patience).map(drop),
        };
        match reached {
            Ok(()) => return Ok(candidate.clone()),
            Err(error) => failures.push((address, error)),
        }
    }
    Err(NoneAccepts(failures))
}

/// No address of a host accepts a connection.
#[derive(Debug)]
pub struct NoneAccepts(pub Vec<(Address, io::Error)>);

impl fmt::Display for NoneAccepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failures = self.0.iter().map(|(address, error)| format!("{address}: {error}"));
        f.write_str(&failures.collect::<Vec<_>>().join("; "))
    }
}

/// The port of a URL that names none.
fn default_port(is_tls: bool) -> u16 {
    if is_tls { 443 } else { 80 }
}

/// A name or an address and a port.
fn split(authority: &str, default_port: u16) -> Result<(String, u16), &'static str> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, port) = rest.split_once(']').ok_or("a [ has no ]")?;
        let plain = host.split('%').next().unwrap_or_default();
        plain.parse::<Ipv6Addr>().map_err(|_| "an address of IPv6 stands between [ and ]")?;
        (host, port)
    } else {
        let at = authority.find(':').unwrap_or(authority.len());
        let (host, port) = authority.split_at(at);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if port.matches(':').count() > 1 {
            return Err("an address of IPv6 stands between [ and ]");
        }
        if host.is_empty() || !host.bytes().all(plain) {
            return Err("it names no host");
        }
        (host, port)
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => default_port,
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            port.parse().ok().filter(|port| *port > 0).ok_or("a port is 1 to 65535")?
        }
        _ => return Err("a port is 1 to 65535"),
    };
    Ok((host.to_owned(), port))
}

/// The metadata service of EC2 over IPv6, at a unique local address.
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Whether an address belongs to this machine or to a private network.
fn is_near(address: IpAddr) -> bool {
    let private = match address.to_canonical() {
        // Not the link-local 169.254.0.0/16: clouds answer there with their metadata service.
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private(),
        IpAddr::V6(ip) if ip == METADATA_V6 => false,
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    };
    // The unspecified address leads here, too.
    private || address.is_unspecified() || is_own(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn parsed(typed: &str) -> Option<(String, u16, String)> {
        Url::parse(typed).ok().map(|url| (url.host_header(), url.port, url.path))
    }

    #[test]
    fn a_url_is_taken_apart() {
        let parts = |host: &str, port, path: &str| Some((host.to_owned(), port, path.to_owned()));
        assert_eq!(parsed("http://127.0.0.1:8080/x?y=1"), parts("127.0.0.1:8080", 8080, "/x?y=1"));
        assert_eq!(parsed("HTTP://example.org"), parts("example.org", 80, "/"));
        assert_eq!(parsed("http://[::1]:81/a#part"), parts("[::1]:81", 81, "/a"));
        assert_eq!(parsed("http://[fe80::1%3]"), parts("[fe80::1]", 80, "/"));
        assert_eq!(parsed("http://h?q"), parts("h", 80, "/?q"));
        assert_eq!(parsed("https://h"), parts("h", 443, "/"));
        assert_eq!(parsed("https://h:80/"), parts("h:80", 80, "/"));
        for typed in ["https://h/x", "http://h:443/", "http://[::1]:81/a?b"] {
            assert_eq!(Url::parse(typed).unwrap().to_string(), typed);
        }
    }

    #[test]
    fn a_wrong_url_is_refused_in_one_line() {
        for (typed, why) in [
            ("127.0.0.1:8080", "http://"),
            ("ftp://h/", "http://"),
            ("http:///x", "no host"),
            ("http://a b/", "no host"),
            ("http://user@h/", "user"),
            ("http://h:0/", "port"),
            ("http://h:99999/", "port"),
            ("http://h:8x/", "port"),
            ("http://::1/", "[ and ]"),
            ("http://[::1/", "no ]"),
            ("http://[zz]/", "IPv6"),
            ("http://h/a b", "%20"),
            ("http://h/ä", "%20"),
        ] {
            let message = Url::parse(typed).unwrap_err();
            assert!(message.contains(why) && !message.contains('\n'), "{typed}: {message}");
        }
    }

    #[test]
    fn only_near_addresses_need_no_consent() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.1",
            "192.168.1.1",
            "::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_near(address.parse().unwrap()), "{address}");
        }
        for far in [
            "203.0.113.1",
            "8.8.8.8",
            "172.32.0.1",
            "2001:db8::1",
            "::ffff:8.8.8.8",
            "169.254.169.254",
            "169.254.1.1",
            "::ffff:169.254.169.254",
            "fd00:ec2::254",
        ] {
            assert!(!is_near(far.parse().unwrap()), "{far}");
        }
        let url = Url::parse("http://203.0.113.1/").unwrap();
        let refused = url.addresses(false).unwrap_err();
        assert!(refused.contains("--yes-i-own-this-host"), "{refused}");
        assert_eq!(url.addresses(true), Ok(vec!["203.0.113.1:80".parse().unwrap()]));
    }

    #[test]
    fn each_address_of_a_name_is_tried() {
        let unused = || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap()
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, address.port()));
        let patience = Duration::from_secs(5);
        // On a machine without IPv6 the first one has no route, elsewhere nothing listens there.
        for all in [[v6, address], [unused(), address], [address, unused()]] {
            assert_eq!(accepting(&all, patience).unwrap(), address);
        }
        let refused = [unused(), unused()];
        let NoneAccepts(failures) = accepting(&refused, patience).unwrap_err();
        let tried: Vec<Address> = failures.iter().map(|(address, _)| address.clone()).collect();
        assert_eq!(tried, refused.map(Address::from));
        assert!(failures.iter().all(|(_, error)| error.kind() == io::ErrorKind::ConnectionRefused));
    }

    #[test]
    fn a_name_is_no_address() {
        let has_name = |typed: &str| Url::parse(typed).unwrap().has_name();
        assert!(has_name("http://localhost:80/") && has_name("http://db.lab/"));
        assert!(!has_name("http://127.0.0.1/") && !has_name("http://[fe80::1%3]/"));
    }
}
