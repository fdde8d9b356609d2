//! Every kernel of any bytes is refused with a place and a reason, or becomes a function that keeps the rules
//! of wave IR.

use std::sync::Arc;

use gcn::CodeObject;
use gcn::isa::Decoder;
use gcn_lower::{image, lower};
use wave::Module;
use wave::verify::verify;

/// Larger kernels take the fuzzer too long.
const MOST: usize = 1 << 16;

/// Lowers all kernels of a code object. Returns how many were lowered and how many refused.
pub fn lower_all(bytes: &[u8]) -> (usize, usize) {
    let Ok(object) = CodeObject::read(bytes) else { return (0, 0) };
    let (mut lowered, mut refused) = (0, 0);
    if bytes.len() > MOST {
        return (0, 0);
    }
    // Code names places in the image, which is refused as a whole if a section or a relocation is wrong.
    let Ok(image) = image(&object) else { return (0, object.kernels.len()) };
    let globals = Arc::new(vec![image.global]);
    for kernel in object.kernels.iter().take(8) {
        match lower(&object, kernel) {
            Ok(function) => {
                let mut module = Module {
                    name: "fuzz".into(),
                    image_size: globals[0].size,
                    image_align: u64::from(globals[0].align),
                    globals: Arc::clone(&globals),
                    ..Module::default()
                };
                module.functions.push(Arc::new(function));
                if let Err(problems) = verify(&module) {
                    let at = problems.first().map_or(0, |problem| u64::from(problem.loc.line));
                    let decoder = Decoder::new(object.target.target, kernel.descriptor.wave_size());
                    let rest =
                        object.code(kernel).and_then(|c| c.get(at.wrapping_sub(kernel.entry) as usize..));
                    let inst = decoder.zip(rest).and_then(|(d, rest)| d.decode(rest, at).ok());
                    let inst = inst.map(|inst| inst.to_string());
                    panic!("{} of {}: {inst:?}: {problems:?}", kernel.name, object.target.target.name);
                }
                lowered += 1;
            }
            Err(errors) => {
                assert!(
                    !errors.is_empty() && errors.iter().all(|e| !e.message.is_empty()),
                    "{}",
                    kernel.name
                );
                refused += 1;
            }
        }
    }
    (lowered, refused)
}
