//! The table of mechanisms. A new one is one file in this directory and one line here.

use crate::Mechanism;

/// Declares each module and puts its `MECHANISM` into the table, in this order.
macro_rules! table {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every mechanism that knee knows, whether or not it is available here.
        pub static TABLE: &[&Mechanism] = &[$(&$file::MECHANISM,)*];
    };
}

table! {
    select,
    poll,
    ppoll,
    epoll_level,
    epoll_edge,
    epoll_oneshot,
    aio_poll,
    io_uring_oneshot,
    io_uring_multishot,
    sigio,
    signalfd,
    kqueue,
    devpoll,
    event_ports,
    mio,
    polling,
}
