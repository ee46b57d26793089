//! The loader of OFBiz files.

mod files;
mod format;
