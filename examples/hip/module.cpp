// A kernel from a module file, with its parameters in one buffer, as in the porting guide's section on
// hipModuleGetFunction.
//
//   module PATH_OF_copy.ptx
#include <cstring>
#include <vector>

#include "check.hpp"

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s copy.ptx\n", argv[0]);
        return 2;
    }
    const unsigned length = 64;
    const size_t size = length * sizeof(float);
    std::vector<float> a(length), b(length, 0.0f);
    for (unsigned i = 0; i < length; i++) a[i] = i * 1.0f;

    hipDevice_t device;
    hipCtx_t context;
    CHECK(hipInit(0));
    CHECK(hipDeviceGet(&device, 0));
    CHECK(hipCtxCreate(&context, 0, device));

    hipDeviceptr_t from, to;
    CHECK(hipMalloc((void **)&from, size));
    CHECK(hipMalloc((void **)&to, size));
    CHECK(hipMemcpyHtoD(from, a.data(), size));
    CHECK(hipMemcpyHtoD(to, b.data(), size));

    hipModule_t module;
    hipFunction_t function;
    CHECK(hipModuleLoad(&module, argv[1]));
    CHECK(hipModuleGetFunction(&function, module, "copy"));

    std::vector<void *> arguments(2);
    std::memcpy(&arguments[0], &from, sizeof(void *));
    std::memcpy(&arguments[1], &to, sizeof(void *));
    size_t bytes = arguments.size() * sizeof(void *);
    void *config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
    CHECK(hipModuleLaunchKernel(function, 1, 1, 1, length, 1, 1, 0, 0, NULL, config));

    // Both forms of copies: with the direction in the name, and as an argument.
    std::vector<float> c(length, 0.0f);
    CHECK(hipMemcpyDtoH(b.data(), to, size));
    CHECK(hipMemcpy(c.data(), (void *)to, size, hipMemcpyDefault));
    unsigned wrong = 0;
    for (unsigned i = 0; i < length; i++) wrong += b[i] != a[i] || c[i] != a[i];
    std::printf("%u of %u are wrong\n", wrong, length);

    CHECK(hipFree((void *)from));
    CHECK(hipFree((void *)to));
    CHECK(hipModuleUnload(module));
    CHECK(hipCtxDestroy(context));
    return wrong != 0;
}
