//! The target `json_out`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| orderql_fuzz::targets::json_out::run(data));
