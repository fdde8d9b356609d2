/* The benchmark kernels as a C programmer would write them: simple loops, with OpenMP over the cores. Each
 * function takes the parameters of the kernel with its name as an array of pointers. Blocks and barriers
 * have no equivalent. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
#define F(i) (*(float **)args[i])
#define U(i) (*(u32 **)args[i])
#define FV(i) (*(float *)args[i])
#define UV(i) (*(u32 *)args[i])

void vecadd(void **args) {
    const float *restrict a = F(0), *restrict b = F(1);
    float *restrict c = F(2);
    long n = UV(3);
#pragma omp parallel for simd
    for (long i = 0; i < n; i++) c[i] = a[i] + b[i];
}
void saxpy(void **args) {
    float s = FV(0);
    const float *restrict x = F(1);
    float *restrict y = F(2);
    long n = UV(3);
#pragma omp parallel for simd
    for (long i = 0; i < n; i++) y[i] = s * x[i] + y[i];
}
void transpose(void **args) {
    const float *restrict in = F(0);
    float *restrict out = F(1);
    long n = UV(2);
#pragma omp parallel for
    for (long by = 0; by < n; by += 32)
        for (long bx = 0; bx < n; bx += 32)
            for (long x = bx; x < bx + 32; x++)
                for (long y = by; y < by + 32; y++) out[x * n + y] = in[y * n + x];
}
void reduce(void **args) {
    const float *restrict in = F(0);
    float *restrict out = F(1);
    long n = UV(2);
#pragma omp parallel for
    for (long b = 0; b < (n + 511) / 512; b++) {
        long end = b * 512 + 512 < n ? b * 512 + 512 : n;
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (long i = b * 512; i < end; i++) s += in[i];
        out[b] = s;
    }
}
void sgemm16(void **args) {
    const float *restrict a = F(0), *restrict b = F(1);
    float *restrict c = F(2);
    long n = UV(3);
#pragma omp parallel for
    for (long i0 = 0; i0 < n; i0 += 32) {
        for (long i = i0; i < i0 + 32; i++) memset(c + i * n, 0, (size_t)n * sizeof(float));
        for (long k0 = 0; k0 < n; k0 += 64)
            for (long j0 = 0; j0 < n; j0 += 256)
                for (long i = i0; i < i0 + 32; i++)
                    for (long k = k0; k < k0 + 64; k++) {
                        float v = a[i * n + k];
#pragma omp simd
                        for (long j = j0; j < j0 + 256; j++) c[i * n + j] += v * b[k * n + j];
                    }
    }
}
void sgemm32(void **args) { sgemm16(args); }
void nbody(void **args) {
    const float *restrict p = F(0);
    float *restrict acc = F(1);
    long n = UV(2);
    float eps = FV(3);
    float *soa = malloc(4 * (size_t)n * sizeof(float));
    for (long i = 0; i < n; i++)
        for (int k = 0; k < 4; k++) soa[k * n + i] = p[4 * i + k];
    const float *restrict px = soa, *restrict py = soa + n, *restrict pz = soa + 2 * n, *restrict pm = soa + 3 * n;
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        float ax = 0, ay = 0, az = 0, x = px[i], y = py[i], z = pz[i];
#pragma omp simd reduction(+ : ax, ay, az)
        for (long j = 0; j < n; j++) {
            float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
            float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + eps), f = pm[j] * r * r * r;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        acc[4 * i] = ax;
        acc[4 * i + 1] = ay;
        acc[4 * i + 2] = az;
        acc[4 * i + 3] = 0;
    }
    free(soa);
}
void mandelbrot(void **args) {
    u32 *restrict out = U(0);
    u32 w = UV(1), h = UV(2), limit = UV(3);
#pragma omp parallel for schedule(dynamic, 8)
    for (u32 py = 0; py < h; py++)
        for (u32 px = 0; px < w; px++) {
            float cx = -2.0f + 3.0f * (float)px / (float)w, cy = -1.5f + 3.0f * (float)py / (float)h, x = 0, y = 0;
            u32 k = 0;
            while (k < limit && x * x + y * y < 4.0f) {
                float t = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = t;
                k++;
            }
            out[py * w + px] = k;
        }
}
static inline float cnd(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float poly = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228040143267794f * expf(-0.5f * d * d) * poly;
    return d > 0 ? 1.0f - tail : tail;
}
void blackscholes(void **args) {
    const float *restrict price = F(0), *restrict strike = F(1), *restrict years = F(2);
    float *restrict call = F(3), *restrict put = F(4);
    long n = UV(5);
    float rate = FV(6), vol = FV(7);
#pragma omp parallel for simd
    for (long i = 0; i < n; i++) {
        float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
        float d1 = (logf(s / x) + (rate + 0.5f * vol * vol) * t) / (vol * root), d2 = d1 - vol * root;
        float c1 = cnd(d1), c2 = cnd(d2), disc = x * expf(-rate * t);
        call[i] = s * c1 - disc * c2;
        put[i] = disc * (1.0f - c2) - s * (1.0f - c1);
    }
}
void histogram(void **args) {
    const unsigned char *data = (const unsigned char *)U(0);
    u32 *bins = U(1);
    long n = 4l * UV(2);
#pragma omp parallel
    {
        u32 part[4][256] = {{0}};
#pragma omp for
        for (long i = 0; i < n; i += 4) {
            part[0][data[i]]++;
            part[1][data[i + 1]]++;
            part[2][data[i + 2]]++;
            part[3][data[i + 3]]++;
        }
#pragma omp critical
        for (int b = 0; b < 256; b++) bins[b] += part[0][b] + part[1][b] + part[2][b] + part[3][b];
    }
}
void stencil(void **args) {
    const float *restrict in = F(0);
    float *restrict out = F(1);
    long n = UV(2);
    float c0 = FV(3), c1 = FV(4);
#pragma omp parallel for
    for (long z = 1; z < n - 1; z++)
        for (long y = 1; y < n - 1; y++) {
            long at = (z * n + y) * n;
#pragma omp simd
            for (long i = at + 1; i < at + n - 1; i++)
                out[i] = c0 * in[i] + c1 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
        }
}
static inline long edge(long v, long hi) { return v < 0 ? 0 : v > hi ? hi : v; }
void conv_rows(void **args) {
    const float *restrict taps = F(0), *restrict in = F(1);
    float *restrict out = F(2);
    long w = UV(3), h = UV(4);
#pragma omp parallel for
    for (long y = 0; y < h; y++) {
        for (long x = 0; x < w; x = x == 7 ? w - 8 : x + 1) {
            float s = 0;
            for (long k = -8; k <= 8; k++) s += taps[k + 8] * in[y * w + edge(x + k, w - 1)];
            out[y * w + x] = s;
        }
#pragma omp simd
        for (long x = 8; x < w - 8; x++) {
            float s = 0;
            for (long k = -8; k <= 8; k++) s += taps[k + 8] * in[y * w + x + k];
            out[y * w + x] = s;
        }
    }
}
void conv_cols(void **args) {
    const float *restrict taps = F(0), *restrict in = F(1);
    float *restrict out = F(2);
    long w = UV(3), h = UV(4);
#pragma omp parallel for
    for (long y = 0; y < h; y++) {
        const float *rows[17];
        for (long k = -8; k <= 8; k++) rows[k + 8] = in + edge(y + k, h - 1) * w;
#pragma omp simd
        for (long x = 0; x < w; x++) {
            float s = 0;
            for (int k = 0; k < 17; k++) s += taps[k] * rows[k][x];
            out[y * w + x] = s;
        }
    }
}
void bitonic(void **args) {
    u32 *restrict data = U(0);
    long n = UV(3), j = UV(1), k = UV(2);
#pragma omp parallel for
    for (long base = 0; base < n; base += 2 * j) {
        int up = (base & k) == 0;
        for (long i = base; i < base + j; i++) {
            u32 a = data[i], b = data[i + j], lo = a < b ? a : b, hi = a < b ? b : a;
            data[i] = up ? lo : hi;
            data[i + j] = up ? hi : lo;
        }
    }
}
void spmv(void **args) {
    const u32 *restrict row = U(0), *restrict col = U(1);
    const float *restrict val = F(2), *restrict x = F(3);
    float *restrict y = F(4);
    long rows = UV(5);
#pragma omp parallel for
    for (long r = 0; r < rows; r++) {
        float s = 0;
        for (u32 k = row[r]; k < row[r + 1]; k++) s += val[k] * x[col[k]];
        y[r] = s;
    }
}
void scan(void **args) {
    const u32 *restrict in = U(0);
    u32 *restrict out = U(1);
    long n = UV(2), parts = 64, step = n / parts;
    u32 sums[64];
#pragma omp parallel for
    for (long p = 0; p < parts; p++) {
        u32 s = 0;
        for (long i = p * step; i < (p + 1) * step; i++) out[i] = s += in[i];
        sums[p] = s;
    }
    for (long p = 1; p < parts; p++) sums[p] += sums[p - 1];
#pragma omp parallel for
    for (long p = 1; p < parts; p++)
        for (long i = p * step; i < (p + 1) * step; i++) out[i] += sums[p - 1];
}
