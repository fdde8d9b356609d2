//! The module around a kernel: its entry point, the loop over blocks and warps, and what its code may call.

use std::fmt::Write as _;

use wave::{LANES, Ty};

use super::sweep::BODY;
use super::{Kernel, RESUME, RUN_BLOCKS, offset};
use crate::target::Target;
use crate::text::constant_vector;

/// Debug information of the module, but for the lines.
const LINE_TABLES: &str = "\
!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!3, !8}
!2 = distinct !DICompileUnit(language: DW_LANG_C, file: !4, emissionKind: LineTablesOnly)
!3 = !{i32 2, !\"Debug Info Version\", i32 3}
!4 = !DIFile(filename: \"kernel\", directory: \"\")
!5 = distinct !DISubprogram(name: \"warp\", file: !4, line: 1, unit: !2, type: !9, spFlags: DISPFlagDefinition)
!6 = distinct !DISubprogram(name: \"blocks\", file: !4, line: 1, unit: !2, type: !9, spFlags: DISPFlagDefinition)
!7 = !DILocation(line: 0, scope: !6)
!8 = !{i32 7, !\"Dwarf Version\", i32 4}
!9 = !DISubroutineType(types: !0)
!10 = !{!\"branch_weights\", i32 1048575, i32 1}
!11 = distinct !DISubprogram(name: \"sweep\", file: !4, line: 1, unit: !2, type: !9, spFlags: DISPFlagDefinition)
!12 = !DILocation(line: 0, scope: !11)
";

/// The local memory of a thread where the launch decides how much it is, and how far each lane's lies behind the first lane's.
fn local_sizes() -> String {
    let lanes = constant_vector(Ty::I64, &std::array::from_fn(|l| l as i64));
    format!(
        "  %local.size.at = getelementptr i8, ptr %block, i64 {}
  %local.size = load i64, ptr %local.size.at, !invariant.load !0
  %local.one = insertelement <32 x i64> poison, i64 %local.size, i32 0
  %local.all = shufflevector <32 x i64> %local.one, <32 x i64> poison, <32 x i32> zeroinitializer
  %local.steps = mul <32 x i64> %local.all, {lanes}
",
        offset::LOCAL_STRIDE
    )
}

impl Kernel<'_> {
    /// The whole module.
    pub fn finish(&mut self, target: &Target) -> String {
        self.matrix_places();
        let mut ir = self.helpers();
        ir += &self.routines.text;
        let clear = self.begin.remove(&None).unwrap_or_default();
        let masked_entry = self.shapes.masked[0];
        let fields = |ir: &mut String| {
            for (name, at, ty) in [
                ("params", offset::PARAMS, "i64"),
                ("shared", offset::SHARED, "i64"),
                ("image", offset::IMAGE, "i64"),
                ("local", offset::LOCAL, "i64"),
            ] {
                let _ = writeln!(ir, "  %{name}.at = getelementptr i8, ptr %block, i64 {at}");
                let _ = writeln!(ir, "  %{name} = load {ty}, ptr %{name}.at, !invariant.load !0");
            }
            if self.local_size.is_none() {
                ir.push_str(&local_sizes());
            }
        };
        let start = match (self.per_lane, masked_entry) {
            (true, _) => self.start.clone(),
            (false, true) if self.keeps_words() => self.set_at_start("%m0", "i32", "%lanes"),
            (false, true) => self.set_at_start("%m0", "<32 x i1>", "%lanes.mask"),
            (false, false) => String::new(),
        };
        let live = if self.keeps_words() {
            "  %live = alloca i32, align 64\n  store i32 %lanes, ptr %live\n"
        } else {
            "  %live = alloca <32 x i1>, align 64\n  %lanes.mask = bitcast i32 %lanes to <32 x i1>\n  \
             store <32 x i1> %lanes.mask, ptr %live\n"
        };
        if self.suspends {
            let _ = writeln!(
                ir,
                "define internal i32 @{BODY}(ptr noalias %warp, ptr noalias %frame, i32 %at) alwaysinline #0 !dbg !5 {{\nentry:"
            );
            for (name, at, ty) in [
                ("block", offset::W_BLOCK, "ptr"),
                ("index", offset::W_INDEX, "i32"),
                ("lanes", offset::W_LANES, "i32"),
            ] {
                let _ = writeln!(
                    ir,
                    "  %{name}.p = getelementptr i8, ptr %warp, i64 {at}\n  %{name} = load {ty}, ptr %{name}.p"
                );
            }
            fields(&mut ir);
            ir += &self.slots;
            ir += live;
            ir += &clear;
            let cases: String = (1..=self.resumes).map(|i| format!(" i32 {i}, label %resume{i}")).collect();
            let _ = writeln!(ir, "  switch i32 %at, label %start [{cases} ]\nstart:\n{start}  br label %p0");
            ir += &self.text.out;
            ir += "done:\n  ret i32 0\nfault:\n  ret i32 3\n}\n";
            let _ = writeln!(
                ir,
                "define i32 @{RESUME}(ptr noalias %warp, ptr noalias %frame) #0 !dbg !6 {{\n  \
                 %at.p = getelementptr i8, ptr %warp, i64 {}\n  %at = load i32, ptr %at.p\n  \
                 %code = call i32 @{BODY}(ptr %warp, ptr %frame, i32 %at), !dbg !7\n  ret i32 %code\n}}",
                offset::W_RESUME
            );
        } else {
            let _ = writeln!(
                ir,
                "define internal i32 @warp(ptr noalias %warp, ptr noalias %block, i32 %index, i32 %lanes) alwaysinline #0 !dbg !5 {{\nentry:"
            );
            fields(&mut ir);
            ir += &self.slots;
            ir += live;
            ir += &clear;
            let _ = writeln!(ir, "{start}  br label %p0");
            ir += &self.text.out;
            ir += "done:\n  ret i32 0\nfault:\n  ret i32 3\n}\n";
            ir += &self.run_blocks();
        }
        if self.flushes {
            let (name, second) = if self.suspends { (RESUME, "ptr") } else { (RUN_BLOCKS, "i64") };
            self.flushing(&mut ir, name, "i32", &["ptr", second]);
        }
        for d in &self.text.declarations {
            ir += d;
            ir.push('\n');
        }
        let width = if target.avx512 { "512" } else { "256" };
        let subnormals =
            if self.flushes { "\"denormal-fp-math\"=\"preserve-sign,preserve-sign\" " } else { "" };
        let _ = writeln!(
            ir,
            "attributes #0 = {{ nounwind null_pointer_is_valid {subnormals}\"prefer-vector-width\"=\"{width}\" \"min-legal-vector-width\"=\"{width}\" \"target-cpu\"=\"{}\" \"target-features\"=\"{}\" }}\n!0 = !{{}}\n!1 = !{{!\"branch_weights\", i32 1, i32 1048575}}",
            target.cpu, target.features
        );
        // Line tables only, so that a fault's address tells its line.
        ir += LINE_TABLES;
        for &line in &self.text.places {
            let _ =
                writeln!(ir, "!{} = !DILocation(line: {line}, scope: !5)", crate::text::Text::metadata(line));
        }
        ir
    }

    /// Puts a function around an entry that makes the processor flush subnormals meanwhile.
    pub fn flushing(&mut self, ir: &mut String, name: &str, result: &str, takes: &[&str]) {
        *ir = ir.replace(
            &format!("define {result} @{name}("),
            &format!("define internal {result} @entered.{name}("),
        );
        for (word, flushes) in [("flush", true), ("plain", false)] {
            self.text.declarations.insert(crate::lanewise::control_word(word, 0, flushes));
        }
        self.text.declarations.insert("declare void @llvm.x86.sse.ldmxcsr(ptr)".into());
        let args: Vec<String> = takes.iter().enumerate().map(|(i, ty)| format!("{ty} %a{i}")).collect();
        let args = args.join(", ");
        let _ = writeln!(
            ir,
            "define {result} @{name}({args}) #0 {{\n  call void @llvm.x86.sse.ldmxcsr(ptr @mxcsr.flush)\n  %r = call {result} @entered.{name}({args}) noinline\n  call void @llvm.x86.sse.ldmxcsr(ptr @mxcsr.plain)\n  ret {result} %r\n}}"
        );
    }

    /// What every kernel's code may call: the report of a misaligned address, and bytes that may always be read.
    fn helpers(&self) -> String {
        let mut s = String::from("@safe = internal constant [64 x i8] zeroinitializer, align 64\n");
        let _ = writeln!(
            s,
            "define internal void @misaligned(ptr %warp, ptr %block, i64 %address, i32 %size, i1 %write, i32 %line) cold noinline #0 {{\n  %line.p = getelementptr i8, ptr %warp, i64 {line}\n  store i32 %line, ptr %line.p\n  %runtime.p = getelementptr i8, ptr %block, i64 {runtime}\n  %runtime = load ptr, ptr %runtime.p\n  %f.p = getelementptr i8, ptr %runtime, i64 {report}\n  %f = load ptr, ptr %f.p\n  call void %f(ptr %warp, i64 %address, i32 %size, i1 zeroext %write, i1 zeroext true)\n  ret void\n}}",
            line = offset::W_LINE,
            runtime = offset::RUNTIME,
            report = offset::BAD_ACCESS,
        );
        s
    }

    /// The loop over blocks and warps of a kernel that never stops.
    fn run_blocks(&self) -> String {
        let threads = self.spec.threads();
        let (full, rest) = (threads / LANES as u32, threads % LANES as u32);
        let tail = (1u64 << rest) - 1;
        let mut s = String::new();
        let _ = writeln!(
            s,
            "define i32 @{RUN_BLOCKS}(ptr noalias %block, i64 %count) #0 !dbg !6 {{\nentry:\n  %warp = alloca [{size} x i8], align 64\n  %block.p = getelementptr i8, ptr %warp, i64 {wb}\n  store ptr %block, ptr %block.p\n  %x.p = getelementptr i8, ptr %block, i64 {c}\n  %y.p = getelementptr i8, ptr %block, i64 {c4}\n  %z.p = getelementptr i8, ptr %block, i64 {c8}\n  %nx.p = getelementptr i8, ptr %block, i64 {n}\n  %ny.p = getelementptr i8, ptr %block, i64 {n4}\n  %nx = load i32, ptr %nx.p\n  %ny = load i32, ptr %ny.p\n  %index.p = getelementptr i8, ptr %warp, i64 {wi}\n  br label %blocks",
            size = offset::WARP_SIZE,
            wb = offset::W_BLOCK,
            c = offset::CTAID,
            c4 = offset::axis(offset::CTAID, 1),
            c8 = offset::axis(offset::CTAID, 2),
            n = offset::NCTAID,
            n4 = offset::axis(offset::NCTAID, 1),
            wi = offset::W_INDEX,
        );
        s += "blocks:\n  %left = phi i64 [ %count, %entry ], [ %left.next, %advance ]\n";
        s += "  %empty = icmp eq i64 %left, 0\n  br i1 %empty, label %end, label %warps.pre\n";
        s += "end:\n  ret i32 0\nfailed:\n  ret i32 3\n";
        if full > 0 {
            let _ = writeln!(
                s,
                "warps.pre:\n  br label %warps\nwarps:\n  %w = phi i32 [ 0, %warps.pre ], [ %w.next, %warps.next ]\n  store i32 %w, ptr %index.p\n  %code = call i32 @warp(ptr %warp, ptr %block, i32 %w, i32 -1), !dbg !7\n  %bad = icmp ne i32 %code, 0\n  br i1 %bad, label %failed, label %warps.next\nwarps.next:\n  %w.next = add i32 %w, 1\n  %more = icmp ult i32 %w.next, {full}\n  br i1 %more, label %warps, label %tail"
            );
        } else {
            s += "warps.pre:\n  br label %tail\n";
        }
        if rest > 0 {
            // LLVM must not know which lanes there are: over sums with a constant mask its combiner of instructions may go on for ever.
            let _ = writeln!(
                s,
                "tail:\n  store i32 {full}, ptr %index.p\n  %tail.mask = call i32 asm \"\", \"=r,0\"(i32 {})\n  %tcode = call i32 @warp(ptr %warp, ptr %block, i32 {full}, i32 %tail.mask), !dbg !7\n  %tbad = icmp ne i32 %tcode, 0\n  br i1 %tbad, label %failed, label %advance",
                tail as u32 as i32
            );
        } else {
            s += "tail:\n  br label %advance\n";
        }
        s += "advance:\n  %left.next = sub i64 %left, 1\n  %x = load i32, ptr %x.p\n  %x1 = add i32 %x, 1\n  %x.over = icmp eq i32 %x1, %nx\n  %x2 = select i1 %x.over, i32 0, i32 %x1\n  store i32 %x2, ptr %x.p\n  %xc = zext i1 %x.over to i32\n";
        s += "  %y = load i32, ptr %y.p\n  %y1 = add i32 %y, %xc\n  %y.over = icmp eq i32 %y1, %ny\n  %y2 = select i1 %y.over, i32 0, i32 %y1\n  store i32 %y2, ptr %y.p\n  %yc = zext i1 %y.over to i32\n";
        s += "  %z = load i32, ptr %z.p\n  %z1 = add i32 %z, %yc\n  store i32 %z1, ptr %z.p\n  br label %blocks\n}\n";
        s
    }
}
