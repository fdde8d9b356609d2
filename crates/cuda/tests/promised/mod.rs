//! What device attributes promise, and calls that an H100's driver accepts (580.159; two of them for peers).

use std::ffi::{CString, c_void};
use std::os::fd::AsRawFd;
use std::ptr::null_mut;

use crate::call;
use crate::support::{AccessDesc, AllocationProp, Cuda, HEAD, P, PoolProps, isolated, status};

const UNSUPPORTED: u32 = 217;
const ALREADY_ENABLED: u32 = 704;
const NOT_ENABLED: u32 = 705;
const INVALID_CONTEXT: u32 = 201;
const DEVICE: u32 = 1;
const HOST: u32 = 2;
const HOST_NUMA: u32 = 3;

#[test]
fn peers_are_enabled_once() {
    isolated("promised::peers_are_enabled_once", &[("ANYWARP_DEVICES", "2")], || {
        let cuda = Cuda::start();
        let (mut own, mut peer, mut other, mut second) = (0, 0, 0, 0);
        call!(cuda.cuDevicePrimaryCtxRetain(&mut own, 0));
        call!(cuda.cuDevicePrimaryCtxRetain(&mut peer, 1));
        call!(cuda.cuCtxDisablePeerAccess(peer) => NOT_ENABLED);
        call!(cuda.cuCtxEnablePeerAccess(peer, 0));
        call!(cuda.cuCtxEnablePeerAccess(peer, 0) => ALREADY_ENABLED);
        call!(cuda.cuCtxEnablePeerAccess(peer, 1) => status::INVALID_VALUE);
        call!(cuda.cuCtxDisablePeerAccess(peer));
        call!(cuda.cuCtxDisablePeerAccess(peer) => NOT_ENABLED);
        call!(cuda.cuCtxEnablePeerAccess(peer, 0));
        call!(cuda.cuCtxEnablePeerAccess(own, 0) => UNSUPPORTED);
        call!(cuda.cuCtxDisablePeerAccess(own) => NOT_ENABLED);
        call!(cuda.cuCtxEnablePeerAccess(0, 0) => INVALID_CONTEXT);
        call!(cuda.cuCtxDisablePeerAccess(0) => INVALID_CONTEXT);
        // Another context of the device has its own peers, and so has another context of the peer.
        call!(cuda.cuCtxCreate_v2(&mut other, 0, 0));
        call!(cuda.cuCtxEnablePeerAccess(peer, 0));
        call!(cuda.cuCtxEnablePeerAccess(peer, 0) => ALREADY_ENABLED);
        call!(cuda.cuCtxEnablePeerAccess(own, 0) => UNSUPPORTED);
        call!(cuda.cuCtxDisablePeerAccess(peer));
        call!(cuda.cuCtxDestroy_v2(other));
        call!(cuda.cuCtxCreate_v2(&mut second, 0, 1));
        call!(cuda.cuCtxSetCurrent(own));
        call!(cuda.cuCtxEnablePeerAccess(second, 0));
        call!(cuda.cuCtxEnablePeerAccess(second, 0) => ALREADY_ENABLED);
        call!(cuda.cuCtxDestroy_v2(second));
        call!(cuda.cuCtxEnablePeerAccess(peer, 0) => ALREADY_ENABLED);
        call!(cuda.cuDevicePrimaryCtxReset_v2(1));
        call!(cuda.cuCtxDisablePeerAccess(peer) => status::CONTEXT_IS_DESTROYED);
        call!(cuda.cuCtxEnablePeerAccess(peer, 0) => status::CONTEXT_IS_DESTROYED);
    });
}

/// Maps can be encoded for every address, as by the hardware's driver.
#[test]
fn tensor_maps_are_made_at_every_address() {
    let cuda = Cuda::start();
    let mut words = [0u64; 64];
    let base = words.as_mut_ptr().cast::<u8>();
    let (sizes, strides, ones) = ([64u64, 64], [256u64], [1u32; 2]);
    let mut made = Vec::new();
    for offset in 0..=64 {
        let map = base.wrapping_add(offset);
        call!(cuda.cuTensorMapEncodeTiled(
            map.cast(),
            7,
            2,
            0x1_0000,
            sizes.as_ptr(),
            strides.as_ptr(),
            [8u32; 2].as_ptr(),
            ones.as_ptr(),
            0,
            0,
            0,
            0
        ));
        // SAFETY: 128 bytes at an offset of at most 64 in 512 bytes.
        made.push(unsafe { map.cast::<[u64; 16]>().read_unaligned() });
    }
    assert!(made[0] != [0; 16] && made.iter().all(|map| *map == made[0]));
}

