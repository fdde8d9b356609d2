//! Random instructions of a target, and what LLVM's disassembler makes of them.

use std::io::Write;
use std::process::{Command, Stdio};

use gcn::Target;
use gcn::isa::Decoder;

/// The disassembler, and where it comes from.
pub const LLVM_MC: &str = "llvm-mc-19";

/// Whether the disassembler is installed.
pub fn available() -> bool {
    Command::new(LLVM_MC).arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// A generator of random numbers (xorshift64*).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    fn bits(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// An encoding, from the lines of a table: this reader knows only what random instructions need.
struct Encoding {
    name: String,
    mask: u128,
    value: u128,
    /// Masks of the fields.
    fields: Vec<u128>,
    op: Vec<(u32, u32)>,
    opcodes: Vec<u32>,
}

/// Random instructions of a target.
pub struct Generator {
    encodings: Vec<Encoding>,
    random: Random,
}

fn parts(text: &str) -> Vec<(u32, u32)> {
    let text = text.split(['*', '^']).next().unwrap_or("");
    let number = |t: &str| t.parse().expect("a bit");
    text.split(',')
        .map(|p| p.split_once(':').map_or_else(|| (number(p), number(p)), |(a, b)| (number(a), number(b))))
        .collect()
}

fn mask(parts: &[(u32, u32)]) -> u128 {
    parts.iter().fold(0, |all, (high, low)| all | ((1u128 << (high - low + 1)) - 1) << low)
}

impl Generator {
    /// Instructions by a table's text and a seed.
    pub fn new(table: &str, target: &str, seed: u64) -> Generator {
        let mut encodings: Vec<Encoding> = Vec::new();
        for line in table.lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            if let ["encoding", name, _, fixed, fields] = columns.as_slice() {
                let (mut all, mut value) = (0, 0);
                for part in fixed.split(' ') {
                    let (bits, place) = part.split_once('@').expect("fixed bits");
                    let place = parts(place);
                    all |= mask(&place);
                    value |= u128::from_str_radix(bits, 2).expect("bits") << place[0].1;
                }
                let field = |f: &str| f.split_once('@').map(|(n, p)| (n.to_owned(), parts(p)));
                let fields: Vec<_> = fields.split(' ').filter_map(field).collect();
                let op = fields.iter().find(|(n, _)| n == "op").map(|(_, p)| p.clone()).unwrap_or_default();
                encodings.push(Encoding {
                    name: (*name).to_owned(),
                    mask: all,
                    value,
                    fields: fields.iter().filter(|(n, _)| n != "op").map(|(_, p)| mask(p)).collect(),
                    op,
                    opcodes: Vec::new(),
                });
            } else if let [encoding, number, _, _, rest @ ..] = columns.as_slice()
                && rest
                    .first()
                    .is_none_or(|only| only.split(' ').any(|t| t.split(':').next() == Some(target)))
            {
                let found = encodings.iter_mut().find(|e| e.name == *encoding).expect("an encoding");
                found.opcodes.push(u32::from_str_radix(&number[2..], 16).expect("a number"));
            }
        }
        encodings.retain(|e| !e.opcodes.is_empty());
        Generator { encodings, random: Random(seed | 1) }
    }

    /// Bytes that begin with an instruction, or nearly so.
    pub fn case(&mut self) -> [u8; 20] {
        let random = &mut self.random;
        let encoding = &self.encodings[random.below(self.encodings.len())];
        let mut bits = match random.below(10) {
            0 => random.bits(),
            // Half of the fields are random, and the literal.
            _ => {
                let fields = encoding.fields.iter().filter(|_| random.next() >> 40 & 3 != 0);
                let used = fields.fold(0, |all, f| all | f);
                let high = if encoding.mask >> 64 == 0 { u128::MAX << 64 } else { u128::MAX << 96 };
                random.bits() & (used | high)
            }
        };
        if encoding.fields.iter().all(|f| f >> 32 == 0) {
            bits |= random.bits() & !0xffff_ffff;
        }
        let op = match random.below(20) {
            0 => random.next() as u32,
            _ => encoding.opcodes[random.below(encoding.opcodes.len())],
        };
        bits = bits & !encoding.mask | encoding.value;
        let mut left: u32 = encoding.op.iter().map(|(high, low)| high - low + 1).sum();
        for (high, low) in &encoding.op {
            left -= high - low + 1;
            let width = (1u128 << (high - low + 1)) - 1;
            bits = bits & !(width << low) | (u128::from(op >> left) & width) << low;
        }
        let mut bytes = [0; 20];
        bytes[..16].copy_from_slice(&bits.to_le_bytes());
        bytes[16..].copy_from_slice(&(random.next() as u32).to_le_bytes());
        bytes
    }
}

/// What one of the two disassemblers says: the text, or nothing if it refuses.
pub type Answer = Option<String>;

