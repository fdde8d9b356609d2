//! A form's kernel as PTX text, identical to the output of `tests/hw/record.c`.

use super::{BLOCK, Form, INPUTS, SLOT};
use std::fmt::Write;

const INPUT_NAMES: [char; 4] = ['a', 'b', 'c', 'e'];
const OUTPUT_NAMES: [char; 3] = ['d', 'x', 'y'];

/// Appends the kernel's text; `old` selects the syntax before PTX 1.4.
pub(super) fn write(text: &mut String, form: &Form, old: bool) {
    // Writing to a string cannot fail.
    let _ = try_write(text, form, old);
}

fn try_write(o: &mut String, form: &Form, old: bool) -> std::fmt::Result {
    let shared = form.body.contains("%s");
    let local = ["%l]", "%l+", "%l;"].iter().any(|use_of| form.body.contains(use_of));
    if !form.outside.is_empty() {
        writeln!(o, "{}", form.outside)?;
    }
    let name = form.kernel_name();
    if old {
        writeln!(o, ".visible .entry {name}\n{{\n    .param .u64 in; .param .u64 out; .param .u64 mem;")?;
    } else {
        writeln!(o, ".visible .entry {name}(.param .u64 in, .param .u64 out, .param .u64 mem)\n{{")?;
    }
    writeln!(o, "    .reg .b16 %h<8>; .reg .b32 %t<16>; .reg .b64 %q<16>; .reg .pred %p<4>;")?;
    writeln!(o, "    .reg .b32 %i, %s, %u<3>; .reg .b64 %m, %l, %v<3>;")?;
    if shared {
        writeln!(o, "    .shared .align 16 .b8 slots[{}];", BLOCK * SLOT)?;
    }
    if local {
        writeln!(o, "    .local .align 16 .b8 own[{SLOT}];")?;
    }
    for (input, name) in form.inputs.iter().zip(INPUT_NAMES) {
        writeln!(o, "    .reg .b{} %{name};", input.bits())?;
    }
    for (bits, name) in form.outputs.iter().zip(OUTPUT_NAMES) {
        writeln!(o, "    .reg .b{bits} %{name};")?;
    }
    let number = if old {
        ".reg .u16 %w<3>; mov.u16 %w0, %ctaid.x; mov.u16 %w1, %ntid.x; mov.u16 %w2, %tid.x; cvt.u32.u16 %u2, %w2; \
         mad.wide.u16 %i, %w0, %w1, %u2;"
    } else {
        "mov.u32 %u0, %ctaid.x; mov.u32 %u1, %ntid.x; mov.u32 %u2, %tid.x; mad.lo.u32 %i, %u0, %u1, %u2;"
    };
    let global = |v: &str| if old { String::new() } else { format!(" cvta.to.global.u64 {v}, {v};") };
    writeln!(o, "    {number}")?;
    writeln!(o, "    ld.param.u64 %v0, [in];{} mad.wide.u32 %v0, %i, 8, %v0;", global("%v0"))?;
    writeln!(o, "    ld.param.u64 %m, [mem]; mad.wide.u32 %m, %i, {SLOT}, %m;")?;
    if shared {
        writeln!(o, "    mov.u32 %s, slots; mad.lo.u32 %s, %u2, {SLOT}, %s;")?;
    }
    if local {
        writeln!(o, "    mov.u64 %l, own;")?;
    }
    for (k, (input, name)) in form.inputs.iter().zip(INPUT_NAMES).enumerate() {
        writeln!(o, "    ld.global.b{} %{name}, [%v0+{}];", input.bits(), k * INPUTS * 8)?;
    }
    writeln!(o, "    {}", form.body)?;
    writeln!(o, "    ld.param.u64 %v1, [out];{}", global("%v1"))?;
    let mut offset = 0;
    for (&bits, name) in form.outputs.iter().zip(OUTPUT_NAMES) {
        let size = bits as usize / 8;
        writeln!(o, "    mad.wide.u32 %v2, %i, {size}, %v1; st.global.b{bits} [%v2+{offset}], %{name};")?;
        offset += INPUTS * size;
    }
    writeln!(o, "    ret;\n}}")
}