/// Every option that the driver of CUDA 13.0 accepts with these values, and the one of later drivers that the
/// programming guide uses.
#[test]
fn options_of_the_jit_are_taken() {
    let cuda = Cuda::start();
    let text = std::ffi::CString::new(format!("{HEAD}.visible .entry k() {{ ret; }}\n")).expect("no NUL");
    for option in
        [7u32, 8, 10, 11, 12, 13, 16, 20, 21, 22, 23, 24, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37]
    {
        let answer = if option < 36 { 0 } else { status::INVALID_VALUE };
        for value in [0usize, 1, 8] {
            let (mut options, mut module) = ([option], 0);
            let mut values: [*mut c_void; 1] = [std::ptr::without_provenance_mut(value)];
            call!(cuda.cuModuleLoadDataEx(
                &mut module, text.as_ptr().cast(), 1, options.as_mut_ptr(), values.as_mut_ptr()
            ) => answer);
        }
    }
    // Empty lists of names.
    for option in [25u32, 27] {
        let (mut options, mut values, mut module) = ([option], [null_mut::<c_void>()], 0);
        call!(cuda.cuModuleLoadDataEx(
            &mut module, text.as_ptr().cast(), 1, options.as_mut_ptr(), values.as_mut_ptr()
        ) => status::INVALID_VALUE);
    }
}

/// The answers of driver 580 on an H100 for text of `sm_70` and each `CU_JIT_TARGET`: to the new link, and to
/// the text.
#[test]
fn links_are_made_for_other_devices() {
    const TARGET: u32 = 9;
    const INVALID_PTX: u32 = 218;
    let cuda = Cuda::start();
    let text = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n\0";
    let linked = |targets: &[usize], made: u32, added: u32| {
        for &target in targets {
            let (mut options, mut link) = ([TARGET], 0);
            let mut values: [*mut c_void; 1] = [std::ptr::without_provenance_mut(target)];
            call!(cuda.cuLinkCreate_v2(1, options.as_mut_ptr(), values.as_mut_ptr(), &mut link) => made);
            if made != 0 {
                continue;
            }
            let (ptx, none) = (1, null_mut());
            call!(cuda.cuLinkAddData_v2(
                link, ptx, text.as_ptr().cast_mut().cast(), text.len(), c"k".as_ptr(), 0, null_mut(), none
            ) => added);
            if added == 0 {
                let (mut image, mut size) = (null_mut(), 0);
                call!(cuda.cuLinkComplete(link, &mut image, &mut size));
                assert!(size > 0, "{target}");
            }
            call!(cuda.cuLinkDestroy(link));
        }
    };
    linked(&[10, 11, 12, 13, 20, 21, 73, 99, 130, 200], status::INVALID_VALUE, 0);
    linked(&[30, 32, 35, 37, 53, 62], 0, status::INVALID_IMAGE);
    linked(&[50, 52, 60, 61], 0, INVALID_PTX);
    linked(&[70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121], 0, 0);
}

/// Kernels of a linked image report the register limit that was passed to the linker, whether the image is
/// loaded as a module or as a library.
#[test]
fn links_keep_the_limit_on_registers() {
    const MAX_REGISTERS: u32 = 0;
    const REGISTERS: i32 = 4;
    let cuda = Cuda::start();
    let loads: String = (0..48).map(|i| format!("ld.global.u32 %r{i}, [%d+{}];\n", 4 * i)).collect();
    let sums: String = (1..48).map(|i| format!("add.u32 %r0, %r0, %r{i};\n")).collect();
    let text = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {{ .reg .b64 %d; .reg .b32 %r<48>;\n\
         ld.param.u64 %d, [p];\n{loads}{sums}st.global.u32 [%d], %r0;\nret; }}\n\0"
    );
    let registers = |most: Option<usize>| {
        let (mut options, mut link) = ([MAX_REGISTERS], 0);
        let mut values: [*mut c_void; 1] = [std::ptr::without_provenance_mut(most.unwrap_or(0))];
        let count = u32::from(most.is_some());
        call!(cuda.cuLinkCreate_v2(count, options.as_mut_ptr(), values.as_mut_ptr(), &mut link));
        let (ptx, none) = (1, null_mut());
        call!(cuda.cuLinkAddData_v2(
            link,
            ptx,
            text.as_ptr().cast_mut().cast(),
            text.len(),
            c"k".as_ptr(),
            0,
            null_mut(),
            none
        ));
        let (mut image, mut size) = (null_mut(), 0);
        call!(cuda.cuLinkComplete(link, &mut image, &mut size));
        let (mut module, mut kernel, mut registers) = (0, 0, 0);
        call!(cuda.cuModuleLoadData(&mut module, image.cast()));
        call!(cuda.cuModuleGetFunction(&mut kernel, module, c"k".as_ptr()));
        call!(cuda.cuFuncGetAttribute(&mut registers, REGISTERS, kernel));
        let (mut library, mut kernel, mut of_library) = (0, 0, 0);
        let (none, nothing) = (null_mut(), null_mut());
        call!(cuda.cuLibraryLoadData(&mut library, image.cast(), none, nothing, 0, none, nothing, 0));
        call!(cuda.cuLibraryGetKernel(&mut kernel, library, c"k".as_ptr()));
        call!(cuda.cuKernelGetAttribute(&mut of_library, REGISTERS, kernel, 0));
        call!(cuda.cuLinkDestroy(link));
        [registers, of_library]
    };
    let [of_module, of_library] = registers(None);
    assert!(of_module > 32 && of_library == of_module, "{of_module}, {of_library}");
    assert_eq!(registers(Some(32)), [32, 32]);
}

