//! What the other files of a project define is not taken for CUDA's.

use std::sync::Arc;

use hipify::{Options, Project, Reason, translate};

const HEADER: &str =
    "#define cudaCheck(x) check(x)\ninline void cudaFreeAll() {}\n__global__ void cublasKernel() {}\n";

/// The findings of a text beside `files`, as reason and name.
fn findings(files: &[(&str, &str)], text: &str) -> Vec<(Reason, String)> {
    let mut project = Project::default();
    for (path, text) in files {
        project.add(path, text.as_bytes());
    }
    let options = Options { project: Arc::new(project), ..Options::default() };
    let translation = translate(text.as_bytes(), &options).expect("a short text");
    translation.diagnostics.into_iter().map(|finding| (finding.reason, finding.name)).collect()
}

#[test]
fn names_of_other_files_are_known() {
    let text = "void f() { cudaCheck(cudaFreeAll()); cublasKernel(); cudaNewer(); }";
    let unknown = |name: &str| (Reason::Unknown, name.to_string());
    assert_eq!(findings(&[("include/common.h", HEADER)], text), [unknown("cudaNewer")]);
    let alone = findings(&[], text);
    assert_eq!(alone, ["cudaCheck", "cudaFreeAll", "cublasKernel", "cudaNewer"].map(unknown));
    // What CUDA has stays CUDA's.
    let redefined =
        findings(&[("a.h", "#define cudaMalloc(p, n) mine(p, n)\n")], "void f() { cudaMalloc(&p, 1); }");
    assert_eq!(redefined, []);
}

/// Functions of packed integers that a header of the project defines itself are not defined again; those that
/// an earlier translation inserted there are, since not every file includes that header.
#[test]
fn packed_integers_of_other_files_are_known() {
    let text = "#include \"a.h\"\n__device__ unsigned f(unsigned x) { return __vadd4(x, x); }";
    let own = "static __device__ unsigned __vadd4(unsigned a, unsigned b) { return mine(a, b); }";
    assert_eq!(findings(&[("a.h", own)], text), []);
    assert_eq!(findings(&[("a.h", "#define __vadd4(a, b) mine(a, b)\n")], text), []);
    let inserted = translate(text.as_bytes(), &Options::default()).expect("a short text").text;
    let inserted = String::from_utf8(inserted).expect("text");
    assert_eq!(findings(&[("a.h", &inserted)], text), [(Reason::Supplied, "__vadd4".to_string())]);
}

/// Whatever a header declares: types, prototypes, enumerators, constants. Uses are no declarations.
#[test]
fn declarations_of_other_files_are_known() {
    let header = "\
class cudaGuard { public: cudaGuard(int); };
struct cublasHolder : Base {};
using cudaList = std::vector<int>;
typedef struct { int x; } cudaPair;
enum Mode { CU_FAST, CUFFT_SLOW = 2 };
enum class Kind : unsigned { CUDNN_OWN };
const int CU_THREADS = 256;
static constexpr int CU_LIST[2] = {1, 2};
cudaError_t cudaMyInit(int device);
float *cudaMakeBuffer(int n);
std::vector<float> cudaAll(int n);
";
    let text = "void f() { cudaGuard(0); cublasHolder(); cudaList(3); cudaPair(); g(CU_FAST + CUFFT_SLOW, CUDNN_OWN); \
                g(CU_THREADS, CU_LIST[0]); cudaMyInit(0); cudaMakeBuffer(1); cudaAll(2); }";
    assert_eq!(findings(&[("own.h", header)], text), []);
    assert_eq!(findings(&[], text).len(), 12);
    let uses = "void g() { return cudaNewer(1); x = a * cudaOther(2); y = CU_MORE; return CUDNN_MUCH; \
                if (z > cudaThird(3)) h(w, CU_LAST); }";
    let all = ["cudaNewer", "cudaOther", "CU_MORE", "CUDNN_MUCH", "cudaThird", "CU_LAST"];
    let told = findings(&[("uses.cu", uses)], uses);
    assert_eq!(told, all.map(|name| (Reason::Unknown, name.to_string())));
}

#[test]
fn headers_of_the_project_are_its_own() {
    let text =
        "#include \"cuda/Utils.cuh\"\n#include \"../common/./helper_math.h\"\n#include <cuda/barrier>\n";
    let foreign = |path: &str| (Reason::UnsupportedHeader, path.to_string());
    let [utils, math, barrier] = ["cuda/Utils.cuh", "../common/./helper_math.h", "cuda/barrier"].map(foreign);
    let files = [("src/cuda/Utils.cuh", ""), ("common/helper_math.h", "")];
    assert_eq!(findings(&files, text), std::slice::from_ref(&barrier));
    // Files whose paths only end alike are others.
    let others = [("src/my_cuda/Utils.cuh", ""), ("Utils.cuh", ""), ("my_helper_math.h", "")];
    assert_eq!(findings(&others, text), [utils, barrier]);
    assert!(!findings(&[], text).contains(&math), "a path with folders is no header of CUDA's");
}
