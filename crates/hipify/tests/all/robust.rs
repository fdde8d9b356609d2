//! For any text: no panic, every byte that is not CUDA's stays, a second run changes nothing, and work grows
//! linearly.

use hipify::{Options, Target, Translation, translate};
use hwtruth::sample;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn all_options() -> impl Strategy<Value = Options> {
    (any::<[bool; 7]>(), 0..3usize).prop_map(|(on, target)| Options {
        target: [Target::Hip, Target::Roc, Target::Miopen][target],
        experimental: on[0],
        as_much_as_possible: on[1],
        hip_launch_syntax: on[2],
        skip_excluded: on[3],
        hip_data_types: on[4],
        strings: on[5],
        always_include_runtime: on[6],
        ..Options::default()
    })
}

fn run(text: &[u8], options: &Options) -> Translation {
    translate(text, options).expect("short enough")
}

/// Meaningful fragments in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("cudaMalloc"),
        Just("cudaMemcpyToSymbol("),
        Just("cusparseSgpsvInterleavedBatch("),
        Just("cudnnConvolutionForward("),
        Just("cudaFuncSetAttribute("),
        Just("cub::"),
        Just("half2 a"),
        Just("a.x"),
        Just("__global__ void k("),
        Just("template<"),
        Just("k<<<"),
        Just("k<int><<<1, 2"),
        Just(">>>("),
        Just(">>>"),
        Just("<"),
        Just(">"),
        Just("("),
        Just(")"),
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just(";"),
        Just("\n"),
        Just("\\\n"),
        Just("\r\n"),
        Just("\n#if "),
        Just("\n#ifdef A"),
        Just("\n#else\n"),
        Just("\n#elif 1 ? 2 :"),
        Just("\n#endif\n"),
        Just("\n#define A"),
        Just("\n#include <cuda.h>\n"),
        Just("\n#include \"cublas_v2.h"),
        Just("#pragma once\n"),
        Just("defined("),
        Just("&&"),
        Just("__vadd4("),
        Just("__device__ int f("),
        Just("__vibmax_u32"),
        Just("1'0"),
        Just("'"),
        Just("\""),
        Just("R\"x("),
        Just(")x\""),
        Just("/*"),
        Just("*/"),
        Just("//"),
        Just("::"),
        Just("x"),
        Just("é"),
        Just(" "),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: sample::of(2000, 200),
        failure_persistence: None,
        // The same texts in every run; the fuzz target tries others.
        rng_seed: RngSeed::Fixed(0x1f),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..400), options in all_options()) {
        run(&text, &options);
    }

    #[test]
    fn any_pieces_are_survived_and_findings_have_their_places(text in pieces(), options in all_options()) {
        let result = run(text.as_bytes(), &options);
        for finding in &result.diagnostics {
            let line = text.lines().nth(finding.line - 1).unwrap_or("");
            prop_assert!(finding.column <= line.chars().count() + 1, "{finding:?}");
            let lines = hipify::Lines::new(text.as_bytes());
            prop_assert!(finding.render("f.cu", &lines, false).contains(&finding.message));
        }
    }

    #[test]
    fn a_second_run_changes_nothing(text in pieces(), options in all_options()) {
        let once = run(text.as_bytes(), &options).text;
        let twice = run(&once, &options).text;
        prop_assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(&once));
    }

    #[test]
    fn text_without_a_name_of_cudas_stays(text in "[a-bA-B0-9 \n\t(){};,<>\"'/*#\\\\é.:-]{0,200}") {
        let options = Options { hip_launch_syntax: false, ..Options::default() };
        let result = run(text.as_bytes(), &options);
        // `<<<` alone makes a text CUDA, which requires the header.
        let expected = if text.contains("<<<") { result.text.clone() } else { text.clone().into_bytes() };
        prop_assert_eq!(&result.text, &expected);
        prop_assert!(result.text.len() <= text.len() + "\n#include <hip/hip_runtime.h>\n".len());
    }
}

const UNIT: &str = "
__global__ void scale(float *p, float f, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= f; }
template <typename T> __global__ void fill(T *p) { p[threadIdx.x] = T(); } // a comment
#if defined(A) && B > 2
void host(float *d, cudaStream_t s, int n) {
    cudaMemcpyToSymbolAsync(table[n < 2 ? 1 : 2], d, n * sizeof(float), 0, cudaMemcpyHostToDevice, s);
    scale<<<(n + 255) / 256, 256, 0, s>>>(d, 2.0f, n);
    fill<float><<<dim3(1), 32>>>(d); /* another */
    cudnnConvolutionForward(h, &a, x, xd, w, wd, c, al, ws, size, &b, y, yd);
    half2 v = f(n); float r = (float)v.x; cub::DeviceReduce::Sum(t, b, d, d, n, s);
}
#endif
";

#[test]
fn work_grows_as_the_text_does() {
    let options = Options { hip_launch_syntax: true, target: Target::Miopen, ..Options::default() };
    let steps = |times: usize| run(UNIT.repeat(times).as_bytes(), &options).steps;
    let (one, many) = (steps(100), steps(1600));
    assert!(many <= 16 * one + 1600, "{one} steps for 100 units, {many} for 1600");
}

/// Nesting and repetition that would be slow if anything were visited repeatedly. The number of steps is
/// bounded.
#[test]
fn hostile_texts_are_no_more_work() {
    let options = Options { hip_launch_syntax: true, skip_excluded: true, ..Options::default() };
    for piece in [
        "(",
        "[",
        "{",
        "<",
        "a<",
        "k<<<",
        "k<<<1,1>>>(",
        "cudaMemcpyToSymbol(",
        "#if (\n",
        "a::",
        "__global__ ",
        "half2 a,",
        ")",
        "a<b,",
        "}\n#include <cuda.h>\n",
        "}\n#include <cuda.h>\n#include <cuda.h>\n",
    ] {
        let steps = |times: usize| run(piece.repeat(times).as_bytes(), &options).steps;
        let (one, many) = (steps(4000), steps(32000));
        assert!(many <= 9 * one, "{piece}: {one} steps for 4000, {many} for 32000");
    }
}

#[test]
fn findings_in_a_long_line_are_shown_with_what_is_around_them() {
    let text = "é k<<<".repeat(3_000);
    let result = run(text.as_bytes(), &Options { hip_launch_syntax: true, ..Options::default() });
    let lines = hipify::Lines::new(text.as_bytes());
    assert!(result.diagnostics.len() > 1000, "{}", result.diagnostics.len());
    for finding in &result.diagnostics {
        let told = finding.render("f.cu", &lines, false);
        assert!(told.len() < 8000 && told.contains(&finding.message), "{told}");
        assert!(told.contains(&format!("f.cu:1:{}\n", finding.column)), "{told}");
    }
}
