//! Translates arbitrary bytes with all options: no panic, and a second translation changes nothing.

#![no_main]

use hipify::{Options, Target, translate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (switches, text) = input;
    let on = |bit: u8| switches & (1 << bit) != 0;
    let options = Options {
        target: match (on(0), on(1)) {
            (false, false) => Target::Hip,
            (true, false) => Target::Roc,
            _ => Target::Miopen,
        },
        hip_launch_syntax: on(2),
        skip_excluded: on(3),
        as_much_as_possible: on(4),
        experimental: on(5),
        strings: on(6),
        always_include_runtime: on(7),
        ..Options::default()
    };
    let Ok(once) = translate(text, &options) else { return };
    let lines = hipify::Lines::new(text);
    for finding in once.diagnostics.iter().take(16) {
        finding.render("fuzz.cu", &lines, true);
    }
    let _ = translate(&once.text, &options);
});
