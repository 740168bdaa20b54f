//! A driver, and what it needs to begin.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::sending::Way;
use crate::workers::context::Context;
use crate::workers::wakeup::Wakeup;
use crate::{Config, Error};

/// A worker that is ready to serve.
pub(crate) trait Driver {
    /// Serves until an order ends the worker.
    fn run(self: Box<Self>) -> Result<(), Error>;
}

/// What a driver needs to begin.
pub(crate) struct Setup {
    pub wakeup: Arc<Wakeup>,
    pub context: Context,
    pub listener: OwnedFd,
    pub config: Config,
    pub way: &'static Way,
}
