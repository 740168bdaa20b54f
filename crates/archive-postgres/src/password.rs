//! The password where the URL has none: `$PGPASSWORD`, then the password file, as PostgreSQL's own programs do.

use std::fs;
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

/// The password that the environment or the password file has for this login.
pub(crate) fn find(login: &Login<'_>) -> Result<Option<String>, String> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    if let Some(password) = variable("PGPASSWORD") {
        return Ok(Some(password));
    }
    let own = || variable("HOME").map(|home| Path::new(&home).join(".pgpass"));
    let Some(file) = variable("PGPASSFILE").map(PathBuf::from).or_else(own) else {
        return Ok(None);
    };
    in_file(&file, login)
}

/// The password of the first line that fits. A file that others may read is refused, as PostgreSQL's programs do.
fn in_file(file: &Path, login: &Login<'_>) -> Result<Option<String>, String> {
    let Ok(metadata) = fs::metadata(file) else { return Ok(None) };
    if metadata.permissions().mode() & 0o077 != 0 {
        let file = file.display();
        return Err(format!(
            "{file} may be read by others, so no password is taken from it: chmod 600 {file}"
        ));
    }
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(text.lines().find_map(|line| of_line(line, login)))
}

/// The password of a line `host:port:database:user:password`, if it is for this login.
fn of_line(line: &str, login: &Login<'_>) -> Option<String> {
    if line.starts_with('#') {
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
    let fits =
        pairs.iter().all(|(field, own)| field.as_str() == "*" || own.contains(&field.as_str()));
    fits.then(|| password.clone())
}

/// The fields between colons; a backslash takes the next character as it is. A password may have colons in it.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(characters.next())),
            ':' if fields.len() < 5 => fields.push(String::new()),
            character => fields.last_mut().into_iter().for_each(|field| field.push(character)),
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
        let password = |line| of_line(line, &LOGIN);
        assert_eq!(password("db.lab:5432:perf:me:secret").as_deref(), Some("secret"));
        assert_eq!(password("*:*:*:me:it's:a:secret").as_deref(), Some("it's:a:secret"));
        assert_eq!(password(r"db.lab:5432:perf:me:a\:b\\c").as_deref(), Some(r"a:b\c"));
        for unfit in ["db.lab:5433:perf:me:x", "db:*:*:*:x", "# db.lab:5432:perf:me:x", "x", ""] {
            assert_eq!(password(unfit), None, "{unfit}");
        }
        let socket = Login { host: "/run/postgresql", ..LOGIN };
        assert_eq!(of_line("localhost:*:*:*:x", &socket).as_deref(), Some("x"));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pgpass");
        assert_eq!(in_file(&file, &LOGIN), Ok(None));
        fs::write(&file, "other:*:*:*:x\n*:*:*:me:secret\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(in_file(&file, &LOGIN).unwrap_err().contains("chmod 600"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(in_file(&file, &LOGIN), Ok(Some("secret".into())));
    }
}
