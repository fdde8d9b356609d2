//! A process that sees no device.

mod library;

type One = unsafe extern "C" fn(*mut u64) -> u32;
type Two = unsafe extern "C" fn(*mut u64, u64) -> u32;

const NO_DEVICE: u32 = 100;

#[test]
fn every_function_says_that_there_is_no_device() {
    // SAFETY: this test is the only one of the process, and the library, which reads the variable, is loaded
    // later.
    unsafe { std::env::set_var("CUDA_VISIBLE_DEVICES", "") };
    for number in [5, 6, 7] {
        // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
        let front = unsafe { libloading::Library::new(library::front(number)) }.expect("the front");
        let mut place = u64::MAX;
        // SAFETY: the functions have these signatures (or ignore some arguments), and `place` is a live
        // variable.
        unsafe {
            let count = front.get::<One>(b"hipGetDeviceCount\0").expect("a function");
            assert_eq!(count(&raw mut place), NO_DEVICE);
            assert_eq!(place as u32, 0, "the count is reported all the same");
            for name in ["hipGetDevice", "hipStreamCreate", "hipEventCreate"] {
                let function = front.get::<One>(name.as_bytes()).expect("a function");
                assert_eq!(function(&raw mut place), NO_DEVICE, "{name}");
            }
            for name in [
                "hipMalloc",
                "hipHostMalloc",
                "hipDeviceGet",
                "hipMallocAsync",
                "hipGetDevicePropertiesR0600",
            ] {
                let function = front.get::<Two>(name.as_bytes()).expect("a function");
                assert_eq!(function(&raw mut place, 64), NO_DEVICE, "{name}");
            }
            let select =
                front.get::<unsafe extern "C" fn(i32) -> u32>(b"hipSetDevice\0").expect("a function");
            assert_eq!(select(0), NO_DEVICE);
        }
    }
}
