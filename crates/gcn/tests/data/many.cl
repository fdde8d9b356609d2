// Code of many kinds, which clang compiles in crates/gcn/tests/all/oracle.rs.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable

static unsigned here(void) {
    return __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
}

kernel void doubles(global double *a, global const double *b, double c) {
    unsigned i = here();
    a[i] = __builtin_fma(b[i], c, a[i]) / (b[i] + 3.0);
    a[i] = __builtin_floor(a[i]) + (double)(long)b[i] + (double)(float)a[i];
}

kernel void halves(global half *a, global const half *b, global half2 *c) {
    unsigned i = here();
    a[i] = a[i] * b[i] + (half)1.0f;
    c[i] = c[i] * c[i + 1] + c[i + 2];
}

kernel void integers(global long *a, global int *b, global short *c, global uchar *d) {
    unsigned i = here();
    a[i] = a[i] * b[i] / (a[i + 1] | 1);
    b[i] = b[i] / (c[i] | 1) + (b[i] >> (c[i] & 31)) - __builtin_popcount(b[i]);
    c[i] = (short)(c[i] * 3 + d[i]);
    d[i] = (uchar)(d[i] + __builtin_clz(b[i] | 1));
}

kernel void shared(global float *data, local float *extra) {
    local float tile[512];
    unsigned i = __builtin_amdgcn_workitem_id_x();
    tile[i] = data[here()];
    extra[i] = tile[i] * 2;
    for (unsigned step = 128; step > 0; step >>= 1) {
        __builtin_amdgcn_s_barrier();
        if (i < step) tile[i] += tile[i + step] + extra[i ^ 1];
    }
    __builtin_amdgcn_s_barrier();
    if (i == 0) data[__builtin_amdgcn_workgroup_id_x()] = tile[0];
}

kernel void atomics(global int *a, global long *b, local int *c) {
    unsigned i = here();
    __atomic_fetch_add(&a[i & 15], 3, __ATOMIC_RELAXED);
    int old = __atomic_fetch_max(&a[i & 7], (int)i, __ATOMIC_SEQ_CST);
    __atomic_fetch_xor(&b[i & 3], (long)old, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&c[i & 3], old, __ATOMIC_RELAXED);
    int expected = 5;
    __atomic_compare_exchange_n(&a[i], &expected, 7, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    b[i] = expected;
}

kernel void scratch(global int *a, int n) {
    int many[64];
    for (int i = 0; i < 64; i++) many[i] = a[i] * n;
    for (int i = 0; i < n; i++) many[many[i] & 63] += i;
    a[here()] = many[n & 63];
}

kernel void choices(global int *a, int n) {
    unsigned i = here();
    switch (a[i] & 7) {
    case 0: a[i] = n * 3; break;
    case 1: a[i] += __builtin_amdgcn_readfirstlane(a[i]); break;
    case 2: while (a[i] > n) a[i] -= n + 1; break;
    case 3: a[i] = __builtin_amdgcn_ds_bpermute(a[i] * 4, n); break;
    case 4: a[i] = __builtin_amdgcn_update_dpp(0, a[i], 0x111, 0xf, 0xf, 0); break;
    case 5: a[i] = __builtin_amdgcn_ds_swizzle(a[i], 0x1f); break;
    default: a[i] = (int)(__builtin_sqrtf((float)a[i]) * 0.5f); break;
    }
}

kernel void floats(global float *a, global const float4 *b, global float16 *c) {
    unsigned i = here();
    float4 v = b[i];
    a[i] = -v.x * v.y + __builtin_fabsf(v.z) - v.w;
    a[i] = __builtin_fminf(__builtin_fmaxf(a[i], 0.0f), 1.0f);
    a[i + 1] = __builtin_rintf(a[i]) / v.x + (float)(unsigned)v.y + (float)(int)v.z;
    c[i] = c[i] * v.x + c[i + 1];
}
