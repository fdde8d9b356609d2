// OPTIONS: --hip-kernel-execution-syntax
// A header that is not needed a second time: between declarations its line goes, within a statement an empty
// directive stays, so that launches and calls that contain directives are left alone in a second run as well.
// CHECK: #include <hip/hip_runtime.h>
#include <cuda.h>
extern "C" {
// CHECK-NEXT: extern "C" {
// CHECK-NEXT: void f(void);
#include <cuda_runtime.h>
void f(void);
}
#include <cuda_runtime.h>
// CHECK-NEXT: }
// CHECK-NEXT: namespace n {
namespace n {
#include <cuda_runtime.h>
// CHECK-NEXT: void g(void);
void g(void);
}
__global__ void k(int n) {}
void run() {
    // CHECK: k<<<1, 2
    // CHECK-NEXT: #
    // CHECK-NEXT: >>>(3);
    // FINDING: launch <<<
    k<<<1, 2
#include <cuda.h>
    >>>(3);
    // CHECK-NEXT: k<<<1, [] {
    // CHECK-NEXT: #
    // CHECK-NEXT: return 2; }()>>>(3);
    // FINDING: launch <<<
    k<<<1, [] {
#include <cuda.h>
    return 2; }()>>>(3);
}