fn attribute(cuda: &Cuda, number: i32) -> i32 {
    let mut value = -1;
    call!(cuda.cuDeviceGetAttribute(&mut value, number, 0));
    value
}

/// Features that attributes announce work.
#[test]
fn attributes_and_what_they_promise() {
    let cuda = Cuda::start();
    // The hardware's pools can also be shared by fabric handles: 9.
    for number in [102, 103, 119, 123, 125, 141, 142, 144, 145] {
        assert_eq!(attribute(&cuda, number), 1, "{number}");
    }
    // Memory on the host and on its node, at addresses that the program chooses, and by descriptor; only what
    // is on a node has one.
    for (location, handle_types) in [([DEVICE, 0], 1), ([HOST, 0], 0), ([HOST_NUMA, 0], 1)] {
        let wanted = AllocationProp { kind: 1, handle_types, location, meta_data: 0, flags: [0; 8] };
        let (mut memory, mut address, size) = (0, 0, 2 << 20);
        call!(cuda.cuMemCreate(&mut memory, size, &wanted, 0));
        call!(cuda.cuMemAddressReserve(&mut address, size, 0, 0, 0));
        call!(cuda.cuMemMap(address, size, 0, memory, 0));
        let access = AccessDesc { location: [DEVICE, 0], flags: 3 };
        call!(cuda.cuMemSetAccess(address, size, &access, 1));
        call!(cuda.cuMemsetD32_v2(address, 7, 16));
        assert_eq!(cuda.download::<u32>(address, 16), [7; 16]);
        if handle_types != 0 {
            let mut descriptor = -1;
            call!(cuda.cuMemExportToShareableHandle(&mut descriptor, memory, 1, 0));
            // SAFETY: the descriptor is this test's.
            assert_eq!(unsafe { libc::close(descriptor) }, 0);
        }
        call!(cuda.cuMemUnmap(address, size));
        call!(cuda.cuMemRelease(memory));
    }
    let mut event = 0;
    // Interprocess events must have timing disabled.
    call!(cuda.cuEventCreate(&mut event, 4 | 2));
    let mut name = [0u64; 8];
    call!(cuda.cuIpcGetEventHandle(name.as_mut_ptr(), event));
    assert_ne!(name, [0; 8]);
}

fn pointer_attribute(cuda: &Cuda, number: u32, address: P) -> u64 {
    let mut value = 0u64;
    call!(cuda.cuPointerGetAttribute(std::ptr::from_mut(&mut value).cast(), number, address));
    value
}

