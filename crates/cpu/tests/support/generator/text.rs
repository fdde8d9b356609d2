//! Random kernels as PTX text.

use std::fmt::Write as _;

use super::{Case, FLOATS, LOCALS, OUTPUTS, PREDS, REGS, SHARED, Statement, WIDE};

impl Case {
    /// The module's text; its kernel is `k(in, out, all, n)`.
    pub fn text(&self) -> String {
        let mut o = String::from(".version 8.6\n.target sm_90\n.address_size 64\n");
        let mut labels = 0;
        const PARAMETERS: &str = "(.param .b32 first, .param .b32 second, .param .b32 third)";
        let _ = writeln!(o, ".func (.param .b32 result) f1{PARAMETERS};");
        for (i, body) in self.functions.iter().enumerate() {
            let _ = writeln!(o, ".func (.param .b32 result) f{i}{PARAMETERS}\n{{");
            registers(&mut o);
            o += "  .reg .b32 %left, %made, %fewer;\n  .reg .pred %over;\n";
            o += "  ld.param.b32 %r0, [first];\n  ld.param.b32 %r1, [second];\n  ld.param.b32 %left, [third];\n";
            o += "  mov.u32 %made, 0;\n";
            for r in 2..REGS {
                let _ = writeln!(o, "  xor.b32 %r{r}, %r{}, {};", r % 2, r * 77);
            }
            o += "  mov.u32 %n, 3;\n";
            clear(&mut o);
            write_all(&mut o, body, &mut labels, true);
            o += "  st.param.b32 [result], %r0;\n  ret;\n}\n";
        }
        o += ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 all, .param .u32 n)\n{\n";
        registers(&mut o);
        let _ = writeln!(
            o,
            "  .shared .align 16 .b32 slots[{}];\n  .shared .b32 sums[{SHARED}];\n  .local .b32 room[{LOCALS}];",
            self.block
        );
        o += "  ld.param.u64 %in, [in];\n  ld.param.u64 %mine, [out];\n  ld.param.u64 %all, [all];\n  ld.param.u32 %n, [n];\n";
        o += "  mov.u32 %r0, %tid.x;\n  mov.u32 %r1, %ctaid.x;\n  mov.u32 %i1, %ntid.x;\n  mad.lo.u32 %r2, %r1, %i1, %r0;\n";
        let _ = writeln!(o, "  mul.wide.u32 %a0, %r2, {};\n  add.u64 %mine, %mine, %a0;", OUTPUTS * 4);
        o += "  mov.u32 %sum, sums;\n  mov.u32 %own, slots;\n  shl.b32 %i0, %r0, 2;\n  add.u32 %own, %own, %i0;\n";
        // The slot of the thread three further on.
        o += "  add.u32 %i0, %r0, 3;\n  rem.u32 %i0, %i0, %i1;\n  shl.b32 %i0, %i0, 2;\n  mov.u32 %other, slots;\n  add.u32 %other, %other, %i0;\n";
        o += "  st.shared.u32 [%own], %r2;\n  setp.eq.u32 %p0, %r0, 0;\n";
        for i in 0..6 {
            let _ = writeln!(
                o,
                "  @%p0 st.shared.u32 [%sum+{}], {};",
                i * 4,
                if i == 1 || i == 5 { "-1" } else { "0" }
            );
        }
        o += "  bar.sync 0;\n";
        for i in 0..LOCALS {
            let _ = writeln!(o, "  add.u32 %i0, %r2, {i};\n  st.local.u32 [room+{}], %i0;", i * 4);
        }
        for r in 3..REGS {
            let _ = writeln!(
                o,
                "  mad.lo.u32 %i0, %r2, {}, {};\n  and.b32 %i0, %i0, 255;\n  mul.wide.u32 %a0, %i0, 4;\n  add.u64 %a0, %a0, %in;\n  ld.global.u32 %r{r}, [%a0];",
                2 * r + 1,
                r * 13
            );
        }
        clear(&mut o);
        write_all(&mut o, &self.body, &mut labels, false);
        o += "  bar.sync 0;\n";
        outputs(&mut o);
        for i in 0..6 {
            let _ = writeln!(
                o,
                "  ld.shared.u32 %i0, [%sum+{}];\n  @%p0 st.global.u32 [%mine+{}], %i0;",
                i * 4,
                40 + i * 4
            );
        }
        o += "  ret;\n}\n";
        o
    }
}

fn registers(o: &mut String) {
    let _ = writeln!(
        o,
        "  .reg .b32 %r<{REGS}>, %i<2>, %own, %other, %sum, %n;\n  .reg .b64 %q<{WIDE}>, %a<1>, %in, %mine, %all;\n  .reg .f32 %f<{FLOATS}>;\n  .reg .pred %p<{PREDS}>;"
    );
}

