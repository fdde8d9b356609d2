//! Tests of the decoder and of code objects. They are one program, since linking one for each file took
//! longer than building the tests.

#[path = "../support/mod.rs"]
mod support;

mod decode;
mod manual;
mod objects;
mod oracle;
mod recorded;
mod robust;
