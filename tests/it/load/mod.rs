//! The loader of OFBiz's XML files.

mod errors;
mod format;
pub mod loading;
mod ofbiz_files;