/// The other process: opens the parent's pool, reads its contents, and writes.
fn use_the_pool_of(parent: &str) {
    let cuda = Cuda::start();
    let mut parts = parent.split(' ').map(|number| number.parse::<u64>().expect("a number"));
    let mut next = || parts.next().expect("a number");
    let (process, descriptor, kind) = (next(), next(), next() as u32);
    let [data, foreign]: [[u64; 8]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| next()));
    // A real program would send the descriptor through a socket.
    let path = format!("/proc/{process}/fd/{descriptor}");
    let file = std::fs::File::options().read(true).write(true).open(path).expect("the parent's descriptor");
    let own = u64::try_from(file.as_raw_fd()).expect("a descriptor");
    let (mut pool, mut address) = (0, 0);
    call!(cuda.cuMemPoolImportFromShareableHandle(&mut pool, own, 1, 0));
    call!(cuda.cuMemAllocFromPoolAsync(&mut address, 64, pool, 0) => status::INVALID_VALUE);
    // No context is needed: programs open memory where they read it from a pipe.
    let mut own = 0;
    call!(cuda.cuCtxGetCurrent(&mut own));
    call!(cuda.cuCtxSetCurrent(0));
    call!(cuda.cuMemPoolImportPointer(&mut address, pool, foreign.as_ptr()) => status::INVALID_VALUE);
    call!(cuda.cuMemPoolImportPointer(&mut address, pool, data.as_ptr()));
    call!(cuda.cuCtxSetCurrent(own));
    assert_eq!(cuda.download::<u32>(address, 4), [1, 2, 3, 4]);
    // Memory type, pool, host address.
    let told = |number: u32| pointer_attribute(&cuda, number, address);
    assert_eq!([told(2), told(17)], [if kind == DEVICE { 2 } else { 1 }, pool]);
    if kind != DEVICE {
        assert_eq!(told(4), address);
    }
    call!(cuda.cuMemsetD32_v2(address, 9, 2));
    call!(cuda.cuCtxSynchronize());
    // Freed in one stream while another is going to read it: the memory stays mapped. Streams cannot wait for
    // its words themselves.
    let (mut waiting, mut other, mut words) = (0, 0, 0);
    for stream in [&mut waiting, &mut other] {
        call!(cuda.cuStreamCreate(stream, 1));
    }
    call!(cuda.cuMemAlloc_v2(&mut words, 8));
    call!(cuda.cuMemsetD32_v2(words, 0, 2));
    call!(cuda.cuStreamWaitValue32_v2(waiting, address + 8, 5, 0) => status::INVALID_VALUE);
    call!(cuda.cuStreamWaitValue32_v2(waiting, words, 5, 0));
    call!(cuda.cuMemcpyAsync(words + 4, address + 8, 4, waiting));
    call!(cuda.cuMemFreeAsync(address, other));
    call!(cuda.cuStreamSynchronize(other));
    call!(cuda.cuMemFreeAsync(address, other) => status::INVALID_VALUE);
    std::thread::sleep(std::time::Duration::from_millis(100));
    // SAFETY: the waiting stream holds the parent's memory.
    unsafe { ((address + 8) as *mut u32).write_volatile(5) };
    call!(cuda.cuMemcpyHtoD_v2(words, [5u32].as_ptr().cast(), 4));
    call!(cuda.cuStreamSynchronize(waiting));
    assert_eq!(cuda.download::<u32>(words, 2), [5, 5]);
    call!(cuda.cuMemPoolDestroy(pool));
}

#[test]
fn pools_are_shared_with_other_processes() {
    const NAME: &str = "promised::pools_are_shared_with_other_processes";
    const PARENT: &str = "ANYWARP_TEST_PARENT";
    if let Ok(parent) = std::env::var(PARENT) {
        isolated(NAME, &[], || use_the_pool_of(&parent));
        return;
    }
    let cuda = Cuda::start();
    for kind in [DEVICE, HOST_NUMA] {
        share_a_pool(&cuda, kind, |numbers| {
            let child = std::process::Command::new(std::env::current_exe().expect("the test's own path"))
                .args([NAME, "--exact", "--nocapture", "--test-threads=1"])
                .envs([(PARENT, numbers), ("ANYWARP_TEST_CHILD", NAME)])
                .env("ANYWARP_CACHE_DIR", "off")
                .output()
                .expect("the other process");
            assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        });
    }
}

/// A pool with one allocation of four words, to be shared: the pool, the address, and what another process
/// needs.
fn pool_to_share(cuda: &Cuda) -> (P, P, String) {
    let shared = PoolProps { kind: 1, handle_types: 1, location: [DEVICE, 0], ..PoolProps::default() };
    let (mut pool, mut address, mut data, mut descriptor) = (0, 0, [0u64; 8], -1);
    call!(cuda.cuMemPoolCreate(&mut pool, &shared));
    call!(cuda.cuMemPoolExportToShareableHandle(&mut descriptor, pool, 1, 0));
    call!(cuda.cuMemAllocFromPoolAsync(&mut address, 4 << 20, pool, 0));
    call!(cuda.cuMemcpyHtoD_v2(address, [1u32, 2, 3, 4].as_ptr().cast(), 16));
    call!(cuda.cuMemPoolExportPointer(data.as_mut_ptr(), address));
    let numbers = [u64::from(std::process::id()), descriptor as u64].into_iter().chain(data);
    (pool, address, numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" "))
}

/// Opens the pool and the allocation of [`pool_to_share`] in another process.
fn open_shared(cuda: &Cuda, numbers: &str) -> (P, P) {
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().expect("a number")).collect();
    let path = format!("/proc/{}/fd/{}", numbers[0], numbers[1]);
    let file = std::fs::File::options().read(true).write(true).open(path).expect("the owner's descriptor");
    let (mut pool, mut address) = (0, 0);
    call!(cuda.cuMemPoolImportFromShareableHandle(&mut pool, file.as_raw_fd() as u64, 1, 0));
    call!(cuda.cuMemPoolImportPointer(&mut address, pool, numbers[2..].as_ptr()));
    (pool, address)
}

