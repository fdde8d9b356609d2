//! The layout of parameters in memory (PTX ISA 5.1.6.1, and the answers of the hardware's driver).

use crate::ast::{Function, Parameter};

/// The position of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamSlot {
    /// Bytes from the start of the parameter buffer.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u32,
}

/// The positions of a function's parameters, in declaration order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamLayout {
    /// The parameters.
    pub slots: Vec<ParamSlot>,
    /// Offset of the end of the last parameter.
    pub size: u64,
    /// The largest alignment; 1 without parameters.
    pub align: u32,
}

impl ParamLayout {
    /// Lays out parameters of these sizes and alignments in order, each at the next multiple of its
    /// alignment.
    pub fn new(params: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let mut layout = ParamLayout { slots: Vec::new(), size: 0, align: 1 };
        for (size, align) in params {
            let align = align.max(1);
            let step = u64::from(align);
            let offset = layout.size.checked_next_multiple_of(step).unwrap_or(u64::MAX);
            layout.slots.push(ParamSlot { offset, size, align });
            layout.size = offset.saturating_add(size);
            layout.align = layout.align.max(align);
        }
        layout
    }
}

impl Function {
    /// The layout of the parameters. For a kernel, it is the layout of the buffer that a launch fills.
    pub fn param_layout(&self) -> ParamLayout {
        ParamLayout::new(self.params.iter().map(|p| self.size_and_alignment(*p)))
    }

    fn size_and_alignment(&self, parameter: Parameter) -> (u64, u32) {
        match parameter {
            Parameter::Var(id) => {
                self.vars().get(id.index()).map_or((0, 1), |v| (v.size_bytes(), v.alignment()))
            }
            Parameter::Reg(id) => {
                let bytes =
                    self.regs().get(id.index()).map_or(0, |r| r.ty.size_bytes() * u32::from(r.vector));
                (u64::from(bytes), bytes.max(1).next_power_of_two())
            }
        }
    }
}
