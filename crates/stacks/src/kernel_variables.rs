//! What variables of the running kernel hold: `kallsyms` says where they are, and `/proc/kcore` has the kernel's memory.

use crate::kernel_memory::KernelMemory;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

/// The first eight bytes of each of these variables or functions of the kernel that there are, by name.
///
/// # Errors
/// The kernel shows its memory, or the addresses in it, to root only, and some kernels to none.
pub fn kernel_variables(names: &[&str]) -> io::Result<BTreeMap<String, u64>> {
    let symbols = File::open("/proc/kallsyms")?;
    let addresses = addresses(BufReader::new(symbols), names)?;
    let memory = KernelMemory::open(File::open("/proc/kcore")?)?;
    let word = |(name, address): (String, u64)| {
        let bytes = memory.read(address, 8)?;
        let bytes: Result<[u8; 8], _> = bytes.as_slice().try_into();
        let word = bytes.map_err(|_| io::Error::other(format!("{name} is cut off")))?;
        Ok((name, u64::from_ne_bytes(word)))
    };
    addresses.into_iter().map(word).collect()
}

/// The addresses of those of `names` that `kallsyms` lists. Modules, which are behind the kernel itself, are not read.
fn addresses(kallsyms: impl BufRead, names: &[&str]) -> io::Result<BTreeMap<String, u64>> {
    let mut addresses = BTreeMap::new();
    for line in kallsyms.lines() {
        let line = line?;
        let mut words = line.split(' ');
        let (Some(address), Some(_), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if name.contains('\t') || addresses.len() == names.len() {
            break;
        }
        if names.contains(&name) {
            let address = u64::from_str_radix(address, 16).unwrap_or_default();
            if address == 0 {
                return Err(io::Error::other("the kernel hides its addresses"));
            }
            addresses.insert(name.to_owned(), address);
        }
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_by_their_whole_names() {
        let list = "ffffffff81000000 T _text\nffffffff82c0a1b0 D virt_spin_lock_key\n\
                    ffffffff82c0a1b8 d virt_spin_lock_key_other\nffffffffc0000000 d late\t[module]\n";
        let listed = |names: &[&str]| addresses(list.as_bytes(), names).unwrap();
        assert_eq!(
            listed(&["virt_spin_lock_key", "absent", "late"]),
            BTreeMap::from([("virt_spin_lock_key".to_owned(), 0xffff_ffff_82c0_a1b0)])
        );
        let hidden = "0000000000000000 D virt_spin_lock_key\n";
        assert!(addresses(hidden.as_bytes(), &["virt_spin_lock_key"]).is_err());
    }
}
