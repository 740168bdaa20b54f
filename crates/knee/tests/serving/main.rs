//! `knee httpd` and `knee load`.

#[path = "../common/mod.rs"]
mod common;

mod http_pages;
mod httpd_clients;
mod httpd_ending;
mod load;
mod load_behaviour;
mod load_recorded;
mod load_tls;
mod load_together;
mod quirks;
