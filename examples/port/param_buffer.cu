/* A launch whose parameters are passed in one aligned buffer: int, a vector of four floats, char, pointer,
 * double. */
#include <string.h>

#include "check.h"

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry report(.param .u32 i, .param .align 16 .b8 v[16], .param .u8 c, .param .u64 out, .param .f64 d) {\n"
    "    .reg .b32 %r<3>;\n"
    "    .reg .f32 %f<5>;\n"
    "    .reg .f64 %d<2>;\n"
    "    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [out];\n"
    "    cvta.to.global.u64 %rd2, %rd1;\n"
    "    ld.param.u32 %r1, [i];\n"
    "    ld.param.s8 %r2, [c];\n"
    "    ld.param.v4.f32 {%f1, %f2, %f3, %f4}, [v];\n"
    "    ld.param.f64 %d1, [d];\n"
    "    st.global.u32 [%rd2], %r1;\n"
    "    st.global.u32 [%rd2+4], %r2;\n"
    "    st.global.f32 [%rd2+8], %f1;\n"
    "    st.global.f32 [%rd2+12], %f4;\n"
    "    st.global.f64 [%rd2+16], %d1;\n"
    "    ret;\n"
    "}\n";

static char buffer[256];
static size_t used;

/* Appends a parameter at the next multiple of its alignment. */
static void add(const void *value, size_t size, size_t align) {
    used = (used + align - 1) / align * align;
    memcpy(buffer + used, value, size);
    used += size;
}

int main(void) {
    start();
    CUmodule module;
    CUfunction report;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&report, module, "report"));
    struct {
        int i, c;
        float x, w;
        double d;
    } answer;
    CUdeviceptr out;
    CHECK(cuMemAlloc(&out, sizeof answer));

    int i = 42;
    float v[4] = {1.5f, 2.5f, 3.5f, 4.5f};
    signed char c = -7;
    double d = 0.125;
    add(&i, sizeof i, sizeof i);
    add(v, sizeof v, 16);
    add(&c, sizeof c, sizeof c);
    add(&out, sizeof out, sizeof out);
    add(&d, sizeof d, sizeof d);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &used, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(report, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    CHECK(cuMemcpyDtoH(&answer, out, sizeof answer));
    printf("%zu bytes of parameters: i = %d, v = %g … %g, c = %d, d = %g\n", used, answer.i, answer.x, answer.w, answer.c,
           answer.d);
    CHECK(cuMemFree(out));
    CHECK(cuModuleUnload(module));
    return !(answer.i == i && answer.x == v[0] && answer.w == v[3] && answer.c == c && answer.d == d);
}
