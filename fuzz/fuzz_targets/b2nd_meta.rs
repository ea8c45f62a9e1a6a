#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| superchunk_fuzzing::run("b2nd_meta", input));
