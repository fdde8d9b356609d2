//! What PTX code writes and reads like a register.

/// An element of a register, or another entity that is written and read like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Var {
    /// Register and element.
    Reg(u32, u8),
    /// A scalar `.param` variable of a device function or a call.
    Param(u32),
    /// The carry flag of the extended-precision instructions.
    Carry,
    /// The counter of a loop that lowering generated.
    Count,
    /// Bytes of [`crate::function::Lower::stack_slot`] in use.
    Stack,
    /// A value that such a loop reduces, by number.
    Reduced(u8),
}
