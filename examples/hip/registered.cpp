// The porting guide's texture at file scope and its hipLaunchKernelGGL. What hip-clang's start-up code does, this
// program does by hand: it registers PTX, the kernel's host stub and the texture.
#include "check.hpp"

#include <hip/hip_runtime.h>

extern "C" {
void **__hipRegisterFatBinary(const void *wrapper);
void __hipRegisterFunction(void **modules, const void *stub, char *name, const char *device_name, unsigned int threads,
    void *thread, void *block, dim3 *dimensions, dim3 *grid, int *size);
void __hipRegisterTexture(void **modules, void *variable, char *name, char *device_name, int type, int normalized, int ext);
void __hipUnregisterFatBinary(void **modules);
}

texture<float, 2, hipReadModeElementType> tex;

/// The host stub: only its address counts.
void sample(float *out, float scale, int width) { std::printf("not called: %p %g %d\n", static_cast<void *>(out), scale, width); }

static const char *const ptx = ".version 7.0\n.target sm_52\n.address_size 64\n"
                               ".visible .global .texref tex;\n"
                               ".visible .entry sample(.param .u64 out, .param .f32 scale, .param .u32 width) {\n"
                               "    .reg .pred %p;\n    .reg .b32 %r<3>;\n    .reg .f32 %f<8>;\n    .reg .b64 %rd<4>;\n"
                               "    ld.param.u64 %rd1, [out];\n    ld.param.f32 %f7, [scale];\n    ld.param.u32 %r2, [width];\n"
                               "    mov.u32 %r1, %tid.x;\n    setp.ge.u32 %p, %r1, %r2;\n    @%p ret;\n"
                               "    cvt.rn.f32.u32 %f1, %r1;\n    mov.f32 %f2, 0f00000000;\n"
                               "    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [tex, {%f1, %f2}];\n"
                               "    mul.f32 %f3, %f3, %f7;\n    mul.wide.u32 %rd2, %r1, 4;\n    add.s64 %rd3, %rd1, %rd2;\n"
                               "    st.global.f32 [%rd3], %f3;\n    ret;\n}\n";

/// The wrapper around a fat binary, as hip-clang embeds it.
static const struct {
    unsigned int magic, version;
    const void *binary;
    void *unused;
} wrapper = {0x48495046, 1, ptx, NULL};

static void show(const char *how, const float *device) {
    float host[6];
    CHECK(hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost));
    std::printf("%s: %g %g %g %g %g %g\n", how, host[0], host[1], host[2], host[3], host[4], host[5]);
}

int main() {
    char name[] = "sample", texture_name[] = "tex";
    void **modules = __hipRegisterFatBinary(&wrapper);
    const void *stub = reinterpret_cast<const void *>(sample);
    __hipRegisterFunction(modules, stub, name, name, ~0u, NULL, NULL, NULL, NULL, NULL);
    __hipRegisterTexture(modules, &tex, texture_name, texture_name, hipTextureType2D, 0, 0);

    const float row[4] = {1, 2, 3, 4};
    hipChannelFormatDesc channels = hipCreateChannelDesc<float>();
    hipArray_t array;
    CHECK(hipMallocArray(&array, &channels, 4, 1, hipArrayDefault));
    CHECK(hipMemcpy2DToArray(array, 0, 0, row, sizeof row, sizeof row, 1, hipMemcpyHostToDevice));
    tex.addressMode[0] = hipAddressModeClamp;
    CHECK(hipBindTextureToArray(&tex, array, &tex.channelDesc));

    float *out;
    CHECK(hipMalloc(&out, 6 * sizeof *out));
    hipLaunchKernelGGL(HIP_KERNEL_NAME(sample), dim3(1), dim3(32), 0, 0, out, 10, 6);
    CHECK(hipGetLastError());
    show("launched", out);

    float scale = 100;
    int width = 6;
    void *arguments[] = {&out, &scale, &width};
    hipLaunchAttribute cooperative = {};
    cooperative.id = hipLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    hipLaunchConfig_t config = {};
    config.blockDim = dim3(32);
    config.attrs = &cooperative;
    config.numAttrs = 1;
    CHECK(hipLaunchKernelExC(&config, stub, arguments));
    show("cooperative", out);

    CHECK(hipUnbindTexture(&tex));
    CHECK(hipFree(out));
    CHECK(hipFreeArray(array));
    __hipUnregisterFatBinary(modules);
    return 0;
}
