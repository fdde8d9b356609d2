//! The options are read once, when the driver is initialised.

use crate::call;
use crate::support::{Cuda, isolated};

/// Sets a variable of this process.
fn set(name: &str, value: &str) {
    // SAFETY: the test's own process has no other thread that reads variables at this time.
    unsafe { std::env::set_var(name, value) };
}

#[test]
fn variables_count_that_a_program_sets_before_it_initialises_the_driver() {
    let test = "options::variables_count_that_a_program_sets_before_it_initialises_the_driver";
    let output = isolated(test, &[("ANYWARP_EXACT", "yes"), ("ANYWARP_WATCHDOG", "soon")], || {
        let cuda = Cuda::open();
        let mut number = 0;
        call!(cuda.cuDriverGetVersion(&mut number));
        set("ANYWARP_DEVICES", "3");
        set("ANYWARP_LOG", "trace");
        call!(cuda.cuInit(0));
        // Too late.
        set("ANYWARP_DEVICES", "2");
        set("ANYWARP_LOG", "off");
        call!(cuda.cuInit(0));
        call!(cuda.cuDeviceGetCount(&mut number));
        assert_eq!(number, 3);
    });
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("cuDeviceGetCount(") && !told.contains("cuDriverGetVersion("), "{told}");
    for complaint in [
        "anywarp: ANYWARP_EXACT=yes is ignored: expected 0 or 1\n",
        "anywarp: ANYWARP_WATCHDOG=soon is ignored: expected a number of seconds\n",
    ] {
        assert_eq!(told.matches(complaint).count(), 1, "{told}");
    }
}
