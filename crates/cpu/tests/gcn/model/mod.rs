//! What vector instructions compute, from AMD's instruction set documents: plain functions of a lane's bits,
//! apart from the code under test.

pub mod floats;
pub mod halves;
pub mod images;
pub mod integers;
pub mod later;
pub mod modes;
pub mod rdna;
pub mod rest;
pub mod scalars;
pub mod waves;

/// What a lane holds before an instruction.
#[derive(Clone, Copy)]
pub struct Lane {
    pub a: u64,
    pub b: u64,
    pub c: u64,
    /// The old result.
    pub d: u64,
    /// Its bit of VCC.
    pub vcc: bool,
}

/// A lane of a wave.
#[derive(Clone, Copy)]
pub struct Wave<'a> {
    pub lanes: &'a [Lane],
    /// The lane's number.
    pub index: usize,
    /// Active lanes.
    pub exec: u64,
}

impl Wave<'_> {
    pub fn own(&self) -> Lane {
        self.lanes[self.index]
    }

    pub fn is_active(&self, lane: usize) -> bool {
        self.exec >> lane & 1 == 1
    }
}

/// What it holds afterwards: the result, and its bit of VCC if the instruction writes that.
pub struct After {
    pub value: u64,
    pub vcc: Option<bool>,
}

/// The kinds of numbers that an input has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Word,
    /// Two halves of 16 bits.
    Halves,
    Float,
    Double,
    /// Two floats.
    Pair,
    /// Small integers of both signs, such as shifts and exponents.
    Small,
}

/// How results are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// This many bits are equal.
    Bits(u32),
    /// Equal as floats of this many bits; all NaNs are equal.
    Float(u32),
    /// As `Float`, or nearer than this many units in the last place.
    Near(u32, u32),
    /// Both halves equal as floats of 16 bits.
    Halves,
    /// Both words equal as floats of 32 bits.
    Words,
}

/// A function of a lane, which may depend on the others.
pub type Model = Box<dyn Fn(Wave<'_>) -> After>;

/// An instruction with its operands and what it computes.
pub struct Form {
    /// The text, with `D`, `A`, `B` and `C` for the result and the sources.
    pub text: String,
    /// Sizes in words of the result and the sources.
    pub words: [u32; 4],
    pub inputs: [Kind; 3],
    pub check: Check,
    pub model: Model,
}

/// A form that writes no mask.
pub fn form(
    text: &str,
    words: [u32; 4],
    inputs: [Kind; 3],
    check: Check,
    model: impl Fn(Lane) -> u64 + 'static,
) -> Form {
    let model = Box::new(move |wave: Wave<'_>| After { value: model(wave.own()), vcc: None });
    Form { text: text.into(), words, inputs, check, model }
}

/// A form that writes VCC and no other result.
pub fn test(text: &str, words: [u32; 4], inputs: [Kind; 3], model: impl Fn(Lane) -> bool + 'static) -> Form {
    let model = Box::new(move |wave: Wave<'_>| After { value: wave.own().d, vcc: Some(model(wave.own())) });
    Form { text: text.into(), words, inputs, check: Check::Bits(64), model }
}

/// The forms of gfx906.
pub fn all() -> Vec<Form> {
    let mut list = Vec::new();
    integers::forms(&mut list);
    floats::forms(&mut list);
    halves::forms(&mut list);
    rest::gfx906(&mut list);
    waves::forms(&mut list);
    list
}
