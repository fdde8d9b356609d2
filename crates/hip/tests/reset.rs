//! A reset frees everything on a device.

mod library;

type One = unsafe extern "C" fn(u64) -> u32;
type Made = unsafe extern "C" fn(*mut u64) -> u32;
type Sized = unsafe extern "C" fn(*mut u64, usize) -> u32;

const INVALID_VALUE: u32 = 1;
const CONTEXT_IS_DESTROYED: u32 = 709;

#[test]
fn a_reset_ends_what_the_device_holds_and_all_begins_anew() {
    // SAFETY: the front's initialiser opens the library beside it, whose initialisers do nothing.
    let front = unsafe { libloading::Library::new(library::front(6)) }.expect("the front");
    // SAFETY: the functions have these signatures in HIP's header, and pointers refer to live variables.
    unsafe {
        let alloc = front.get::<Sized>(b"hipMalloc\0").expect("a function");
        let free = front.get::<One>(b"hipFree\0").expect("a function");
        let stream = front.get::<Made>(b"hipStreamCreate\0").expect("a function");
        let query = front.get::<One>(b"hipStreamQuery\0").expect("a function");
        let reset = front.get::<unsafe extern "C" fn() -> u32>(b"hipDeviceReset\0").expect("a function");
        let memory_info = front
            .get::<unsafe extern "C" fn(*mut u64, *mut u64) -> u32>(b"hipMemGetInfo\0")
            .expect("a function");
        let (mut address, mut handle) = (0, 0);
        let (mut before, mut after, mut total) = (0, 0, 0);
        assert_eq!(memory_info(&raw mut before, &raw mut total), 0);
        assert_eq!(alloc(&raw mut address, 1 << 20), 0);
        assert_eq!(stream(&raw mut handle), 0);
        assert_eq!(query(handle), 0);
        assert_eq!(reset(), 0);
        assert_eq!(free(address), INVALID_VALUE);
        assert_eq!(query(handle), CONTEXT_IS_DESTROYED);
        assert_eq!(memory_info(&raw mut after, &raw mut total), 0);
        assert_eq!(before, after, "the memory was given back");
        assert_eq!(alloc(&raw mut address, 64), 0);
        assert_eq!(free(address), 0);
    }
}
