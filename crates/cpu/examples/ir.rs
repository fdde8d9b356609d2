//! Prints a kernel's stages: `ir FILE.ptx KERNEL BLOCK [wave|llvm|asm]`.
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&a[1]).expect("file");
    let p = cpu::Program::load(&[cpu::Source { name: &a[1], text: &text }], cpu::Engine::Compiled)
        .unwrap_or_else(|e| panic!("{}", e.rendered));
    let mut block = [1u32; 3];
    a[3].split('x').enumerate().for_each(|(i, d)| block[i] = d.parse().expect("size"));
    let k = p.module().function(&a[2]).expect("kernel");
    let r = p.request(k, cpu::Specialisation::of_launch([1, 1, 1], block));
    match a[4].as_str() {
        "wave" => println!("{}", p.module().functions[k.index()]),
        "llvm" => println!("{}", simd::ir(&r).expect("ir")),
        _ => println!("{}", simd::assembly(&r).expect("asm")),
    }
}
