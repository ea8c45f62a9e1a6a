#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| superchunk_fuzzing::run("zlib_zstd", input));
