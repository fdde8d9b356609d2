// Shared by the examples: a check around every call.
#ifndef HIP_EXAMPLES_CHECK_HPP
#define HIP_EXAMPLES_CHECK_HPP

#include <cstdio>
#include <cstdlib>

#include <hip/hip_runtime_api.h>

inline void check(hipError_t result, const char *call, int line) {
    if (result == hipSuccess) return;
    std::fprintf(stderr, "line %d: %s: %s (%s)\n", line, call, hipGetErrorName(result), hipGetErrorString(result));
    std::exit(1);
}

#define CHECK(call) check((call), #call, __LINE__)

#endif
