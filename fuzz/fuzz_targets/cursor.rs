//! The target `cursor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orderql_fuzz::targets::cursor::run(data));
