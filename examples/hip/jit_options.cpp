// hipModuleLoadDataEx with JIT options: a register limit, and the log for a text with an error.
#include <cstdint>
#include <cstring>

#include "check.hpp"

static const char *const right = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n";
static const char *const wrong = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() {\n    bad.u32 1;\n}\n";

int main() {
    const unsigned count = 3;
    hipJitOption options[count] = {hipJitOptionMaxRegisters, hipJitOptionErrorLogBuffer, hipJitOptionErrorLogBufferSizeBytes};
    static char log[1024];
    void *values[count] = {(void *)(uintptr_t)32, log, (void *)(uintptr_t)sizeof log};
    hipModule_t module;
    hipFunction_t k;
    CHECK(hipModuleLoadDataEx(&module, right, count, options, values));
    CHECK(hipModuleGetFunction(&k, module, "k"));
    CHECK(hipModuleLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, NULL, NULL));
    CHECK(hipDeviceSynchronize());

    values[2] = (void *)(uintptr_t)sizeof log;
    hipError_t result = hipModuleLoadDataEx(&module, wrong, count, options, values);
    std::printf("%s, the log %s line 5\n", hipGetErrorName(result), std::strstr(log, "line 5") ? "names" : "does not name");
    return result == hipSuccess;
}