/// Initial values of the other registers, derived from the 32-bit ones.
fn clear(o: &mut String) {
    for i in 0..WIDE {
        let _ = writeln!(o, "  mov.b64 %q{i}, {{%r{}, %r{}}};", i % REGS, (i + 3) % REGS);
    }
    for i in 0..FLOATS {
        let _ = writeln!(o, "  cvt.rn.f32.s32 %f{i}, %r{};", i % REGS);
    }
    for i in 0..PREDS {
        let _ = writeln!(o, "  setp.lt.s32 %p{i}, %r{}, {};", i % REGS, 10 * i + 5);
    }
}

/// Stores the contents of the registers.
fn outputs(o: &mut String) {
    for i in 0..4 {
        let _ = writeln!(
            o,
            "  xor.b32 %r{i}, %r{i}, %r{};\n  st.global.u32 [%mine+{}], %r{i};",
            i + 4,
            16 + i * 4
        );
    }
    *o += "  xor.b64 %q0, %q0, %q1;\n  xor.b64 %q2, %q2, %q3;\n  xor.b64 %q0, %q0, %q2;\n  st.global.u64 [%mine+32], %q0;\n";
    for i in 0..4 {
        let _ = writeln!(o, "  mov.b32 %i0, %f{i};\n  @%p{i} st.global.u32 [%mine+{}], %i0;", i * 4);
    }
}

fn write_all(o: &mut String, body: &[Statement], labels: &mut u32, function: bool) {
    for s in body {
        write_one(o, s, labels, function);
    }
}

fn write_one(o: &mut String, s: &Statement, labels: &mut u32, function: bool) {
    *labels += 1;
    let l = *labels;
    match s {
        Statement::Line(line) => {
            let _ = writeln!(o, "  {line}");
        }
        Statement::If { pred, then, els } => {
            let _ = writeln!(o, "  @!%p{pred} bra ELSE{l};");
            write_all(o, then, labels, function);
            let _ = writeln!(o, "  bra END{l};\nELSE{l}:");
            write_all(o, els, labels, function);
            let _ = writeln!(o, "END{l}:");
        }
        Statement::Loop { count, leave, body } => {
            let _ = writeln!(
                o,
                "  {{\n  .reg .b32 %c;\n  .reg .pred %z;\n  and.b32 %c, {count}, 7;\nTOP{l}:\n  setp.eq.u32 %z, %c, 0;\n  @%z bra OUT{l};\n  sub.u32 %c, %c, 1;"
            );
            write_all(o, body, labels, function);
            if let Some(p) = leave {
                let _ = writeln!(o, "  @%p{p} bra OUT{l};");
            }
            let _ = writeln!(o, "  bra TOP{l};\nOUT{l}:\n  }}");
        }
        Statement::Switch { index, cases } => {
            let names: Vec<String> = (0..cases.len()).map(|i| format!("CASE{l}_{i}")).collect();
            let _ = writeln!(
                o,
                "  {{\n  .reg .b32 %c;\n  and.b32 %c, {index}, {};\nTABLE{l}: .branchtargets {};\n  brx.idx %c, TABLE{l};",
                cases.len() - 1,
                names.join(", ")
            );
            for (name, case) in names.iter().zip(cases) {
                let _ = writeln!(o, "{name}:");
                write_all(o, case, labels, function);
                let _ = writeln!(o, "  bra JOIN{l};");
            }
            let _ = writeln!(o, "JOIN{l}:\n  }}");
        }
        Statement::Again(call) => {
            let _ = writeln!(o, "  setp.ge.u32 %over, %made, %left;\n  @%over bra NO{l};");
            let _ = writeln!(o, "  add.u32 %made, %made, 1;\n  sub.u32 %fewer, %left, 1;\n  {call}\nNO{l}:");
        }
        Statement::Meet { pred, ways: [then, els], ends: [first, second] } => {
            let _ = writeln!(o, "  @!%p{pred} bra OTHER{l};");
            write_all(o, then, labels, function);
            let _ = writeln!(o, "  {first}\n  bra MET{l};\nOTHER{l}:");
            write_all(o, els, labels, function);
            let _ = writeln!(o, "  {second}\nMET{l}:");
        }
        Statement::Exit { pred } => {
            let _ = writeln!(o, "  @!%p{pred} bra STAY{l};");
            outputs(o);
            let _ = writeln!(o, "  exit;\nSTAY{l}:");
        }
    }
}