/// A process that is killed takes nothing away from the one that it shares a pool with, whoever owns it.
#[test]
fn a_killed_process_takes_no_shared_memory_away() {
    use std::io::{BufRead, BufReader};
    const NAME: &str = "promised::a_killed_process_takes_no_shared_memory_away";
    const ROLE: &str = "ANYWARP_TEST_ROLE";
    const READY: &str = "ready: ";
    let cuda = Cuda::start();
    match std::env::var(ROLE).ok().as_deref() {
        Some("own") => {
            println!("{READY}{}", pool_to_share(&cuda).2);
            std::thread::sleep(std::time::Duration::from_secs(60));
            return;
        }
        Some(numbers) => {
            open_shared(&cuda, numbers);
            println!("{READY}");
            std::thread::sleep(std::time::Duration::from_secs(60));
            return;
        }
        None => {}
    }
    let other = |role: &str| {
        let mut child = std::process::Command::new(std::env::current_exe().expect("the test's own path"))
            .args([NAME, "--exact", "--nocapture", "--test-threads=1"])
            .envs([(ROLE, role), ("ANYWARP_CACHE_DIR", "off")])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("the other process");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut told = lines
            .map_while(Result::ok)
            .filter_map(|line| line.split_once(READY).map(|(_, numbers)| numbers.to_string()));
        (told.next().expect("it is ready"), child)
    };
    let kill = |mut child: std::process::Child| {
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    };
    // The owner is killed.
    let (numbers, child) = other("own");
    let (pool, address) = open_shared(&cuda, &numbers);
    kill(child);
    assert_eq!(cuda.download::<u32>(address, 4), [1, 2, 3, 4]);
    call!(cuda.cuMemsetD32_v2(address, 9, 2));
    assert_eq!(cuda.download::<u32>(address, 4), [9, 9, 3, 4]);
    call!(cuda.cuMemFreeAsync(address, 0));
    call!(cuda.cuStreamSynchronize(0));
    call!(cuda.cuMemPoolDestroy(pool));
    // The one who uses it is killed.
    let (pool, mut address, numbers) = pool_to_share(&cuda);
    let (_, child) = other(&numbers);
    kill(child);
    assert_eq!(cuda.download::<u32>(address, 4), [1, 2, 3, 4]);
    call!(cuda.cuMemFreeAsync(address, 0));
    call!(cuda.cuMemAllocFromPoolAsync(&mut address, 4 << 20, pool, 0));
    call!(cuda.cuMemsetD32_v2(address, 5, 4));
    assert_eq!(cuda.download::<u32>(address, 4), [5; 4]);
    call!(cuda.cuMemFreeAsync(address, 0));
    call!(cuda.cuMemPoolDestroy(pool));
}

/// Makes a pool at a location and lets another process, which is told its numbers, use it.
fn share_a_pool(cuda: &Cuda, kind: u32, other: impl FnOnce(&str)) {
    let shared = PoolProps { kind: 1, handle_types: 1, location: [kind, 0], ..PoolProps::default() };
    let alone = PoolProps { handle_types: 0, ..shared };
    let (mut pool, mut own, mut address, mut data) = (0, 0, 0, [0u64; 8]);
    let mut descriptor = -1;
    call!(cuda.cuMemPoolCreate(&mut own, &alone));
    call!(cuda.cuMemPoolExportToShareableHandle(&mut descriptor, own, 1, 0) => status::INVALID_VALUE);
    call!(cuda.cuMemAllocFromPoolAsync(&mut address, 64, own, 0));
    call!(cuda.cuMemPoolExportPointer(data.as_mut_ptr(), address) => status::INVALID_VALUE);
    call!(cuda.cuMemPoolCreate(&mut pool, &shared));
    call!(cuda.cuMemPoolExportToShareableHandle(&mut descriptor, pool, 1, 0));
    call!(cuda.cuMemAllocFromPoolAsync(&mut address, 64, pool, 0));
    call!(cuda.cuMemcpyHtoD_v2(address, [1u32, 2, 3, 4].as_ptr().cast(), 16));
    call!(cuda.cuMemPoolExportPointer(data.as_mut_ptr(), address));
    // A pointer of another pool of the process.
    let (mut second, mut elsewhere, mut foreign) = (0, 0, [0u64; 8]);
    call!(cuda.cuMemPoolCreate(&mut second, &shared));
    call!(cuda.cuMemAllocFromPoolAsync(&mut elsewhere, 64, second, 0));
    call!(cuda.cuMemPoolExportPointer(foreign.as_mut_ptr(), elsewhere));
    let data = [data, foreign].concat();
    let numbers = [u64::from(std::process::id()), descriptor as u64, u64::from(kind)].into_iter().chain(data);
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    other(&numbers.join(" "));
    assert_eq!(cuda.download::<u32>(address, 4), [9, 9, 5, 4]);
    call!(cuda.cuMemFreeAsync(address, 0));
    // SAFETY: the descriptor is this test's.
    assert_eq!(unsafe { libc::close(descriptor) }, 0);
}

