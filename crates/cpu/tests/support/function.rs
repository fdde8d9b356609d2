//! Runs the functions in `tests/hw/functions.tsv`, and measures their errors.

use cpu::{Engine, Program, Rules, Source, Target};
use grid::Workers;
use hwtruth::functions::{BLOCK, Function};
use hwtruth::manual::{self, Bound};

use super::launch::{Shape, launch};
use super::memory::Aligned;

/// The configuration to run a function with.
#[derive(Clone, Debug)]
pub struct How {
    pub engine: Engine,
    pub target: Target,
    pub exact: bool,
}

/// A function, ready to run.
pub struct Runner {
    function: Function,
    program: Program,
    workers: Workers,
    compiled: bool,
}

impl Runner {
    pub fn new(function: &Function, how: &How, workers: u32) -> Runner {
        let text = function.module().expect("the template");
        let rules = Rules { engine: how.engine, exact: how.exact, ..Rules::default() };
        let program = Program::load_by(&[Source { name: &function.name, text: &text }], &rules)
            .unwrap_or_else(|e| panic!("{}", e.log))
            .for_target(how.target.clone());
        Runner {
            function: function.clone(),
            program,
            workers: Workers::new(workers),
            compiled: how.engine == Engine::Compiled,
        }
    }

    /// Runs one of the function's kernels.
    pub fn run(&self, kind: &str, out: &mut [u64], blocks: u32, arguments: [u32; 2]) {
        let kernel = self.function.kernel(kind);
        let mut memory = Aligned::new(&vec![0; 8 * out.len()]);
        let shape = Shape { kernel: &kernel, blocks, threads: BLOCK, compiled: self.compiled };
        let scalars: Vec<u8> = arguments.iter().flat_map(|a| a.to_le_bytes()).collect();
        launch(&self.program, &self.workers, &shape, &[&memory], &scalars)
            .unwrap_or_else(|error| panic!("{kernel}: {error}"));
        for (word, bytes) in out.iter_mut().zip(memory.bytes().as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }

    /// The results for `first` and every `step`-th operand after it.
    pub fn values(&self, first: u32, step: u32, count: usize) -> Vec<u32> {
        let blocks = count.div_ceil(BLOCK as usize);
        let mut out = vec![0u64; blocks * BLOCK as usize / 2];
        self.run("values", &mut out, blocks as u32, [first, step]);
        let words = out.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]);
        words.take(count).collect()
    }
}

/// The largest error within the range of one bound.
#[derive(Clone, Debug)]
pub struct Worst {
    pub bound: Bound,
    pub error: f64,
    pub operand: f32,
}

/// The results of a function.
#[derive(Clone, Debug)]
pub struct Survey {
    name: String,
    of: fn(f64) -> f64,
    ftz: bool,
    pub worst: Vec<Worst>,
    /// Number of results of the wrong kind (a number for a NaN, a wrong infinity or zero), and the first such
    /// operand.
    pub wrong: u64,
    pub first_wrong: Option<(u32, u32)>,
}

impl Survey {
    /// For a function of one f32; `None` for others.
    pub fn new(name: &str) -> Option<Survey> {
        let worst =
            manual::bounds(name).into_iter().map(|bound| Worst { bound, error: 0.0, operand: 0.0 }).collect();
        Some(Survey {
            name: name.into(),
            of: manual::function(name)?,
            ftz: name.contains(".ftz"),
            worst,
            wrong: 0,
            first_wrong: None,
        })
    }

    /// Records one result.
    pub fn add(&mut self, bits: u32, got: u32) {
        let mut x = f32::from_bits(bits);
        if self.ftz && x.is_subnormal() {
            x = 0f32.copysign(x);
        }
        let (x, result) = (f64::from(x), f64::from(f32::from_bits(got)));
        let exact = (self.of)(x);
        let tiny = f64::from(f32::MIN_POSITIVE);
        let flushed = self.ftz
            && exact.abs() < tiny
            && got << 1 == 0
            && result.is_sign_negative() == exact.is_sign_negative();
        let right = if exact.is_nan() {
            got == 0x7fff_ffff
        } else if exact.is_infinite() || exact == 0.0 {
            result.to_bits() == exact.to_bits()
        } else if flushed {
            true
        } else if let Some(worst) = self.worst.iter_mut().find(|w| w.bound.covers(x)) {
            let error = worst.bound.error(exact, result);
            if error > worst.error {
                (worst.error, worst.operand) = (error, x as f32);
            }
            !error.is_nan()
        } else {
            // Without a stated bound, allow the range of sine and cosine.
            result.abs() <= 1.0
        };
        if !right {
            self.wrong += 1;
            self.first_wrong.get_or_insert((bits, got));
        }
    }

    /// The violations of the manual's rules.
    pub fn complaints(&self) -> Vec<String> {
        let mut list = Vec::new();
        if let Some((x, got)) = self.first_wrong {
            list.push(format!(
                "{}: {} results of the wrong kind, first {got:#x} for {x:#x}",
                self.name, self.wrong
            ));
        }
        for w in self.worst.iter().filter(|w| w.error > w.bound.most) {
            list.push(format!(
                "{}: error {:e} for {:e}; the limit is {:e} ({:?})",
                self.name, w.error, w.operand, w.bound.most, w.bound.measure
            ));
        }
        list
    }
}
