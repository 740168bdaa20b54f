//! The password where the URL has none: `$PGPASSWORD`, then the password file, as PostgreSQL's own programs do.

use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What a password is looked up for.
pub(crate) struct Login<'a> {
    /// A host, an address, or the directory of a socket.
    pub host: &'a str,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// What was found for a login.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub password: Option<Vec<u8>>,
    /// Why a password file was passed over.
    pub ignored: Option<String>,
}

/// The password that the environment or the password file has for this login.
pub(crate) fn find(login: &Login<'_>) -> Found {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(password) = variable("PGPASSWORD") {
        return Found { password: Some(password.into_vec()), ignored: None };
    }
    let own = || variable("HOME").map(|home| Path::new(&home).join(".pgpass"));
    let file = variable("PGPASSFILE").map(PathBuf::from).or_else(own);
    file.map(|file| in_file(&file, login)).unwrap_or_default()
}

/// No list of passwords that a person writes is larger.
const MIB_MAX: u64 = 1;

/// The password of the first line that fits. A file that others may read is passed over, as PostgreSQL's programs do;
/// so is what is no plain file, as /dev/null.
fn in_file(file: &Path, login: &Login<'_>) -> Found {
    let Some(metadata) = fs::metadata(file).ok().filter(Metadata::is_file) else {
        return Found::default();
    };
    let ignored = |why: String| Found { password: None, ignored: Some(why) };
    if metadata.permissions().mode() & 0o077 != 0 {
        let file = file.display();
        return ignored(format!("{file} is ignored, because others may use it: chmod 600 {file}"));
    }
    match sys::file::read(file, MIB_MAX) {
        Ok(bytes) => {
            let mut lines = bytes.split(|byte| *byte == b'\n');
            Found { password: lines.find_map(|line| of_line(line, login)), ignored: None }
        }
        Err(error) => ignored(format!("{} can't be read: {error}", file.display())),
    }
}

/// The password of a line `host:port:database:user:password`, if it is for this login.
fn of_line(line: &[u8], login: &Login<'_>) -> Option<Vec<u8>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.starts_with(b"#") {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = &fields[..] else { return None };
    // A socket is on this host.
    let own_host = if login.host.starts_with('/') { "localhost" } else { login.host };
    let own_port = login.port.to_string();
    let pairs = [
        (host, [login.host, own_host]),
        (port, [&*own_port, &*own_port]),
        (database, [login.database; 2]),
        (user, [login.user; 2]),
    ];
    let fits = pairs.iter().all(|(field, own)| {
        field.as_slice() == b"*" || own.iter().any(|own| own.as_bytes() == field.as_slice())
    });
    fits.then(|| password.clone())
}

/// The fields between colons; a backslash takes the next character as it is. A password may have colons in it.
fn fields(line: &[u8]) -> Vec<Vec<u8>> {
    let mut fields = vec![Vec::new()];
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => fields.last_mut().into_iter().for_each(|field| field.extend(bytes.next())),
            b':' if fields.len() < 5 => fields.push(Vec::new()),
            byte => fields.last_mut().into_iter().for_each(|field| field.push(byte)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: Login<'_> = Login { host: "db.lab", port: 5432, database: "perf", user: "me" };

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let password = |line: &str| {
            let password = of_line(line.as_bytes(), &LOGIN)?;
            Some(String::from_utf8(password).unwrap())
        };
        assert_eq!(password("db.lab:5432:perf:me:secret").as_deref(), Some("secret"));
        assert_eq!(password("db.lab:5432:perf:me:secret\r").as_deref(), Some("secret"));
        assert_eq!(password("*:*:*:me:it's:a:secret").as_deref(), Some("it's:a:secret"));
        assert_eq!(password(r"db.lab:5432:perf:me:a\:b\\c").as_deref(), Some(r"a:b\c"));
        for unfit in ["db.lab:5433:perf:me:x", "db:*:*:*:x", "# db.lab:5432:perf:me:x", "x", ""] {
            assert_eq!(password(unfit), None, "{unfit}");
        }
        let socket = Login { host: "/run/postgresql", ..LOGIN };
        assert_eq!(of_line(b"localhost:*:*:*:x", &socket).as_deref(), Some(&b"x"[..]));
        assert_eq!(of_line(b"*:*:*:*:\xff", &LOGIN), Some(vec![0xff]), "bytes, of any encoding");
    }

    #[test]
    fn a_file_that_others_may_use_is_passed_over_with_a_reason() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pgpass");
        assert_eq!(in_file(&file, &LOGIN), Found::default());
        fs::write(&file, b"other:*:*:*:\xff\n*:*:*:me:secret\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let Found { password, ignored } = in_file(&file, &LOGIN);
        assert!(password.is_none() && ignored.unwrap().contains("chmod 600"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(in_file(&file, &LOGIN).password.as_deref(), Some(&b"secret"[..]));
        for path in [Path::new("/dev/null"), directory.path()] {
            assert_eq!(in_file(path, &LOGIN), Found::default(), "no plain file is none");
        }
    }
}
