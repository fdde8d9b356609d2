//! A program that uses the crate cudarc: loads PTX, launches a kernel, checks the result.

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

const SCALE: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u64 count) {
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.f32 %f1, [factor];
    ld.param.u64 %rd2, [count];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    cvt.u64.u32 %rd3, %r1;
    setp.ge.u64 %p, %rd3, %rd2;
    @%p bra done;
    shl.b64 %rd3, %rd3, 2;
    add.u64 %rd4, %rd1, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%rd4], %f2;
done:
    ret;
}
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let module = context.load_module(Ptx::from_src(SCALE))?;
    let scale = module.load_function("scale")?;

    let input: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut data = stream.clone_htod(&input)?;
    let count = input.len();
    let factor = 1.5f32;
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut data).arg(&factor).arg(&count);
    // SAFETY: the kernel's parameters are a pointer, a float and a 64-bit count, and it accesses only
    // elements below the count.
    unsafe { launch.launch(LaunchConfig::for_num_elems(count as u32)) }?;
    let output = stream.clone_dtoh(&data)?;
    let wrong = input.iter().zip(&output).filter(|(i, o)| **i * factor != **o).count();
    println!("scale: {}", if wrong == 0 { "ok" } else { "WRONG" });
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} elements are wrong").into()) }
}
