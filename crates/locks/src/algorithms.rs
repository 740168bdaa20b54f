//! The table of locks. A new one is one file in this directory and one line here.

use crate::{Algorithm, Lock, Visitor};

/// Declares each module, puts the row of its type into the table, in this order, and leads from its name
/// to its type.
macro_rules! table {
    ($($file:ident::$Type:ident,)*) => {
        $(pub mod $file;)*

        /// Every lock that knee knows, whether or not it is available here.
        pub static TABLE: &[&Algorithm] = &[$(<$file::$Type as Lock>::ALGORITHM,)*];

        /// Does something with the type of the lock of this name, if there is one.
        ///
        /// ```
        /// use locks::{Lock, Setup, Visitor, visit};
        ///
        /// struct Count;
        ///
        /// impl Visitor for Count {
        ///     type Output = String;
        ///
        ///     fn visit<L: Lock>(self) -> String {
        ///         let lock = L::new(&Setup { seats: 1, spins: Setup::SPINS });
        ///         let mut seat = lock.seat();
        ///         let held: u32 = (0..10).map(|_| lock.hold(&mut seat, || 1)).sum();
        ///         format!("{} was held {held} times", L::ALGORITHM.name)
        ///     }
        /// }
        ///
        /// assert_eq!(visit("mcs", Count).as_deref(), Some("mcs was held 10 times"));
        /// assert_eq!(visit("pad", Count), None);
        /// ```
        pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Output> {
            $(if name == <$file::$Type as Lock>::ALGORITHM.name {
                return Some(visitor.visit::<$file::$Type>());
            })*
            None
        }
    };
}

table! {
    byte::Byte,
    ttas::Ttas,
    ticket::Ticket,
    ticket_proportional::TicketProportional,
    mcs::Mcs,
    clh::Clh,
    qspinlock::Qspinlock,
    byte_block::ByteBlock,
    ticket_block::TicketBlock,
    futex::Futex,
    pthread_mutex::PthreadMutex,
    pthread_spin::PthreadSpin,
    std_mutex::StdMutex,
    parking_lot::ParkingLot,
    broken::Broken,
}
