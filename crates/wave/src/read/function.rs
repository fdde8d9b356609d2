//! Parses functions.

use smallvec::SmallVec;

use super::cursor::{Cursor, Found};
use super::{Lines, Names, comment, op};
use crate::func::{BlockData, Function, Inst, Loc, Slot, Terminator, Value};
use crate::launch::{Fill, Filled};
use crate::module::{KernelInfo, ParamInfo};
use crate::op::Op;
use crate::types::{Ty, Width};

struct Reader<'a, 'l> {
    names: &'a Names<'a>,
    func: Function,
    /// Types of the values that have been defined.
    types: Vec<Option<Ty>>,
    loc: Loc,
    /// The block being read has its terminator.
    ended: bool,
    lines: &'a mut Lines<'l>,
}

/// Parses a function from after `kernel ` or `function ` up to the closing brace.
pub(super) fn read(names: &Names, lines: &mut Lines, mut c: Cursor, kernel: bool) -> Found<Function> {
    c.expect("@")?;
    let mut func = Function { name: c.until(&['(', ' ']).to_owned(), ..Function::default() };
    if kernel {
        func.kernel = Some(KernelInfo::default());
    } else {
        // The entry's parameters repeat the types.
        c.expect("(")?;
        c.list(")", ty)?;
        if c.eat(" -> ") {
            while ![" {", " external", " lanes="].iter().any(|end| c.0.starts_with(end)) {
                c.eat(", ");
                func.results.push(ty(&mut c)?);
            }
        }
    }
    if c.eat(" lanes=") {
        let lanes = c.until(&[' ']);
        let width = lanes.parse().ok().and_then(Width::of_lanes);
        func.width = width.ok_or_else(|| format!("a warp has 32 or 64 lanes, not {lanes}"))?;
    }
    if c.eat(" external") {
        func.external = true;
        return c.end().map(|()| func);
    }
    c.expect(" {")?;
    c.end()?;
    let mut r = Reader { names, func, types: Vec::new(), loc: Loc::default(), ended: true, lines };
    r.head()?;
    r.body()?;
    r.func.values = r.types.iter().map(|t| t.unwrap_or(Ty::I32)).collect();
    Ok(r.func)
}

fn ty(c: &mut Cursor) -> Found<Ty> {
    let name = c.until(&[',', ')', ' ', ':']);
    op::ty(name).ok_or_else(|| format!("`{name}` is no type"))
}

impl Reader<'_, '_> {
    fn head(&mut self) -> Found<()> {
        if let Some(info) = &mut self.func.kernel {
            kernel(self.names, self.lines, info)?;
        }
        while let Some(mut c) = self.lines.inner("slot") {
            self.in_turn("slot", c.number()?, self.func.slots.len())?;
            let (size, align) = (c.field(": size")?, c.field(", align")?);
            c.expect(" ;")?;
            c.eat(" ");
            self.func.slots.push(Slot { name: c.0.to_owned(), size, align });
        }
        Ok(())
    }

    fn body(&mut self) -> Found<()> {
        loop {
            let Some(line) = self.lines.next() else { return Err("`}` expected at the end".to_owned()) };
            let (code, comment) = comment(line);
            if code == "}" {
                return self.end();
            }
            if code.starts_with("block") {
                self.block(Cursor(code))?;
                continue;
            }
            if self.lines.numbered {
                self.loc = Loc { line: self.lines.at as u32, ..Loc::default() };
            } else {
                self.place(comment)?;
            }
            self.line(code.trim())?;
        }
    }

    /// Numbers count from 0.
    fn in_turn(&self, word: &str, number: usize, expected: usize) -> Found<()> {
        if number == expected { Ok(()) } else { Err(format!("{word}{expected} expected")) }
    }

    /// The previous block must end here.
    fn end(&self) -> Found<()> {
        match self.func.blocks.len().checked_sub(1) {
            Some(last) if !self.ended => Err(format!("block{last} does not end")),
            _ => Ok(()),
        }
    }

    /// `block2(v1: i32):`
    fn block(&mut self, mut c: Cursor) -> Found<()> {
        self.end()?;
        let id = c.block()?;
        self.in_turn("block", id.index(), self.func.blocks.len())?;
        let mut params = Vec::new();
        if c.eat("(") {
            let typed = c.list(")", |c| {
                let v = c.value()?;
                c.expect(": ")?;
                Ok((v, ty(c)?))
            })?;
            for (v, t) in typed {
                self.define(v, t)?;
                params.push(v);
            }
        }
        c.expect(":")?;
        c.end()?;
        let data = BlockData { params, insts: Vec::new(), term: Terminator::Trap, term_loc: Loc::default() };
        self.func.blocks.push(data);
        self.ended = false;
        Ok(())
    }

