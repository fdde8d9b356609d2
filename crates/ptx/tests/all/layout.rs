//! Where parameters lie.

/// Offsets and sizes are cuFuncGetParamInfo's answers on the hardware for these parameters.
#[test]
fn kernel_parameters_lie_where_the_hardware_puts_them() {
    let source = ".version 5.0\n.target sm_50\n.address_size 64\n.entry k(.param .u32 a, \
        .param .align 16 .b8 b[16], .param .u8 c, .param .f32 d, .param .u64 e, .param .u64 f, \
        .param .align 4 .b8 g[8]) { ret; }";
    let module = ptx::parse(source).expect("a module");
    let layout = module.functions[0].param_layout();
    let found: Vec<_> = layout.slots.iter().map(|s| (s.offset, s.size)).collect();
    assert_eq!(found, [(0, 4), (16, 16), (32, 1), (36, 4), (40, 8), (48, 8), (56, 8)]);
    assert_eq!((layout.size, layout.align), (64, 16));
}
