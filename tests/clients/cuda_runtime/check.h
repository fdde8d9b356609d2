/* Checks of a call, and of a value against the one that is right. */
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CALL(call)                                                                                           \
    do {                                                                                                     \
        cudaError_t code_ = (call);                                                                          \
        if (code_ != cudaSuccess) {                                                                          \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(code_));     \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

#define SAME(what, is, wanted)                                                                               \
    do {                                                                                                     \
        double found_ = (is), right_ = (wanted);                                                             \
        if (found_ != right_) {                                                                              \
            std::fprintf(stderr, "%s:%d: %s is %g; it should be %g\n", __FILE__, __LINE__, what, found_, right_);\
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)
