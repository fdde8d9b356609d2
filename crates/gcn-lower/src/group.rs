//! What the names of operations say: the group that an operation belongs to, and facts that all names of a
//! kind have in common. It is read once for each operation.

use std::sync::OnceLock;

use gcn::isa::Op;

use crate::{newer, smem};

/// Operations that the same function lowers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Scalars.
    Scalar,
    /// Memory that the wave reads or writes together.
    ScalarMemory(smem::Kind),
    /// A VGPR for each lane.
    Vector,
    /// Interpolation, which only graphics have.
    Interpolation,
    /// Global memory.
    Global,
    /// Flat memory: global memory, LDS or scratch.
    Flat,
    /// Scratch by the instructions of its own.
    Scratch,
    /// Buffers in the format of their descriptor, or in none.
    Buffer,
    /// Buffers in the format of the instruction.
    TypedBuffer,
    /// Images.
    Image,
    /// LDS, and the exchange of data between lanes.
    Lds,
    /// Global wave sync.
    WaveSync,
    /// What concerns time and caches alone: memory here is coherent, and nothing is in flight.
    Nothing,
    /// What only graphics have.
    Other,
}

/// Groups by the beginning of names; the first row that fits counts. [`NOTHING`] comes before them.
const GROUPS: &[(&str, Group)] = &[
    ("s_load_", Group::ScalarMemory(smem::Kind::Load)),
    ("s_store_", Group::ScalarMemory(smem::Kind::Store)),
    ("s_buffer_load_", Group::ScalarMemory(smem::Kind::BufferLoad)),
    ("s_buffer_store_", Group::ScalarMemory(smem::Kind::BufferStore)),
    ("s_", Group::Scalar),
    ("v_interp_", Group::Interpolation),
    ("v_", Group::Vector),
    ("global_", Group::Global),
    ("flat_", Group::Flat),
    ("scratch_", Group::Scratch),
    ("buffer_gl", Group::Nothing),
    ("buffer_inv", Group::Nothing),
    ("buffer_wb", Group::Nothing),
    ("buffer_", Group::Buffer),
    ("tbuffer_", Group::TypedBuffer),
    ("image_", Group::Image),
    ("ds_gws_", Group::WaveSync),
    ("ds_", Group::Lds),
    ("", Group::Other),
];

/// The operations of [`Group::Nothing`], except those of buffers.
const NOTHING: &[&str] = &[
    "global_inv",
    "global_wb",
    "global_wbinv",
    "s_buffer_prefetch_data",
    "s_clause",
    "s_code_end",
    "s_dcache_discard",
    "s_dcache_discard_x2",
    "s_dcache_inv",
    "s_dcache_inv_vol",
    "s_dcache_wb",
    "s_dcache_wb_vol",
    "s_decperflevel",
    "s_delay_alu",
    "s_gl1_inv",
    "s_icache_inv",
    "s_incperflevel",
    "s_inst_prefetch",
    "s_nop",
    "s_prefetch_data",
    "s_prefetch_data_pc_rel",
    "s_prefetch_inst",
    "s_prefetch_inst_pc_rel",
    "s_set_inst_prefetch_distance",
    "s_setprio",
    "s_singleuse_vdst",
    "s_ttracedata",
    "s_ttracedata_imm",
    "s_version",
    "s_wait_alu",
    "s_wait_bvhcnt",
    "s_wait_dscnt",
    "s_wait_event",
    "s_wait_expcnt",
    "s_wait_idle",
    "s_wait_kmcnt",
    "s_wait_loadcnt",
    "s_wait_loadcnt_dscnt",
    "s_wait_samplecnt",
    "s_wait_storecnt",
    "s_wait_storecnt_dscnt",
    "s_waitcnt",
    "s_waitcnt_depctr",
    "s_waitcnt_expcnt",
    "s_waitcnt_lgkmcnt",
    "s_waitcnt_vmcnt",
    "s_waitcnt_vscnt",
    "s_wakeup",
];

/// Scalar operations that leave SCC as it is, by how their names begin.
const KEEPS_SCC: &[&str] = &[
    "s_mov",
    "s_load",
    "s_buffer_load",
    "s_wait",
    "s_nop",
    "s_getpc",
    "s_clause",
    "s_delay",
    "s_brev",
    "s_mul_",
    "s_pack",
    "s_sext",
    "s_cselect",
    "s_inst",
];

/// An operation by its name.
#[derive(Debug)]
pub(crate) struct Named {
    /// The name that it is lowered by, which is that of older generations.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// The name without the beginning that tells the group.
    pub rest: &'static str,
    /// Whether it computes signed integers of 64 bits, to which literals are extended with their sign.
    pub long_signed: bool,
    /// Whether SCC stays as it is.
    pub keeps_scc: bool,
}

impl Named {
    fn read(op: Op) -> Named {
        let name = newer::alias(op.name());
        let of_start = |(start, group): &(&str, Group)| Some((name.strip_prefix(start)?, *group));
        let (rest, group) = match GROUPS.iter().find_map(of_start) {
            Some(found) if !NOTHING.contains(&name) => found,
            _ => (name, Group::Nothing),
        };
        Named {
            name,
            group,
            rest,
            long_signed: name.contains("_i64"),
            keeps_scc: !name.starts_with("s_") || KEEPS_SCC.iter().any(|start| name.starts_with(start)),
        }
    }

    /// What an operation's name says.
    pub fn of(op: Op) -> &'static Named {
        static ALL: OnceLock<Vec<Named>> = OnceLock::new();
        &ALL.get_or_init(|| Op::all().map(Named::read).collect())[op as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{flow, lds, plain};

    /// A misspelt name in a list would never be found.
    #[test]
    fn names_in_lists_exist() {
        let lists = [NOTHING, flow::COPIES, flow::ADDS, plain::CHANGES_MODE];
        let pairs = lds::PAIRS.iter().flat_map(|row| row.0).chain(lds::NEW_FIRST);
        let names = lists.into_iter().flatten().map(|name| (*name).to_owned());
        let unknown: Vec<String> = names
            .chain(pairs.map(|name| format!("ds_{name}")))
            .filter(|name| Op::of_name(name).is_none())
            .collect();
        assert_eq!(unknown, Vec::<String>::new());
        for start in GROUPS.iter().map(|row| row.0).chain(KEEPS_SCC.iter().copied()) {
            assert!(Op::all().any(|op| op.name().starts_with(start)), "{start}");
        }
    }

    #[test]
    fn operations_have_groups() {
        let group = |name: &str| {
            let named = Named::of(Op::of_name(name).expect("an operation"));
            (named.group, named.rest)
        };
        assert_eq!(group("s_and_b64"), (Group::Scalar, "and_b64"));
        assert_eq!(group("s_load_dwordx4"), (Group::ScalarMemory(smem::Kind::Load), "dwordx4"));
        assert_eq!(group("s_waitcnt"), (Group::Nothing, "s_waitcnt"));
        assert_eq!(group("flat_atomic_add_x2"), (Group::Flat, "atomic_add_x2"));
        assert_eq!(group("buffer_gl0_inv").0, Group::Nothing);
        assert_eq!(group("tbuffer_load_format_x"), (Group::TypedBuffer, "load_format_x"));
        assert_eq!(group("ds_gws_barrier"), (Group::WaveSync, "barrier"));
        assert_eq!(group("exp").0, Group::Other);
        assert_eq!(Named::of(Op::of_name("v_max_num_f32").expect("an operation")).name, "v_max_f32");
    }
}