#[test]
fn pools_of_the_hosts_memory() {
    let cuda = Cuda::start();
    let at = |kind: u32, id: u32| PoolProps { kind: 1, location: [kind, id], ..PoolProps::default() };
    let nowhere = 7u32;
    let (mut pool, mut address) = (0, 0);
    for (kind, id, answer) in [
        (0, 0, status::INVALID_VALUE),
        (DEVICE, nowhere, status::INVALID_VALUE),
        (HOST, nowhere, 0),
        (HOST_NUMA, u32::MAX, status::INVALID_VALUE),
        (4, 0, status::INVALID_VALUE),
    ] {
        call!(cuda.cuMemPoolCreate(&mut pool, &at(kind, id)) => answer);
    }
    let shared = PoolProps { handle_types: 1, ..at(HOST, 0) };
    call!(cuda.cuMemPoolCreate(&mut pool, &shared) => status::INVALID_VALUE);
    for kind in [HOST, HOST_NUMA] {
        call!(cuda.cuMemPoolCreate(&mut pool, &at(kind, 0)));
        call!(cuda.cuMemAllocFromPoolAsync(&mut address, 1000, pool, 0));
        call!(cuda.cuMemsetD32_v2(address, 0x0102_0304, 250));
        call!(cuda.cuCtxSynchronize());
        // SAFETY: 1000 bytes of host memory that the driver returned.
        let seen = unsafe { std::slice::from_raw_parts(address as *const u32, 250) };
        assert!(seen.iter().all(|&word| word == 0x0102_0304));
        // Memory type host, its host address, not managed, of device 0, mapped, and the pool.
        let told = [2, 4, 8, 9, 13, 17].map(|number| pointer_attribute(&cuda, number, address));
        assert_eq!(told, [1, address, 0, 0, 1, pool]);
        let access = |kind: u32| {
            let mut flags = 9;
            call!(cuda.cuMemPoolGetAccess(&mut flags, pool, &[kind, 0]));
            flags
        };
        assert_eq!([DEVICE, HOST, HOST_NUMA].map(access), [0, 3, 3]);
        for (location, flags, answer) in [
            (DEVICE, 3, 0),
            (DEVICE, 1, status::NOT_SUPPORTED),
            (kind, 3, 0),
            (kind, 1, status::NOT_SUPPORTED),
            (kind, 0, status::NOT_SUPPORTED),
        ] {
            let wanted = AccessDesc { location: [location, 0], flags };
            call!(cuda.cuMemPoolSetAccess(pool, &wanted, 1) => answer);
        }
        assert_eq!(access(DEVICE), 3);
        call!(cuda.cuMemPoolSetAccess(pool, &AccessDesc { location: [DEVICE, 0], flags: 0 }, 1));
        assert_eq!(access(DEVICE), 0);
        call!(cuda.cuMemFreeHost(address as *mut c_void) => status::INVALID_VALUE);
        call!(cuda.cuMemFreeAsync(address, 0));
        call!(cuda.cuMemFreeAsync(address, 0) => status::INVALID_VALUE);
        call!(cuda.cuDeviceSetMemPool(0, pool) => status::INVALID_VALUE);
        call!(cuda.cuMemPoolDestroy(pool));
    }
    // A device's pool: only devices can be given access.
    call!(cuda.cuMemPoolCreate(&mut pool, &at(DEVICE, 0)));
    for (kind, flags, answer) in [
        (DEVICE, 3, 0),
        (DEVICE, 1, status::NOT_SUPPORTED),
        (DEVICE, 0, 101),
        (HOST, 3, status::NOT_SUPPORTED),
        (HOST, 0, status::NOT_SUPPORTED),
        (HOST_NUMA, 3, status::NOT_SUPPORTED),
    ] {
        let wanted = AccessDesc { location: [kind, 0], flags };
        call!(cuda.cuMemPoolSetAccess(pool, &wanted, 1) => answer);
    }
    call!(cuda.cuMemPoolDestroy(pool));
    // The host has a pool without creating one.
    call!(cuda.cuMemGetMemPool(&mut pool, &[HOST, 0], 1));
    call!(cuda.cuMemAllocFromPoolAsync(&mut address, 64, pool, 0));
    assert_eq!(pointer_attribute(&cuda, 2, address), 1);
    call!(cuda.cuMemFree_v2(address));
}

