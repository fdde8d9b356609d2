//! Tests of lowering over the grammar's forms and over texts. One program, since the grammar's reader is most
//! of it.

mod alike;
mod deferred;
mod forms;
mod text;

mod support {
    pub mod change;
    pub mod grammar;
    pub mod matrix;
}
