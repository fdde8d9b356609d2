//! Tests of the parser and its diagnostics. They are one program, since linking one for each file took longer
//! than building the tests.

mod files;
mod hardware;
mod layout;
mod robust;
