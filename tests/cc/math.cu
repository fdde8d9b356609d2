// The functions of math.h, compared with values that mpmath computed (values.py writes math.tsv).
// An argument names the file; with a second one, the largest errors are printed instead of compared.
// argument: math.tsv
// without AMD: it did not end within two minutes there
#include "check.h"
#include <cmath>
#include <map>
#include <string>
#include <vector>

// Name, number of arguments, and the largest error in units in the last place for float and for double.
#define FUNCTIONS(F1, F2)                                                                                   \
    F1(sin, 0.51, 0.65) F1(cos, 0.51, 0.65) F1(tan, 0.51, 0.7) F1(sinpi, 0.51, 0.7) F1(cospi, 0.51, 0.7)      \
    F1(asin, 0.51, 0.6) F1(acos, 0.51, 0.6) F1(atan, 0.51, 0.55) F2(atan2, 0.51, 0.55)                        \
    F1(sinh, 0.51, 2) F1(cosh, 0.51, 1.3) F1(tanh, 0.51, 2) F1(asinh, 0.51, 1.6) F1(acosh, 0.51, 2.5)             \
    F1(atanh, 0.51, 1.6) F1(exp, 0.51, 0.8) F1(exp2, 0.51, 0.85) F1(exp10, 0.51, 0.85) F1(expm1, 0.51, 0.8)     \
    F1(log, 0.51, 0.65) F1(log2, 0.51, 0.51) F1(log10, 0.51, 0.51) F1(log1p, 0.51, 1.5)                          \
    F2(pow, 0.51, 0.8) F1(cbrt, 0.51, 1) F1(rcbrt, 0.51, 2.1) F1(rsqrt, 0.51, 0.51)                        \
    F2(hypot, 0.51, 0.51) F2(rhypot, 0.51, 1.5) F1(erf, 0.51, 1) F1(erfc, 0.51, 2.5) F1(erfcx, 0.51, 2.2)        \
    F1(erfinv, 0.51, 2) F1(erfcinv, 0.51, 2) F1(normcdf, 0.51, 3.5) F1(tgamma, 0.51, 3.5) F1(lgamma, 0.51, 2.5)   \
    F2(fmod, 0, 0) F1(round, 0, 0)

#define KERNEL1(name, of_float, of_double)                                                                  \
    template <class T> __global__ void run_##name(const T *x, const T *, T *out, int n) {                   \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                      \
        if (i < n)                                                                                          \
            out[i] = name(x[i]);                                                                            \
    }
#define KERNEL2(name, of_float, of_double)                                                                  \
    template <class T> __global__ void run_##name(const T *x, const T *y, T *out, int n) {                  \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                      \
        if (i < n)                                                                                          \
            out[i] = name(x[i], y[i]);                                                                      \
    }
FUNCTIONS(KERNEL1, KERNEL2)

struct Function {
    const char *name;
    int arguments;
    double bounds[2];
    void (*of_float)(const float *, const float *, float *, int);
    void (*of_double)(const double *, const double *, double *, int);
};
#define ROW1(name, of_float, of_double) {#name, 1, {of_float, of_double}, run_##name<float>, run_##name<double>},
#define ROW2(name, of_float, of_double) {#name, 2, {of_float, of_double}, run_##name<float>, run_##name<double>},
static const Function functions[] = {FUNCTIONS(ROW1, ROW2)};

struct Row {
    double x[2], high, low;
};

// The distance of two neighbours around a value.
template <class T> double unit(double value) {
    int e;
    std::frexp(value, &e);
    const int least = sizeof(T) == 4 ? -148 : -1073, digits = sizeof(T) == 4 ? 24 : 53;
    return std::ldexp(1.0, (e - digits < least - 1 ? least - 1 : e - digits));
}

template <class T>
double largest(const Function &f, void (*kernel)(const T *, const T *, T *, int), const std::vector<Row> &rows, Row *worst) {
    int n = (int)rows.size();
    T *x = shared_memory<T>(n), *y = shared_memory<T>(n), *out = shared_memory<T>(n);
    for (int i = 0; i < n; i++) {
        x[i] = (T)rows[i].x[0];
        y[i] = (T)rows[i].x[1];
    }
    kernel<<<(n + 127) / 128, 128>>>(x, y, out, n);
    finish();
    double most = 0;
    for (int i = 0; i < n; i++) {
        double error = std::fabs(((double)out[i] - rows[i].high) - rows[i].low) / unit<T>(rows[i].high);
        if (!(error <= most)) {
            most = error == error ? error : HUGE_VAL;
            *worst = rows[i];
        }
    }
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(out));
    return most;
}

int main(int argc, char **argv) {
    std::FILE *file = argc > 1 ? std::fopen(argv[1], "r") : nullptr;
    if (!file) {
        std::printf("name math.tsv\n");
        return 1;
    }
    std::map<std::string, std::vector<Row>> tables[2];
    char kind, name[16];
    while (std::fscanf(file, " %c %15s", &kind, name) == 2) {
        Row row = {};
        int arguments = 0;
        for (const Function &f : functions)
            if (std::strcmp(f.name, name) == 0)
                arguments = f.arguments;
        for (int i = 0; i < arguments; i++)
            if (std::fscanf(file, " %la", &row.x[i]) != 1)
                wrong++;
        if (arguments == 0 || std::fscanf(file, " %la %la", &row.high, &row.low) != 2) {
            std::printf("a line of %s is wrong\n", name);
            return 1;
        }
        tables[kind == 'd'][name].push_back(row);
    }
    std::fclose(file);
    for (const Function &f : functions) {
        Row worst[2];
        double most[2] = {largest<float>(f, f.of_float, tables[0][f.name], &worst[0]),
                          largest<double>(f, f.of_double, tables[1][f.name], &worst[1])};
        if (argc > 2)
            std::printf("| `%s` | %.4g | %.4g |\n", f.name, most[0], most[1]);
        for (int i = 0; i < 2; i++) {
            if (tables[i][f.name].empty() || most[i] > f.bounds[i]) {
                wrong++;
                std::printf("%s of %s: error %g instead of at most %g, of %zu values; at %a %a, which is %a\n", f.name,
                            i ? "double" : "float", most[i], f.bounds[i], tables[i][f.name].size(), worst[i].x[0],
                            worst[i].x[1], worst[i].high);
            }
        }
    }
    return result();
}