/// A kernel of a library has attributes on devices where it was never loaded.
#[test]
fn kernels_have_attributes_on_devices_without_a_context() {
    let name = "promised::kernels_have_attributes_on_devices_without_a_context";
    isolated(name, &[("ANYWARP_DEVICES", "2")], || {
        const MAX_THREADS: i32 = 0;
        const MAX_DYNAMIC_SHARED: i32 = 8;
        let cuda = Cuda::start();
        let text =
            CString::new(format!("{HEAD}.visible .entry k() .maxntid 96, 1, 1 {{ ret; }}")).expect("no zero");
        let (mut library, mut kernel) = (0, 0);
        let (none, values) = (null_mut(), null_mut());
        call!(cuda.cuLibraryLoadData(&mut library, text.as_ptr().cast(), none, values, 0, none, values, 0));
        call!(cuda.cuLibraryGetKernel(&mut kernel, library, c"k".as_ptr()));
        call!(cuda.cuKernelSetAttribute(MAX_DYNAMIC_SHARED, 1000, kernel, 0));
        let attribute = |number: i32, device: i32, answer: u32| {
            let mut value = -5;
            call!(cuda.cuKernelGetAttribute(&mut value, number, kernel, device) => answer);
            value
        };
        assert_eq!([0, 1].map(|device| attribute(MAX_THREADS, device, 0)), [96, 96]);
        assert_eq!([0, 1].map(|device| attribute(MAX_DYNAMIC_SHARED, device, 0)), [1000, 48 << 10]);
        attribute(99, 1, status::INVALID_VALUE);
        attribute(MAX_THREADS, 2, 101);
        call!(cuda.cuCtxSetCurrent(0));
        attribute(MAX_THREADS, 1, INVALID_CONTEXT);
        call!(cuda.cuLibraryUnload(library));
    });
}

/// A copy from or to a pool's memory needs access to it. NVIDIA's tests of cuda-core expect it, and two H200s
/// answer so.
#[test]
fn copies_need_access_to_another_devices_pool() {
    isolated("promised::copies_need_access_to_another_devices_pool", &[("ANYWARP_DEVICES", "2")], || {
        let cuda = Cuda::start();
        let (mut peer, mut pool, mut of_pool, mut own, mut theirs, mut stream) = (0, 0, 0, 0, 0, 0);
        call!(cuda.cuDevicePrimaryCtxRetain(&mut peer, 1));
        call!(cuda.cuMemAlloc_v2(&mut own, 64));
        call!(cuda.cuStreamCreate(&mut stream, 1));
        let description = PoolProps { kind: 1, location: [DEVICE, 1], ..PoolProps::default() };
        call!(cuda.cuMemPoolCreate(&mut pool, &description));
        let mut current = 0;
        call!(cuda.cuCtxGetCurrent(&mut current));
        call!(cuda.cuCtxSetCurrent(peer));
        call!(cuda.cuMemAllocFromPoolAsync(&mut of_pool, 64, pool, 0));
        call!(cuda.cuMemAlloc_v2(&mut theirs, 64));
        call!(cuda.cuMemcpyDtoD_v2(of_pool, theirs, 64));
        call!(cuda.cuCtxSynchronize());
        call!(cuda.cuCtxSetCurrent(current));
        let copies = |answer: u32| {
            let mut word = 0u64;
            call!(cuda.cuMemcpyDtoH_v2((&raw mut word).cast(), of_pool, 8) => answer);
            call!(cuda.cuMemcpyAsync(of_pool, own, 64, stream) => answer);
            call!(cuda.cuMemcpyAsync(own, of_pool, 64, stream) => answer);
            call!(cuda.cuMemcpyDtoD_v2(own, of_pool, 64) => answer);
        };
        copies(status::INVALID_VALUE);
        // The current context counts, not the stream's.
        call!(cuda.cuCtxSetCurrent(peer));
        call!(cuda.cuMemcpyAsync(of_pool, own, 64, stream));
        call!(cuda.cuCtxSetCurrent(current));
        // Other memory of the device and copies that name both contexts need none.
        call!(cuda.cuMemcpyAsync(theirs, own, 64, stream));
        call!(cuda.cuMemcpyPeer(own, current, of_pool, peer, 64));
        let open = |flags: u32| {
            let wanted = AccessDesc { location: [DEVICE, 0], flags };
            call!(cuda.cuMemPoolSetAccess(pool, &wanted, 1));
        };
        open(3);
        copies(0);
        open(0);
        copies(status::INVALID_VALUE);
        call!(cuda.cuStreamSynchronize(stream));
        call!(cuda.cuMemFreeAsync(of_pool, stream));
        call!(cuda.cuMemPoolDestroy(pool));
    });
}

