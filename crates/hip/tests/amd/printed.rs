//! Output of `printf` that is compiled with `-mprintf-kind=buffered`. The kernels are `printed.hip`.

use std::ptr::null;

use crate::support::*;
use crate::{LAUNCH_FAILURE, Object, at, launch, ready};

#[test]
fn kernels_leave_output_in_a_buffer() {
    const NAME: &str = "printed::kernels_leave_output_in_a_buffer";
    if !ready() {
        return;
    }
    let ways =
        [("gfx906", "compiled", "5"), ("gfx1100", "interpreter", "5"), ("gfx1100", "interpreter", "4")];
    for (arch, engine, version) in ways {
        let settings = [
            ("ANYWARP_HIP_ARCH", arch),
            ("ANYWARP_ENGINE", engine),
            ("ANYWARP_CACHE_DIR", ""),
            ("VERSION", version),
        ];
        let Some([told, _]) = output_of_process(NAME, &settings) else {
            let hip = hip();
            let arch = std::env::var("ANYWARP_HIP_ARCH").expect("an architecture");
            let version = std::env::var("VERSION").expect("a version of code objects");
            let place = if version == "4" { "-DBUFFER=3" } else { "-DBUFFER=9" };
            let version = format!("-mcode-object-version={version}");
            let options = ["--no-gpu-bundle-output", &version, place, "-mprintf-kind=buffered"];
            let (bytes, mut module) = (Object::of("printed.hip", &arch, &options).bytes(), 0);
            assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
            let (value, text, format) = (7i32, c("a text"), c("own format: %3d %g\n"));
            let (text_at, format_at) = (text.as_ptr() as P, format.as_ptr() as P);
            let print = function(&hip, module, "print");
            launch(&hip, print, [1; 3], [4, 1, 1], 0, &[at(&value), at(&text_at), at(&format_at)]);
            let (fail, params) = (function(&hip, module, "fail"), [at(&value)]);
            let code = (hip.hipModuleLaunchKernel)(fail, 1, 1, 1, 2, 1, 1, 0, 0, params.as_ptr(), null());
            assert_eq!((code, (hip.hipDeviceSynchronize)()), (0, LAUNCH_FAILURE));
            return;
        };
        let all = [
            "first: 7",
            "a text, a constant: 3.50 c 10000000000 0x1234 7     s|%",
            "own format:   7 2.5",
            "first: 7",
            "before 7",
            "before 8",
        ];
        let lines: Vec<&str> = told.lines().filter(|line| all.contains(line)).collect();
        assert_eq!(lines, all, "{settings:?}: {told}");
    }
}
