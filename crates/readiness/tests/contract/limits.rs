//! Limits of the system that a row runs into are named in its error.

use std::io::ErrorKind;

use crate::rows;
use readiness::contract::shared;

#[test]
fn aio_poll_names_the_system_wide_limit() {
    let _guard = shared();
    for row in rows().filter(|row| row.name == "aio-poll") {
        for capacity in [0x1000_0000, usize::MAX] {
            let refusal = (row.open)(capacity).err().expect("more than any system allows");
            assert_eq!(refusal.kind(), ErrorKind::QuotaExceeded, "{refusal}");
            assert!(refusal.to_string().contains("fs.aio-max-nr"), "{refusal}");
        }
    }
}
