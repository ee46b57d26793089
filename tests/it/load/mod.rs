//! The loader of OFBiz's and Moqui's XML files.

mod errors;
mod format;
pub mod loading;
mod moqui_format;
mod ofbiz_files;