    fn define(&mut self, v: Value, t: Ty) -> Found<()> {
        if self.types.len() <= v.index() {
            let more = v.index() + 1 - self.types.len();
            let left = self.lines.room.checked_sub(more);
            self.lines.room = left.ok_or_else(|| format!("{v} is too large a number"))?;
            self.types.resize(v.index() + 1, None);
        }
        match self.types[v.index()].replace(t) {
            None => Ok(()),
            Some(_) => Err(format!("{v} is defined a second time")),
        }
    }

    /// `line 9, scale.cu:39`
    fn place(&mut self, comment: &str) -> Found<()> {
        let mut c = Cursor(comment.trim());
        if c.eat("no line") {
            self.loc = Loc::default();
        } else if c.eat("line ") {
            self.loc = Loc { line: c.number()?, file: 0, source_line: 0 };
            if c.eat(", ") {
                let (file, line) = c.0.rsplit_once(':').ok_or("a file and a line expected")?;
                self.loc.source_line = Cursor(line).number()?;
                self.loc.file = match file.strip_prefix("file ").and_then(|n| n.parse().ok()) {
                    Some(n) => n,
                    None => {
                        *self.names.files.get(file).ok_or_else(|| format!("no file is named `{file}`"))?
                    }
                };
            }
        }
        Ok(())
    }

    fn line(&mut self, code: &str) -> Found<()> {
        let loc = self.loc;
        if self.ended && !self.func.blocks.is_empty() {
            return Err(format!("the block has ended before `{code}`"));
        }
        if let Some(term) = terminator(code)? {
            let Some(block) = self.func.blocks.last_mut() else { return Err("a block expected".to_owned()) };
            (block.term, block.term_loc) = (term, loc);
            self.ended = true;
            return Ok(());
        }
        let (results, rest) = match code.split_once(" = ") {
            Some((results, rest)) => (Cursor(results).list("", Cursor::value)?, rest),
            None => (Vec::new(), code),
        };
        let (op, args, types) = self.operation(Cursor(rest))?;
        if types.len() != results.len() {
            return Err(format!("{} results, {} expected", results.len(), types.len()));
        }
        for (&v, &t) in results.iter().zip(&types) {
            self.define(v, t)?;
        }
        let Some(block) = self.func.blocks.last_mut() else { return Err("a block expected".to_owned()) };
        let (args, results) = (SmallVec::from_vec(args), SmallVec::from_vec(results));
        block.insts.push(Inst { op, args, results, loc });
        Ok(())
    }

    /// Parses an operation: the operation, its operands, and the types of its results.
    fn operation(&mut self, mut c: Cursor) -> Found<(Op, Vec<Value>, Vec<Ty>)> {
        let name = c.until(&[' ']);
        c.eat(" ");
        let mut op = match name {
            "call_indirect" => {
                c.expect("(")?;
                let params = c.list(")", ty)?.into_boxed_slice();
                c.expect(" -> (")?;
                let results = c.list(")", ty)?.into_boxed_slice();
                c.eat(" ");
                Op::CallIndirect { params, results }
            }
            "global_addr" | "shared_addr" | "func_addr" | "local_addr" | "call" => {
                self.symbol(name, &mut c)?
            }
            _ => match name.strip_prefix("const.") {
                Some(t) => constant(ty(&mut Cursor(t))?, c.until(&[',']))?,
                None => op::of_name(name).ok_or_else(|| format!("no operation is spelled `{name}`"))?,
            },
        };
        let mut given = None;
        let args = c.list("", |c| {
            let v = c.value()?;
            if c.0.starts_with(['+', '-']) {
                given = Some(c.number::<i32>()?);
            }
            Ok(v)
        })?;
        if let Some(n) = given {
            match &mut op {
                Op::Load { offset, .. } | Op::Store { offset, .. } | Op::Atom { offset, .. } => *offset = n,
                _ => return Err(format!("`{name}` has no offset")),
            }
        }
        let types = match &op {
            Op::Call(id) => self.names.results.get(id.index()).cloned().unwrap_or_default(),
            op => op.signature(self.func.width).map(|s| s.results).unwrap_or_default(),
        };
        Ok((op, args, types))
    }

