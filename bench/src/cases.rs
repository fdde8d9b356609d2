//! The benchmark cases: data, launches, and which results are compared.

use crate::engine::{Arg, Launch};

/// A line of the table.
pub struct Case {
    /// Its title.
    pub title: &'static str,
    /// The PTX file in `kernels/`.
    pub ptx: &'static str,
    /// Initial contents of the buffers, as words.
    pub buffers: Vec<Vec<u32>>,
    /// A constant variable of the PTX module that is set to a buffer's contents (OpenCL passes it as the
    /// first parameter).
    pub constant: Option<(&'static str, usize)>,
    /// The launches per run for CUDA and OpenCL.
    pub launches: Vec<Launch>,
    /// The calls per run of the C loops, if they differ from the launches.
    pub host: Option<Vec<Launch>>,
    /// The buffer with the result, and the allowed relative difference (0: words must be equal).
    pub answer: (usize, f32),
    /// Bytes that a run must move to and from memory, for GB/s; 0 if that is meaningless.
    pub bytes: f64,
    /// Floating-point operations per run, for GFLOP/s; 0 if that is meaningless.
    pub flops: f64,
}

/// A small reproducible generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn words(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| self.next() as u32).collect()
    }

    fn floats(&mut self, n: usize, low: f32, high: f32) -> Vec<u32> {
        (0..n)
            .map(|_| low + (high - low) * ((self.next() >> 40) as f32 / (1u64 << 24) as f32))
            .map(f32::to_bits)
            .collect()
    }
}

fn launch(kernel: &'static str, grid: [u32; 2], block: [u32; 2], args: &[Arg]) -> Launch {
    Launch { kernel, grid, block, args: args.to_vec() }
}

