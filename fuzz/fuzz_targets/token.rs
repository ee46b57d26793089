//! The target `token`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orderql_fuzz::targets::token::run(data));