/// Reasons of ours for which LLVM has no defined answer: its code does not expect these values, and crashes.
/// Image instructions whose registers do not suit their fields are printed as if the fields were others.
const UNDEFINED: [&str; 7] = [
    "dst_sel has",
    "src0_sel has",
    "src1_sel has",
    "dst_unused has",
    "a special register has at most",
    ": the address has",
    "vdata: there are no such registers",
];

/// Our answer, and the number of bytes that the instruction has; 0 if LLVM cannot be asked.
pub fn ours(decoder: &Decoder, bytes: &[u8]) -> (Answer, usize) {
    match decoder.decode(bytes, 0) {
        Ok(inst) => (Some(inst.to_string()), usize::from(inst.size)),
        Err(refusal) => {
            let reason = refusal.to_string();
            let undefined = UNDEFINED.iter().any(|part| reason.contains(part));
            (None, if undefined { 0 } else { bytes.len() })
        }
    }
}

/// Stands between the cases: `v_mov_b32 v77, 0x5ca1ab1e`.
const BETWEEN: &str = "0xff,0x02,0x9a,0x7e,0x1e,0xab,0xa1,0x5c\n";
const BETWEEN_TEXT: &str = "v_mov_b32_e32 v77, 0x5ca1ab1e";

/// Stands for the answer on which the disassembler crashes.
pub const CRASH: &str = "crash";