/// Every case, in the table's order. `scale` 0 selects small sizes for a quick look, 1 the published ones.
pub fn all(scale: u32) -> Vec<Case> {
    use Arg::{Buffer as B, F32 as F, U32 as U};
    let full = scale > 0;
    let mut r = Random(1);
    let n: u32 = if full { 64 << 20 } else { 1 << 20 };
    let mut cases = Vec::new();
    let base = |title, ptx| Case {
        title,
        ptx,
        buffers: vec![],
        constant: None,
        launches: vec![],
        host: None,
        answer: (0, 0.0),
        bytes: 0.0,
        flops: 0.0,
    };

    let a = r.floats(n as usize, -1.0, 1.0);
    let b = r.floats(n as usize, -1.0, 1.0);
    cases.push(Case {
        buffers: vec![a.clone(), b.clone(), vec![0; n as usize]],
        launches: vec![launch("vecadd", [n / 256, 1], [256, 1], &[B(0), B(1), B(2), U(n)])],
        answer: (2, 0.0),
        bytes: 12.0 * f64::from(n),
        ..base("vector add, 64 M f32", "stream")
    });
    cases.push(Case {
        buffers: vec![a.clone(), b],
        launches: vec![launch("saxpy", [n / 256, 1], [256, 1], &[F(2.5), B(0), B(1), U(n)])],
        answer: (1, 1e-6),
        bytes: 12.0 * f64::from(n),
        ..base("saxpy, 64 M", "stream")
    });

    let side: u32 = if full { 4096 } else { 512 };
    let square = (side * side) as usize;
    cases.push(Case {
        buffers: vec![r.words(square), vec![0; square]],
        launches: vec![launch("transpose", [side / 32, side / 32], [32, 8], &[B(0), B(1), U(side)])],
        answer: (1, 0.0),
        bytes: 8.0 * square as f64,
        ..base("transpose 4096², 32×32 local tile", "transpose")
    });
    cases.push(Case {
        buffers: vec![a, vec![0; n as usize / 512]],
        launches: vec![launch("reduce", [n / 512, 1], [256, 1], &[B(0), B(1), U(n)])],
        answer: (1, 1e-3),
        bytes: 4.0 * f64::from(n),
        ..base("block reduction, 64 M f32, barriers", "reduce")
    });

    let m: u32 = if full { 1024 } else { 256 };
    let matrix = (m * m) as usize;
    let (ma, mb) = (r.floats(matrix, -1.0, 1.0), r.floats(matrix, -1.0, 1.0));
    for (title, kernel, tile) in
        [("sgemm 1024³, 16×16 tiles", "sgemm16", 16), ("sgemm 1024³, 32×32 tiles", "sgemm32", 32)]
    {
        cases.push(Case {
            buffers: vec![ma.clone(), mb.clone(), vec![0; matrix]],
            launches: vec![launch(kernel, [m / tile, m / tile], [tile, tile], &[B(0), B(1), B(2), U(m)])],
            answer: (2, 1e-3),
            flops: 2.0 * f64::from(m).powi(3),
            ..base(title, "sgemm")
        });
    }

    let bodies: u32 = if full { 8192 } else { 1024 };
    cases.push(Case {
        buffers: vec![r.floats(4 * bodies as usize, 0.1, 1.0), vec![0; 4 * bodies as usize]],
        launches: vec![launch("nbody", [bodies / 256, 1], [256, 1], &[B(0), B(1), U(bodies), F(0.01)])],
        answer: (1, 1e-2),
        flops: 20.0 * f64::from(bodies).powi(2),
        ..base("n-body, 8192, local tiles, rsqrt", "nbody")
    });

    let view: u32 = if full { 2048 } else { 256 };
    cases.push(Case {
        buffers: vec![vec![0; (view * view) as usize]],
        launches: vec![launch(
            "mandelbrot",
            [view / 16, view / 16],
            [16, 16],
            &[B(0), U(view), U(view), U(256)],
        )],
        // Points at the edge of the set depend on contraction, so only the mean is compared (see `table`).
        answer: (0, 0.05),
        ..base("Mandelbrot 2048² (divergent)", "mandelbrot")
    });

    let options: u32 = if full { 8 << 20 } else { 1 << 16 };
    let o = options as usize;
    cases.push(Case {
        buffers: vec![
            r.floats(o, 5.0, 30.0),
            r.floats(o, 1.0, 100.0),
            r.floats(o, 0.25, 10.0),
            vec![0; o],
            vec![0; o],
        ],
        launches: vec![launch(
            "blackscholes",
            [options / 256, 1],
            [256, 1],
            &[B(0), B(1), B(2), B(3), B(4), U(options), F(0.02), F(0.3)],
        )],
        answer: (4, 1e-3),
        bytes: 20.0 * f64::from(options),
        ..base("Black-Scholes, 8 M options", "blackscholes")
    });

    let words: u32 = if full { 16 << 20 } else { 1 << 18 };
    cases.push(Case {
        buffers: vec![r.words(words as usize), vec![0; 256]],
        launches: vec![launch("histogram", [256, 1], [256, 1], &[B(0), B(1), U(words)])],
        answer: (1, 0.0),
        bytes: 4.0 * f64::from(words),
        ..base("histogram, 64 MB, 256 bins, local atomics", "histogram")
    });

    let cube: u32 = if full { 256 } else { 64 };
    let volume = (cube * cube * cube) as usize;
    cases.push(Case {
        buffers: vec![r.floats(volume, 0.0, 1.0), vec![0; volume]],
        launches: vec![launch(
            "stencil",
            [cube / 32, cube / 8],
            [32, 8],
            &[B(0), B(1), U(cube), F(0.5), F(0.08)],
        )],
        answer: (1, 1e-4),
        bytes: 8.0 * volume as f64,
        ..base("7-point stencil 256³", "stencil")
    });

    let picture: u32 = if full { 2048 } else { 256 };
    let pixels = (picture * picture) as usize;
    let conv = |from: usize, to: usize| vec![B(from), B(to), U(picture), U(picture)];
    let grid = [picture / 32, picture / 8];
    cases.push(Case {
        buffers: vec![r.floats(17, 0.0, 0.1), r.floats(pixels, 0.0, 1.0), vec![0; pixels], vec![0; pixels]],
        constant: Some(("taps", 0)),
        launches: vec![
            launch("conv_rows", grid, [32, 8], &conv(1, 2)),
            launch("conv_cols", grid, [32, 8], &conv(2, 3)),
        ],
        answer: (3, 1e-3),
        flops: 68.0 * pixels as f64,
        ..base("separable convolution 2048², radius 8", "convolution")
    });

    let sorted: u32 = if full { 4 << 20 } else { 1 << 14 };
    let mut steps = Vec::new();
    let mut host = Vec::new();
    let mut k = 2;
    while k <= sorted {
        let mut j = k / 2;
        while j > 0 {
            steps.push(launch("bitonic", [sorted / 256, 1], [256, 1], &[B(0), U(j), U(k)]));
            host.push(launch("bitonic", [1, 1], [1, 1], &[B(0), U(j), U(k), U(sorted)]));
            j /= 2;
        }
        k *= 2;
    }
    cases.push(Case {
        buffers: vec![r.words(sorted as usize)],
        launches: steps,
        host: Some(host),
        ..base("bitonic sort, 4 M u32", "sort")
    });

    let rows: u32 = if full { 1 << 20 } else { 1 << 14 };
    let entries = 16 * rows as usize;
    cases.push(Case {
        buffers: vec![
            (0..=rows).map(|i| 16 * i).collect(),
            (0..entries).map(|_| r.next() as u32 % rows).collect(),
            r.floats(entries, -1.0, 1.0),
            r.floats(rows as usize, -1.0, 1.0),
            vec![0; rows as usize],
        ],
        launches: vec![launch("spmv", [rows / 256, 1], [256, 1], &[B(0), B(1), B(2), B(3), B(4), U(rows)])],
        answer: (4, 1e-3),
        flops: 2.0 * entries as f64,
        ..base("CSR SpMV, 1 M rows, 16 a row", "spmv")
    });

    let items: u32 = if full { 16 << 20 } else { 1 << 16 };
    let (first, second) = (items / 256, (items / 65536).max(1));
    cases.push(Case {
        buffers: vec![
            r.words(items as usize),
            vec![0; items as usize],
            vec![0; first as usize],
            vec![0; first as usize],
            vec![0; second as usize],
            vec![0; 256.max(second as usize)],
            vec![0; 1],
        ],
        launches: vec![
            launch("scan_blocks", [first, 1], [256, 1], &[B(0), B(1), B(2)]),
            launch("scan_blocks", [second, 1], [256, 1], &[B(2), B(3), B(4)]),
            launch("scan_blocks", [1, 1], [second.min(256), 1], &[B(4), B(5), B(6)]),
            launch("scan_add", [second, 1], [256, 1], &[B(3), B(5)]),
            launch("scan_add", [first, 1], [256, 1], &[B(1), B(3)]),
        ],
        host: Some(vec![launch("scan", [1, 1], [1, 1], &[B(0), B(1), U(items)])]),
        answer: (1, 0.0),
        bytes: 8.0 * f64::from(items),
        ..base("scan, 16 M", "scan")
    });
    cases
}
