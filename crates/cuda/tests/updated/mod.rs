//! What a program may destroy or free while other objects made from it still work.

use std::ffi::c_void;

use crate::call;
use crate::support::Argument::U64;
use crate::support::{Cuda, HEAD, P};

const KERNELS: &str = "
.visible .entry add_one(.param .u64 p) {
    .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [p]; ld.global.u32 %r, [%d]; add.u32 %r, %r, 1;
    st.global.u32 [%d], %r; ret;
}
";

/// A graph of two kernels, one after the other, captured from a stream.
fn captured(cuda: &Cuda, kernel: P, place: u64) -> P {
    let (mut stream, mut graph) = (0, 0);
    call!(cuda.cuStreamCreate(&mut stream, 1));
    call!(cuda.cuStreamBeginCapture_v2(stream, 2));
    for _ in 0..2 {
        assert_eq!(cuda.launch(kernel, 1, 1, stream, &[U64(place)]), 0);
    }
    call!(cuda.cuStreamEndCapture(stream, &mut graph));
    call!(cuda.cuStreamDestroy_v2(stream));
    graph
}

#[test]
fn an_executable_graph_is_updated_after_its_graph_is_destroyed() {
    let cuda = Cuda::start();
    let module = cuda.module(&format!("{HEAD}{KERNELS}"));
    let kernel = cuda.function(module, "add_one");
    let place = cuda.upload(&[0u32, 0]);
    let [first, second, outer, inner] =
        [place, place + 4, place, place + 4].map(|p| captured(&cuda, kernel, p));
    let mut exec = 0;
    call!(cuda.cuGraphInstantiateWithFlags(&mut exec, first, 0));
    call!(cuda.cuGraphDestroy(first));
    call!(cuda.cuGraphLaunch(exec, 0));
    call!(cuda.cuCtxSynchronize());
    assert_eq!(cuda.download::<u32>(place, 2), [2, 0]);
    let mut info = [0u64; 3];
    call!(cuda.cuGraphExecUpdate_v2(exec, second, info.as_mut_ptr().cast()));
    // CU_GRAPH_EXEC_UPDATE_SUCCESS.
    assert_eq!(info[0] as u32, 0);
    call!(cuda.cuGraphDestroy(second));
    call!(cuda.cuGraphLaunch(exec, 0));
    call!(cuda.cuCtxSynchronize());
    assert_eq!(cuda.download::<u32>(place, 2), [2, 2]);

    // The same with the kernels in a child node.
    let mut execs = [0; 2];
    let mut parents = [0; 2];
    for (child, (parent, exec)) in [outer, inner].into_iter().zip(parents.iter_mut().zip(&mut execs)) {
        let mut node = 0;
        call!(cuda.cuGraphCreate(parent, 0));
        call!(cuda.cuGraphAddChildGraphNode(&mut node, *parent, std::ptr::null(), 0, child));
        call!(cuda.cuGraphInstantiateWithFlags(exec, *parent, 0));
    }
    call!(cuda.cuGraphDestroy(parents[0]));
    call!(cuda.cuGraphDestroy(outer));
    call!(cuda.cuGraphExecUpdate_v2(execs[0], parents[1], info.as_mut_ptr().cast()));
    call!(cuda.cuGraphLaunch(execs[0], 0));
    call!(cuda.cuCtxSynchronize());
    assert_eq!(cuda.download::<u32>(place, 2), [2, 4]);
}

/// The values of a link's options receive the lengths of its logs. cuda-core frees them when `cuLinkCreate`
/// has returned: what is there then is not the driver's to write, whether a call has nothing to tell or an
/// error.
#[test]
fn a_link_leaves_the_values_of_its_options_alone_if_something_else_is_there() {
    const INVALID_PTX: u32 = 218;
    let cuda = Cuda::start();
    let good = format!("{HEAD}{KERNELS}\0");
    let bad = format!("{HEAD}{KERNELS} no\0");
    for (text, answer) in [(&good, 0), (&bad, INVALID_PTX)] {
        for freed in [false, true] {
            let mut logs = [[b'x'; 256]; 2];
            // CU_JIT_INFO_LOG_BUFFER, its size, CU_JIT_ERROR_LOG_BUFFER, its size.
            let mut options = [3, 4, 5, 6];
            let [info, error] = logs.each_mut().map(|log| log.as_mut_ptr().cast::<c_void>());
            let size = || std::ptr::without_provenance_mut(256);
            let mut values = [info, size(), error, size()];
            let (mut link, mut image, mut length) = (0, std::ptr::null_mut(), 0);
            call!(cuda.cuLinkCreate_v2(4, options.as_mut_ptr(), values.as_mut_ptr(), &mut link));
            let own = [1, 0, 3, 0].map(std::ptr::without_provenance_mut::<c_void>);
            if freed {
                values = own;
            }
            let (no_options, no_values) = (std::ptr::null_mut(), std::ptr::null_mut());
            let (at, bytes) = (text.as_ptr().cast(), text.len());
            call!(cuda.cuLinkAddData_v2(link, 1, at, bytes, c"a".as_ptr(), 0, no_options, no_values) => answer);
            if answer == 0 {
                call!(cuda.cuLinkComplete(link, &mut image, &mut length));
                assert!(length > 0);
            }
            let values = std::hint::black_box(&values);
            let told = logs.map(|log| log.iter().position(|byte| *byte == 0).expect("the text ends"));
            assert_eq!(told[1] > 0, answer != 0);
            if freed {
                assert_eq!(values, &own);
            } else {
                assert_eq!([values[1].addr(), values[3].addr()], told);
            }
            call!(cuda.cuLinkDestroy(link));
        }
    }
}
