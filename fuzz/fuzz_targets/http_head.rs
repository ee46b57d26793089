//! The target `http_head`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orderql_fuzz::targets::http_head::run(data));
