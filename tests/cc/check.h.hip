// Shared by the programs of this folder: they print `ok`, or what is wrong, and return a status.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static int wrong = 0;

#define CHECK(call)                                                                                         \
    do {                                                                                                    \
        hipError_t error_ = (call);                                                                        \
        if (error_ != hipSuccess) {                                                                        \
            std::printf("line %d: %s: %s\n", __LINE__, #call, hipGetErrorString(error_));                  \
            std::exit(1);                                                                                   \
        }                                                                                                   \
    } while (0)

// Compares bits, so that NaNs and zeros count.
template <class T> void expect(const char *what, long index, const T &is, const T &should) {
    if (std::memcmp(&is, &should, sizeof(T)) == 0 || wrong++ >= 10)
        return;
    std::printf("%s[%ld]: %.9g (0x%llx) instead of %.9g (0x%llx)\n", what, index, (double)is,
                (unsigned long long)(long long)is, (double)should, (unsigned long long)(long long)should);
}

// Memory that both sides can use.
template <class T> T *shared_memory(size_t count) {
    T *at;
    CHECK(hipMallocManaged(&at, count * sizeof(T)));
    std::memset(at, 0, count * sizeof(T));
    return at;
}

static inline void finish() {
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
}

static inline int result() {
    std::printf(wrong ? "%d wrong\n" : "ok\n", wrong);
    return wrong != 0;
}