/// Memory of a pool counts for the pool's device, whatever the stream.
#[test]
fn memory_of_another_devices_pool_is_that_devices() {
    let environment = [("ANYWARP_DEVICES", "2"), ("ANYWARP_MEMORY", "1G")];
    isolated("promised::memory_of_another_devices_pool_is_that_devices", &environment, || {
        const SIZE: usize = 64 << 20;
        let cuda = Cuda::start();
        let (mut own, mut peer, mut pool, mut stream) = (0, 0, 0, 0);
        call!(cuda.cuCtxGetCurrent(&mut own));
        call!(cuda.cuDevicePrimaryCtxRetain(&mut peer, 1));
        call!(cuda.cuStreamCreate(&mut stream, 1));
        call!(cuda.cuDeviceGetDefaultMemPool(&mut pool, 1));
        let free = || {
            [own, peer].map(|context| {
                let (mut free, mut total) = (0, 0);
                call!(cuda.cuCtxSetCurrent(context));
                call!(cuda.cuMemGetInfo_v2(&mut free, &mut total));
                call!(cuda.cuCtxSetCurrent(own));
                free
            })
        };
        let [first, second] = free();
        for _ in 0..3 {
            let mut address = 0;
            call!(cuda.cuMemAllocFromPoolAsync(&mut address, SIZE, pool, stream));
            call!(cuda.cuStreamSynchronize(stream));
            assert_eq!(free(), [first, second - SIZE]);
            assert_eq!(pointer_attribute(&cuda, 9, address), 1);
            call!(cuda.cuMemFreeAsync(address, stream));
            call!(cuda.cuStreamSynchronize(stream));
            assert_eq!(free(), [first, second]);
        }
    });
}

/// A pool is imported for its own device, and with its device's access only.
#[test]
fn pools_are_imported_for_their_devices() {
    isolated("promised::pools_are_imported_for_their_devices", &[("ANYWARP_DEVICES", "3")], || {
        let cuda = Cuda::start();
        for device in 0..3 {
            let description =
                PoolProps { kind: 1, handle_types: 1, location: [DEVICE, device], ..PoolProps::default() };
            let (mut pool, mut imported, mut descriptor) = (0, 0, -1);
            call!(cuda.cuMemPoolCreate(&mut pool, &description));
            let all = AccessDesc { location: [DEVICE, (device + 1) % 3], flags: 3 };
            call!(cuda.cuMemPoolSetAccess(pool, &all, 1));
            call!(cuda.cuMemPoolExportToShareableHandle(&mut descriptor, pool, 1, 0));
            let number = descriptor as u64;
            call!(cuda.cuMemPoolImportFromShareableHandle(&mut imported, number, 1, 0));
            let access = [0, 1, 2].map(|of: u32| {
                let mut flags = 9;
                call!(cuda.cuMemPoolGetAccess(&mut flags, imported, &[DEVICE, of]));
                flags
            });
            assert_eq!(access, [0, 1, 2].map(|of| if of == device { 3 } else { 0 }));
            // SAFETY: the descriptor is this test's.
            assert_eq!(unsafe { libc::close(descriptor) }, 0);
            call!(cuda.cuMemPoolDestroy(imported));
            call!(cuda.cuMemPoolDestroy(pool));
        }
    });
}

/// Exported memory stays its device's where it is imported.
#[test]
fn memory_is_imported_for_its_device() {
    isolated("promised::memory_is_imported_for_its_device", &[("ANYWARP_DEVICES", "3")], || {
        let cuda = Cuda::start();
        for device in 0..3 {
            let mut described = AllocationProp {
                kind: 1,
                handle_types: 1,
                location: [DEVICE, device],
                ..AllocationProp::default()
            };
            let (mut memory, mut imported, mut descriptor) = (0, 0, -1);
            call!(cuda.cuMemCreate(&mut memory, 2 << 20, &described, 0));
            call!(cuda.cuMemExportToShareableHandle(&mut descriptor, memory, 1, 0));
            call!(cuda.cuMemImportFromShareableHandle(&mut imported, descriptor as u64, 1));
            call!(cuda.cuMemGetAllocationPropertiesFromHandle(&mut described, imported));
            assert_eq!(described.location, [DEVICE, device]);
            // SAFETY: the descriptor is this test's.
            assert_eq!(unsafe { libc::close(descriptor) }, 0);
            call!(cuda.cuMemRelease(imported));
            call!(cuda.cuMemRelease(memory));
        }
    });
}
