//! Every operation of the crate on any bytes, with the properties that its results must have.

use gcn::isa::Decoder;
use gcn::{CodeObject, Target};

/// Takes the bytes apart in every possible way.
pub fn take_apart(bytes: &[u8]) {
    let target = CodeObject::target_of(bytes);
    let object = match CodeObject::read(bytes) {
        Ok(object) => object,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert_eq!(target, Ok(object.target));
    assert!((2..=6).contains(&object.version));
    for section in &object.sections {
        assert!(section.bytes.len() <= bytes.len());
    }
    for kernel in &object.kernels {
        let _ = (kernel.descriptor.fields().count(), kernel.descriptor.reserved());
        assert!(kernel.descriptor.vgprs() > 0 && kernel.descriptor.sgprs() > 0);
        assert!(kernel.metadata.is_none_or(|i| i < object.metadata.kernels.len()));
        let code = object.code(kernel).unwrap_or_default();
        assert!(code.len() <= bytes.len());
        decode(object.target.target, kernel.descriptor.wave_size(), code);
    }
}

/// Decodes and prints all of a kernel's code.
fn decode(target: Target, wave: u32, code: &[u8]) {
    let Some(decoder) = Decoder::new(target, wave) else { return };
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        at += match decoder.decode(rest, at as u64) {
            Ok(inst) => {
                assert!(usize::from(inst.size) <= rest.len() && inst.size % 4 == 0);
                assert!(!inst.to_string().is_empty());
                usize::from(inst.size)
            }
            Err(refusal) => {
                assert!(!refusal.to_string().is_empty());
                4
            }
        };
    }
}