/// LLVM's answers to the cases: each is a text, several texts joined by `;` if it takes the bytes as several
/// instructions, or nothing.
pub fn llvm(target: &str, wave: u32, cases: &[&[u8]]) -> Vec<Answer> {
    let mut input = String::new();
    for case in cases {
        let bytes: Vec<String> = case.iter().map(|b| format!("{b:#x}")).collect();
        input += &format!("[{}]\n{BETWEEN}", bytes.join(","));
    }
    let features = format!("-mattr=+wavefrontsize{wave}");
    let mut command = Command::new(LLVM_MC);
    command.args(["--disassemble", "-triple=amdgcn-amd-amdhsa", &format!("-mcpu={target}")]);
    if Target::of_name(target).is_some_and(|t| t.generation.has_wave32()) {
        command.arg(features);
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("llvm-mc-19 starts: apt-get install llvm-19");
    let mut to = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || to.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("llvm-mc-19 ends");
    // If it crashed, it did not read everything.
    let _ = writer.join().expect("the writer ends");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut answers = Vec::with_capacity(cases.len());
    let mut open: Vec<&str> = Vec::new();
    for line in
        text.lines().map(str::trim).filter(|l| !l.is_empty() && *l != ".text" && !l.starts_with(".amd"))
    {
        if line == BETWEEN_TEXT {
            answers.push((!open.is_empty()).then(|| open.join("; ")));
            open.clear();
        } else {
            open.push(line);
        }
    }
    if answers.len() == cases.len() {
        return answers;
    }
    // It crashed, and what it had written is lost in part: find the case.
    if let [case] = cases {
        // Bytes after an instruction can be one that crashes it.
        return match case.len() {
            0..=4 => vec![Some(CRASH.into())],
            5..=8 => llvm(target, wave, &[&case[..4]]),
            _ => llvm(target, wave, &[&case[..8]]),
        };
    }
    let (first, second) = cases.split_at(cases.len() / 2);
    let mut answers = llvm(target, wave, first);
    answers.extend(llvm(target, wave, second));
    answers
}

/// The instructions of ray tracing, which are in no table.
const RAYS: &str = "image_bvh";

/// Whether LLVM marks an instruction as invalid in a comment.
pub fn is_marked(text: &str) -> bool {
    text.contains("/*")
}

/// The only instruction of gfx11 and gfx12 for which LLVM 19 writes halves of registers, and negation, which
/// it does not have.
const MOV_B16: &str = "v_mov_b16";

/// What LLVM 19 can read of an instruction that later assemblers write, and compilers use by default: without
/// upper halves of registers for operands of 16 bits, and with 0 in the sources that the opcode does not
/// have, where later assemblers write 0x80.
fn earlier(case: &[u8]) -> Vec<Vec<u8>> {
    let mut bits = [0; 16];
    let size = case.len().min(12);
    bits[..size].copy_from_slice(&case[..size]);
    let bits = u128::from_le_bytes(bits);
    let variants: Vec<u128> = if matches!(case.get(3), Some(0xcc | 0xd4..=0xd7)) {
        let all = |bits: u128| [bits, bits & !(0xf << 11)];
        let clear =
            |bits: u128, low: u32| if bits >> low & 0x1ff == 0x80 { bits & !(0x1ff << low) } else { bits };
        let (second, both) = (clear(bits, 50), clear(clear(bits, 50), 41));
        [bits, second, both].into_iter().flat_map(all).collect()
    } else {
        // The result, the second source, the first one, and that of DPP.
        let halves = [1u128 << 24, 1 << 16, 1 << 7, 1 << 39];
        let subset = |set: usize| (0..4).filter(|i| set >> i & 1 == 1).fold(0, |all, i| all | halves[i]);
        (1..16).map(|set| bits & !subset(set)).collect()
    };
    variants.into_iter().map(|bits| [&bits.to_le_bytes()[..size], &case[size..]].concat()).collect()
}

/// A text without `op_sel`.
fn without_op_sel(text: &str) -> String {
    match text.split_once(" op_sel:[") {
        Some((before, after)) => before.to_owned() + after.split_once(']').map_or("", |(_, rest)| rest),
        None => text.to_owned(),
    }
}

/// The differences that remain if instructions are written as earlier assemblers do.
fn remaining(target: &str, wave: u32, differences: Vec<Difference>) -> Vec<Difference> {
    if Target::of_name(target).is_none_or(|t| t.generation < gcn::Generation::Gfx10) {
        return differences;
    }
    let variants: Vec<Vec<Vec<u8>>> = differences.iter().map(|(case, ..)| earlier(case)).collect();
    let all: Vec<&[u8]> = variants.iter().flatten().map(Vec::as_slice).collect();
    let mut answers = llvm(target, wave, &all).into_iter();
    let mut left = Vec::new();
    for (difference, variants) in differences.into_iter().zip(variants) {
        let answers: Vec<String> = answers.by_ref().take(variants.len()).flatten().collect();
        let Some(mine) = &difference.1 else {
            left.push(difference);
            continue;
        };
        let plain = without_op_sel(mine).replace(".h", "");
        let agree = |theirs: &String| {
            let theirs = meant(theirs.split("; ").next().unwrap_or(""));
            theirs == *mine || theirs == plain
        };
        if !answers.iter().any(agree) {
            left.push(difference);
        }
    }
    left
}

/// Texts of LLVM that are malformed, and what is meant: in the DPP form of `v_cndmask_b32` on gfx12, the bar
/// of an absolute value stands after VCC.
const MALFORMED: [(&str, &str); 2] = [(", vcc_lo|", "|, vcc_lo"), (", vcc|", "|, vcc")];

/// LLVM's text as it is meant. After names with addresses in several registers it has two spaces.
fn meant(text: &str) -> String {
    MALFORMED.iter().fold(text.replacen("  ", " ", 1), |text, (wrong, right)| text.replace(wrong, right))
}

/// Our text with LLVM's names for gfx1010 to gfx1013, which lack a register and a counter, and have another
/// register. Here they have the names of gfx1030.
fn of_first_rdna(target: &str, text: String) -> String {
    if !target.starts_with("gfx101") {
        return text;
    }
    let text = text.replace("HW_REG_SHADER_CYCLES", "29").replace("hwreg(22,", "hwreg(HW_REG_XNACK_MASK,");
    match text.split_once(" depctr_hold_cnt(") {
        Some((before, after)) => before.to_owned() + after.split_once(')').map_or("", |(_, rest)| rest),
        None => text,
    }
}

/// Cases on which the two disagree: bytes, our answer, LLVM's.
pub type Difference = (Vec<u8>, Answer, Answer);

/// Compares the two on `count` random cases.
pub fn compare(table: &str, target: &str, wave: u32, count: usize, seed: u64) -> Vec<Difference> {
    let decoder = Decoder::new(Target::of_name(target).expect("a target"), wave).expect("a table");
    let mut generator = Generator::new(table, Decoder::same_as(target).expect("a table"), seed);
    let mut all = Vec::new();
    let mut left = count;
    while left > 0 {
        let cases: Vec<[u8; 20]> = (0..left.min(100_000)).map(|_| generator.case()).collect();
        left -= cases.len();
        let named = |(answer, size): (Answer, usize)| (answer.map(|text| of_first_rdna(target, text)), size);
        let mine: Vec<(Answer, usize)> = cases.iter().map(|c| named(ours(&decoder, c))).collect();
        let cut: Vec<&[u8]> = cases.iter().zip(&mine).map(|(c, (_, size))| &c[..*size]).collect();
        let theirs = llvm(target, wave, &cut);
        let mut differences = Vec::new();
        for ((case, (mine, _)), theirs) in cut.iter().zip(mine).zip(theirs) {
            let first = theirs.as_deref().map(|t| t.split("; ").next().unwrap_or(t));
            let same = match (&mine, &theirs) {
                (Some(mine), Some(theirs)) => *mine == meant(theirs),
                (None, None) => true,
                (None, Some(_)) => {
                    first.is_some_and(|t| is_marked(t) || t.starts_with(MOV_B16) || t.starts_with(RAYS))
                }
                // LLVM needs four registers for these, though they write two.
                (Some(mine), None) => mine.starts_with("image_gather4") && mine.ends_with(" d16"),
            };
            let same = same || mine.as_ref().is_some_and(|mine| mine.starts_with(MOV_B16));
            if !same {
                differences.push((case.to_vec(), mine, theirs));
            }
        }
        all.extend(remaining(target, wave, differences));
    }
    all
}
