//! Maps opcodes to lowerings: one row per opcode, one file per family.

mod bulk;
mod cluster;
mod compare;
mod convert;
mod copy;
mod float;
mod integer;
mod matrix;
mod mbarrier;
mod memory;
mod multimem;
mod narrow;
mod scale;
mod special;
mod stack;
mod sync;
mod tensor_map;
mod texture;
mod video;
mod wmma;

use ptx::Opcode;
use ptx::ast::Instruction;

use crate::call;
use crate::function::{Lower, Result};

/// How an opcode is lowered.
pub struct Row {
    /// The opcode.
    pub opcode: Opcode,
    /// Whether it only computes. Under a guard, such an instruction runs for all lanes and its results are
    /// selected.
    pub pure: bool,
    /// The family's function.
    pub lower: fn(&mut Lower, &Instruction) -> Result<()>,
}

/// Rows of the table: `pure` or `acts`, opcodes, function.
macro_rules! table {
    (@pure pure) => { true };
    (@pure acts) => { false };
    ($($kind:ident $($op:ident)+ => $f:path;)*) => {
        &[$($(Row { opcode: Opcode::$op, pure: table!(@pure $kind), lower: $f },)+)*]
    };
}

static TABLE: &[Row] = table! {
    pure Add Sub Mul Mad Div Rem Abs Neg Min Max => arithmetic;
    pure Fma => float::fma;
    pure Mul24 Mad24 => integer::mul24;
    pure Clmad => integer::carryless;
    pure Sad => integer::sad;
    pure Addc Subc Madc => integer::carry;
    pure Popc Clz Bfind => integer::count;
    pure Brev Not Cnot => integer::unary;
    pure Fns => integer::fns;
    pure Bfe Bfi => integer::bit_field;
    pure Bmsk Szext => integer::mask;
    pure Dp4a Dp2a => integer::dot;
    pure And Or Xor => integer::logic;
    pure Lop3 => integer::lop3;
    pure Shl Shr => integer::shift;
    pure Shf => integer::funnel;
    pure Prmt => integer::permute;
    pure Vadd Vsub Vabsdiff Vmin Vmax Vshl Vshr Vmad Vset => video::video;
    pure Vadd2 Vsub2 Vavrg2 Vabsdiff2 Vmin2 Vmax2 Vset2 => video::video;
    pure Vadd4 Vsub4 Vavrg4 Vabsdiff4 Vmin4 Vmax4 Vset4 => video::video;
    pure Testp => float::testp;
    pure Copysign => float::copysign;
    pure Rcp Sqrt Rsqrt Sin Cos Lg2 Ex2 Tanh => float::function;
    pure Set Setp => compare::set;
    pure Selp => compare::select;
    pure Slct => compare::slct;
    pure Cvt => convert::cvt;
    pure Mov => memory::mov;
    pure Cvta => memory::cvta;
    pure Isspacep => memory::isspacep;
    acts Ld Ldu => memory::load;
    acts St => memory::store;
    acts Atom Red => memory::atomic;
    acts Prefetch Prefetchu Applypriority => memory::hint;
    acts Discard => memory::hint;
    acts Cp => copy::cp;
    pure Createpolicy => copy::policy;
    acts Multimem => multimem::multimem;
    acts Clusterlaunchcontrol => cluster::launch_control;
    pure Mapa => cluster::mapa;
    pure Getctarank => cluster::rank;
    acts Mbarrier => mbarrier::mbarrier;
    acts Tensormap => tensor_map::tensormap;
    acts Membar Fence => sync::fence;
    acts Bar Barrier => sync::barrier;
    acts Shfl => sync::shuffle;
    acts Vote => sync::vote;
    acts Match => sync::match_lanes;
    acts Redux => sync::redux;
    acts Activemask => sync::active_mask;
    acts Elect => sync::elect;
    acts Nanosleep => sync::nanosleep;
    acts Brkpt Pmevent Setmaxnreg Griddepcontrol => sync::nothing;
    acts Tex => texture::fetch;
    acts Tld4 => texture::gather;
    acts Txq Suq => texture::query;
    pure Istypep => texture::is_type;
    acts Suld => texture::load;
    acts Sust => texture::store;
    acts Sured => texture::reduce;
    acts Mma => matrix::mma;
    acts Ldmatrix => matrix::load;
    acts Stmatrix => matrix::store;
    acts Movmatrix => matrix::transpose;
    acts Wgmma => matrix::warpgroup;
    acts Wmma => wmma::wmma;
    acts Call => call::call;
    pure Alloca => stack::alloca;
    pure Stacksave => stack::save;
    pure Stackrestore => stack::restore;
    acts Tcgen05 => tensor_memory;
    acts Fabric => fabric;
    acts Ret Exit Trap => sync::nothing;
};

/// The row of an opcode; `None` if it is not supported.
pub fn of(opcode: Opcode) -> Option<&'static Row> {
    // Indexed by opcode, because every instruction looks up its row.
    static INDEX: std::sync::OnceLock<Vec<Option<&'static Row>>> = std::sync::OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut rows = vec![None; Opcode::all().len()];
        for row in TABLE {
            rows[row.opcode as usize] = Some(row);
        }
        rows
    });
    index.get(opcode as usize).copied().flatten()
}

/// Opcodes shared by integers and floats.
fn arithmetic(l: &mut Lower, i: &Instruction) -> Result<()> {
    match i.ty(0) {
        Some(t) if t.is_float() => float::arithmetic(l, i),
        _ => integer::arithmetic(l, i),
    }
}

/// `fabric`: memory of other machines.
fn fabric(l: &mut Lower, i: &Instruction) -> Result<()> {
    l.unsupported(
        i,
        "there is no fabric to other machines; use memory shared between processes, or multicast objects",
    )
}

/// `tcgen05`: matrix products in tensor memory, which only devices of capability 10 have.
fn tensor_memory(l: &mut Lower, i: &Instruction) -> Result<()> {
    l.unsupported(i, "there is no tensor memory; compile for sm_90a or sm_120, which do not use it")
}
