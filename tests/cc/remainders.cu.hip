// Remainders are exact, so they are the host's, bit for bit: also those of subnormal numbers.

#include <hip/hip_runtime.h>
#include "check.h"
#include <cfloat>
#include <cmath>
#include <cstring>

template <class T> __global__ void remainders(const T *v, int n, T *modulo, T *nearest, T *with_quotient, int *quotient) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n) {
        T x = v[i / n], y = v[i % n];
        modulo[i] = fmod(x, y);
        nearest[i] = remainder(x, y);
        with_quotient[i] = remquo(x, y, &quotient[i]);
    }
}

template <class T> void alike(const char *name, T x, T y, T found, T wanted) {
    bool same = std::isnan(wanted) ? std::isnan(found) : std::memcmp(&found, &wanted, sizeof(T)) == 0;
    if (!same) {
        std::printf("%s(%a, %a) is %a, not %a\n", name, (double)x, (double)y, (double)found, (double)wanted);
        wrong++;
    }
}

template <class T> void compare(T least_normal, T least, T most) {
    const T infinity = (T)INFINITY;
    const T values[] = {1,     (T)0.1,           3,         -7,           most,       -most / 3,    least_normal, least_normal / 3,
                        least, -5 * least,       least * 1001, most / 1024, (T)1e-30, (T)1234567.5, (T)0.75,      -(T)2.5,
                        0,     -least_normal * 3, infinity,  (T)NAN,       (T)1e30,    least_normal * 2 - least};
    const int n = sizeof(values) / sizeof(T);
    T *v = shared_memory<T>(n), *modulo = shared_memory<T>(n * n), *nearest = shared_memory<T>(n * n);
    T *with_quotient = shared_memory<T>(n * n);
    int *quotient = shared_memory<int>(n * n);
    std::memcpy(v, values, sizeof values);
    remainders<<<(n * n + 63) / 64, 64>>>(v, n, modulo, nearest, with_quotient, quotient);
    finish();
    for (int i = 0; i < n * n; i++) {
        T x = values[i / n], y = values[i % n];
        int bits;
        T rest = std::remquo(x, y, &bits);
        alike("fmod", x, y, modulo[i], std::fmod(x, y));
        alike("remainder", x, y, nearest[i], std::remainder(x, y));
        alike("remquo", x, y, with_quotient[i], rest);
        // The manual promises the sign and the last three bits.
        if (!std::isnan(rest) && !std::isinf(y) && (bits & 7) != (quotient[i] & 7)) {
            std::printf("the quotient of %a and %a ends with %d, not %d\n", (double)x, (double)y, quotient[i] & 7, bits & 7);
            wrong++;
        }
    }
}

int main() {
    compare<double>(DBL_MIN, 4.9406564584124654e-324, DBL_MAX);
    compare<float>(FLT_MIN, 1.4012984643248171e-45f, FLT_MAX);
    return result();
}
