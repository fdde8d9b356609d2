//! Every operation of the crate on any bytes, with the properties that its results must have.

use gcn::CodeObject;

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
    assert!((3..=6).contains(&object.version));
    for section in &object.sections {
        assert!(section.bytes.len() <= bytes.len());
    }
    for kernel in &object.kernels {
        let _ = (kernel.descriptor.fields().count(), kernel.descriptor.reserved());
        assert!(kernel.descriptor.vgprs() > 0 && kernel.descriptor.sgprs() > 0);
        assert!(kernel.metadata.is_none_or(|i| i < object.metadata.kernels.len()));
        let code = object.code(kernel).unwrap_or_default();
        assert!(code.len() <= bytes.len());
    }
}
