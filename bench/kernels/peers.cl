// The benchmark kernels for OpenCL runtimes: the same work, the same blocks, the same parameters as the CUDA C++ beside this.
#define TID get_local_id
#define CTA get_group_id
typedef uint u32;

kernel void vecadd(global const float *a, global const float *b, global float *c, u32 n) {
    u32 i = get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}
kernel void saxpy(float s, global const float *x, global float *y, u32 n) {
    u32 i = get_global_id(0);
    if (i < n) y[i] = s * x[i] + y[i];
}
kernel void transpose(global const float *in, global float *out, u32 n) {
    local float tile[32][33];
    u32 tx = TID(0), ty = TID(1), x = CTA(0) * 32 + tx, y = CTA(1) * 32 + ty;
    for (u32 j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + j) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    x = CTA(1) * 32 + tx;
    y = CTA(0) * 32 + ty;
    for (u32 j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[tx][ty + j];
}
kernel void reduce(global const float *in, global float *out, u32 n) {
    local float part[256];
    u32 t = TID(0), i = CTA(0) * 512 + t;
    float s = i < n ? in[i] : 0.0f;
    if (i + 256 < n) s += in[i + 256];
    part[t] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 d = 128; d > 0; d >>= 1) {
        if (t < d) part[t] += part[t + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[CTA(0)] = part[0];
}
#define SGEMM(T)                                                                                      \
    kernel void sgemm##T(global const float *a, global const float *b, global float *c, u32 n) {      \
        local float ta[T][T], tb[T][T];                                                               \
        u32 tx = TID(0), ty = TID(1), row = CTA(1) * T + ty, col = CTA(0) * T + tx;                   \
        float sum = 0.0f;                                                                             \
        for (u32 t = 0; t < n; t += T) {                                                              \
            ta[ty][tx] = a[row * n + t + tx];                                                         \
            tb[ty][tx] = b[(t + ty) * n + col];                                                       \
            barrier(CLK_LOCAL_MEM_FENCE);                                                             \
            _Pragma("unroll") for (int k = 0; k < T; k++) sum = fma(ta[ty][k], tb[k][tx], sum);       \
            barrier(CLK_LOCAL_MEM_FENCE);                                                             \
        }                                                                                             \
        c[row * n + col] = sum;                                                                       \
    }
SGEMM(16)
SGEMM(32)
kernel void nbody(global const float4 *p, global float4 *acc, u32 n, float eps) {
    local float4 tile[256];
    u32 tx = TID(0), i = get_global_id(0);
    float4 me = p[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (u32 t = 0; t < n; t += 256) {
        tile[tx] = p[t + tx];
        barrier(CLK_LOCAL_MEM_FENCE);
        _Pragma("unroll 8") for (u32 j = 0; j < 256; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float r = rsqrt(fma(dx, dx, fma(dy, dy, fma(dz, dz, eps))));
            float f = tile[j].w * r * r * r;
            ax = fma(f, dx, ax);
            ay = fma(f, dy, ay);
            az = fma(f, dz, az);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    acc[i] = (float4)(ax, ay, az, 0.0f);
}
kernel void mandelbrot(global u32 *out, u32 width, u32 height, u32 limit) {
    u32 px = get_global_id(0), py = get_global_id(1);
    if (px >= width || py >= height) return;
    float cx = -2.0f + 3.0f * (float)px / (float)width, cy = -1.5f + 3.0f * (float)py / (float)height;
    float x = 0.0f, y = 0.0f;
    u32 k = 0;
    while (k < limit && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        k++;
    }
    out[py * width + px] = k;
}
float cnd(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float poly = k * fma(k, fma(k, fma(k, fma(k, 1.330274429f, -1.821255978f), 1.781477937f), -0.356563782f), 0.31938153f);
    float tail = 0.39894228040143267794f * native_exp2(-0.5f * d * d * 1.4426950408889634f) * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}
kernel void blackscholes(global const float *price, global const float *strike, global const float *years, global float *call,
                         global float *put, u32 n, float rate, float vol) {
    u32 i = get_global_id(0);
    if (i >= n) return;
    float s = price[i], x = strike[i], t = years[i];
    float root = sqrt(t);
    float d1 = (native_log2(s / x) * 0.6931471805599453f + (rate + 0.5f * vol * vol) * t) / (vol * root);
    float d2 = d1 - vol * root;
    float c1 = cnd(d1), c2 = cnd(d2);
    float disc = x * native_exp2(-rate * t * 1.4426950408889634f);
    call[i] = s * c1 - disc * c2;
    put[i] = disc * (1.0f - c2) - s * (1.0f - c1);
}
kernel void histogram(global const u32 *data, global u32 *bins, u32 words) {
    local u32 part[256];
    u32 tx = TID(0);
    part[tx] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = get_global_id(0); i < words; i += get_global_size(0)) {
        u32 v = data[i];
        atomic_add(&part[v & 255], 1);
        atomic_add(&part[(v >> 8) & 255], 1);
        atomic_add(&part[(v >> 16) & 255], 1);
        atomic_add(&part[v >> 24], 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[tx], part[tx]);
}
kernel void stencil(global const float *in, global float *out, u32 n, float c0, float c1) {
    u32 x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    u32 plane = n * n, at = y * n + x;
    for (u32 z = 1; z < n - 1; z++) {
        u32 i = z * plane + at;
        out[i] = c0 * in[i] + c1 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane]);
    }
}
kernel void conv_rows(global const float *taps, global const float *in, global float *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    float s = 0.0f;
    _Pragma("unroll") for (int k = -8; k <= 8; k++) s = fma(taps[k + 8], in[y * width + clamp(x + k, 0, width - 1)], s);
    out[y * width + x] = s;
}
kernel void conv_cols(global const float *taps, global const float *in, global float *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    float s = 0.0f;
    _Pragma("unroll") for (int k = -8; k <= 8; k++) s = fma(taps[k + 8], in[clamp(y + k, 0, height - 1) * width + x], s);
    out[y * width + x] = s;
}
kernel void bitonic(global u32 *data, u32 j, u32 k) {
    u32 i = get_global_id(0), other = i ^ j;
    if (other <= i) return;
    u32 a = data[i], b = data[other];
    bool up = (i & k) == 0;
    if ((a > b) == up) {
        data[i] = b;
        data[other] = a;
    }
}
kernel void spmv(global const u32 *row, global const u32 *col, global const float *val, global const float *x, global float *y,
                 u32 rows) {
    u32 r = get_global_id(0);
    if (r >= rows) return;
    float s = 0.0f;
    for (u32 k = row[r]; k < row[r + 1]; k++) s = fma(val[k], x[col[k]], s);
    y[r] = s;
}
kernel void scan_blocks(global const u32 *in, global u32 *out, global u32 *sums) {
    local u32 part[2][256];
    u32 t = TID(0), i = get_global_id(0), from = 0;
    part[0][t] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 d = 1; d < 256; d <<= 1) {
        part[1 - from][t] = t >= d ? part[from][t] + part[from][t - d] : part[from][t];
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = part[from][t];
    if (t == 255) sums[CTA(0)] = part[from][t];
}
kernel void scan_add(global u32 *out, global const u32 *sums) {
    if (CTA(0) > 0) out[get_global_id(0)] += sums[CTA(0) - 1];
}
