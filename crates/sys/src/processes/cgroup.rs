//! The control groups of a process: where the files of a controller are, in both versions.
//!
//! A limit of any group above holds as well. In a container, the groups above its own can't be seen.

use std::fmt::Display;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The version of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// A hierarchy for each controller.
    V1,
    /// One for all.
    V2,
}

/// [`groups_of`] this process.
pub fn groups(root: &Path, controller: &str) -> Option<(Version, Vec<PathBuf>)> {
    groups_of("self", root, controller)
}

/// The directories of the process's group of a controller and of the groups above it, as far as they are mounted here, with
/// the version that has the controller. The files of /proc and of the mounts are below `root`.
pub fn groups_of(
    process: impl Display,
    root: &Path,
    controller: &str,
) -> Option<(Version, Vec<PathBuf>)> {
    let own = read_to_string(root.join(format!("proc/{process}/cgroup"))).ok()?;
    let mounts = read_to_string(root.join("proc/self/mountinfo")).ok()?;
    let mut v2 = None;
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        if controllers.is_empty() {
            v2 = Some(path);
        } else if controllers.split(',').any(|name| name == controller) {
            let is_mount = |kind: &str, options: &str| {
                kind == "cgroup" && options.split(',').any(|option| option == controller)
            };
            return Some((Version::V1, mounted(root, &mounts, path, is_mount)?));
        }
    }
    Some((Version::V2, mounted(root, &mounts, v2?, |kind, _| kind == "cgroup2")?))
}

/// Whether the CPU quota of this group was ever used up.
pub fn has_throttled(directory: &Path) -> bool {
    let text = read_to_string(directory.join("cpu.stat")).unwrap_or_default();
    let periods = text.lines().find_map(|line| line.strip_prefix("nr_throttled "));
    periods.is_some_and(|periods| periods.trim() != "0")
}

/// The directories of the group `path` and of those above it, where the first mount that shows it and that `is_mount` accepts,
/// by its type and its options, has them.
fn mounted(
    root: &Path,
    mounts: &str,
    path: &str,
    is_mount: impl Fn(&str, &str) -> bool,
) -> Option<Vec<PathBuf>> {
    let is_above = |part: &str| part == "..";
    mounts.lines().find_map(|line| {
        // 32 31 0:29 /group /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
        let (mount, of_kind) = line.split_once(" - ")?;
        let mut of_kind = of_kind.split(' ');
        let (kind, options) = (of_kind.next()?, of_kind.nth(1)?);
        let mut mount = mount.split(' ').skip(3);
        let (mounted_group, point) = (mount.next()?, mount.next()?);
        let below = Path::new(path).strip_prefix(mounted_group).ok()?;
        // Outside of the process's namespace of groups.
        if !is_mount(kind, options) || path.split('/').any(is_above) {
            return None;
        }
        let point = root.join(point.trim_start_matches('/'));
        let own = point.join(below);
        let all = own.ancestors().take_while(|group| group.starts_with(&point));
        own.is_dir().then(|| all.map(Path::to_path_buf).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn a_group_has_throttled_once_a_quota_was_used_up() {
        let group = tempfile::tempdir().unwrap();
        let says = |text: &str| {
            write(group.path().join("cpu.stat"), text).unwrap();
            has_throttled(group.path())
        };
        assert!(!has_throttled(group.path()), "a kernel without quotas");
        assert!(!says("nr_periods 9\nnr_throttled 0\n") && !says("usage_usec 9\n"));
        assert!(says("nr_periods 9\nnr_throttled 3\nthrottled_usec 100\n"));
    }

    #[test]
    fn the_control_group_is_found_in_both_versions() {
        let version_1 = "1 0 0:1 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";
        let version_2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        let container = "1 0 0:1 /docker/1 /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n";
        let root = tempfile::tempdir().unwrap();
        let own = |own: &str, mounts: &str| {
            let proc = root.path().join("proc/self");
            create_dir_all(&proc).unwrap();
            write(proc.join("cgroup"), own).unwrap();
            write(proc.join("mountinfo"), mounts).unwrap();
            let (version, all) = groups(root.path(), "pids")?;
            let own = all[0].strip_prefix(root.path()).unwrap();
            Some((version, own.display().to_string()))
        };
        for group in ["pids/a/b", "user.slice/x"] {
            create_dir_all(root.path().join("sys/fs/cgroup").join(group)).unwrap();
        }
        assert_eq!(
            own("8:pids:/a/b\n4:cpu,cpuacct:/c\n0::/d\n", version_1),
            Some((Version::V1, "sys/fs/cgroup/pids/a/b".to_owned()))
        );
        assert_eq!(
            own("0::/user.slice/x\n", version_2),
            Some((Version::V2, "sys/fs/cgroup/user.slice/x".to_owned()))
        );
        assert_eq!(
            own("8:pids:/docker/1\n", container),
            Some((Version::V1, "sys/fs/cgroup/pids".to_owned()))
        );
        assert_eq!(own("", version_2), None);
    }
}
