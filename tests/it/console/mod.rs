//! The console in a browser, as its users see it.

mod browser;
mod responses;
mod sharing;
mod walkthrough;
