//! The target `schema`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orderql_fuzz::targets::schema::run(data));