    fn symbol(&mut self, kind: &str, c: &mut Cursor) -> Found<Op> {
        if kind == "local_addr" {
            c.expect("slot")?;
            let slot = c.number()?;
            operands_follow(c)?;
            return Ok(Op::LocalAddr(slot));
        }
        c.expect("@")?;
        let name = c.until(&['+', '-', ',']);
        let offset = if c.0.starts_with(['+', '-']) { c.number()? } else { 0 };
        operands_follow(c)?;
        let op = match kind {
            "global_addr" => self.names.globals.get(name).map(|&id| Op::GlobalAddr(id, offset)),
            "shared_addr" => self.names.shared.get(name).map(|&id| Op::SharedAddr(id, offset)),
            "func_addr" => self.names.functions.get(name).map(|&id| Op::FuncAddr(id)),
            _ => self.names.functions.get(name).map(|&id| Op::Call(id)),
        };
        op.ok_or_else(|| format!("nothing is named `{name}`"))
    }
}

/// Steps over what stands between a symbol and operands, if there are some.
fn operands_follow(c: &mut Cursor) -> Found<()> {
    if c.0.is_empty() { Ok(()) } else { c.expect(", ") }
}

/// A kernel's parameters, shared variables and limits.
fn kernel(names: &Names, lines: &mut Lines, info: &mut KernelInfo) -> Found<()> {
    let number = |lines: &mut Lines, word: &str| match lines.inner(word) {
        Some(mut c) => c.number().and_then(|n| c.end().map(|()| n)),
        None => Ok(0),
    };
    info.param_size = number(lines, "param_size ")?;
    while let Some(mut c) = lines.inner("param ") {
        let n: usize = c.number()?;
        if n != info.params.len() {
            return Err(format!("param {} expected", info.params.len()));
        }
        let (offset, size, align) = (c.field(": offset")?, c.field(", size")?, c.field(", align")?);
        info.params.push(ParamInfo { offset, size, align });
    }
    while let Some(mut c) = lines.inner("fill ") {
        let word = c.head();
        let (number, offset, size) = (c.field("")?, c.field(", offset")?, c.field(", size")?);
        let what = Filled::read(word, number).ok_or_else(|| format!("no launch knows `{word} {number}`"))?;
        info.fills.push(Fill { offset, size, what });
    }
    info.shared_size = number(lines, "shared_size ")?.into();
    while let Some(mut c) = lines.inner("shared @") {
        let name = c.head();
        let id = names.shared.get(name).ok_or_else(|| format!("no shared variable is named `{name}`"))?;
        info.shared.push((*id, c.field(" offset")?));
    }
    if let Some(mut c) = lines.inner("required_block ") {
        let sizes = c.list("", |c| c.number::<u32>())?;
        info.required_block = sizes.try_into().map_err(|_| "three sizes expected".to_owned())?;
    }
    if let Some(mut c) = lines.inner("required_cluster ") {
        let sizes = c.list("", |c| c.number::<u32>())?;
        info.required_cluster = sizes.try_into().map_err(|_| "three sizes expected".to_owned())?;
    }
    info.max_threads = number(lines, "max_threads ")?;
    info.min_blocks = number(lines, "min_blocks ")?;
    info.max_registers = number(lines, "max_registers ")?;
    info.max_cluster = number(lines, "max_cluster ")?;
    info.explicit_cluster = number(lines, "explicit_cluster ")? != 0;
    info.blocks_are_clusters = number(lines, "blocks_are_clusters ")? != 0;
    info.loose_words = number(lines, "loose_words ")? != 0;
    info.whole_warps = number(lines, "whole_warps ")? != 0;
    Ok(())
}

fn constant(ty: Ty, text: &str) -> Found<Op> {
    let bits = match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse::<i128>().ok().map(|n| n as u128),
    };
    let bits = bits.ok_or_else(|| format!("`{text}` is no number"))?;
    // The bits beyond the type must be zeros or copies of the sign.
    let above = bits & !ty.mask();
    let negative = text.starts_with('-') && above == !ty.mask() && bits & (1 << (ty.bits() - 1)) != 0;
    if above != 0 && !negative {
        return Err(format!("{text} is no {ty}"));
    }
    Ok(Op::Const { ty, bits: bits & ty.mask() })
}

fn terminator(code: &str) -> Found<Option<Terminator>> {
    let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
    let mut c = Cursor(rest);
    let term = match word {
        "jump" => Terminator::Jump(c.block_call()?),
        "br" => {
            let cond = c.value()?;
            c.expect(", ")?;
            let then = c.block_call()?;
            c.expect(", ")?;
            Terminator::Branch { cond, then, els: c.block_call()? }
        }
        "switch" => {
            let index = c.value()?;
            c.expect(", [")?;
            Terminator::Switch { index, targets: c.list("]", Cursor::block_call)? }
        }
        "return" => Terminator::Return(c.list("", Cursor::value)?),
        "exit" => Terminator::Exit,
        "trap" => Terminator::Trap,
        _ => return Ok(None),
    };
    c.end()?;
    Ok(Some(term))
}
