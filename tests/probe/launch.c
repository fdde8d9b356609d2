/* Launches, occupancy, device printf. */
#include "probe.h"

void group_launch(void)
{
    CUdeviceptr p = 0;
    unsigned host[16] = {0}, n = 1000;
    CUmodule m, params;
    setup();
    m = load(ptx_main);
    params = load(ptx_params);
    CUfunction scale = function(m, "scale"), empty = function(m, "empty"), dyn = function(m, "dynsmem"), dims = function(m, "dims");
    R(cuMemAlloc, &p, 65536);
    void *args[] = {&p, &n};
    T("ok", cuLaunchKernel, scale, 4, 1, 1, 256, 1, 1, 0, NULL, args, NULL);
    T("sync", cuCtxSynchronize);
    R(cuMemcpyDtoH, host, p, 16);
    V("v", "%u %u %u", host[0], host[1], host[2]);
    static const struct { const char *name; unsigned g[3], b[3], shared; } sizes[] = {
        {"grid0", {0, 1, 1}, {1, 1, 1}, 0}, {"gridy0", {1, 0, 1}, {1, 1, 1}, 0}, {"gridz0", {1, 1, 0}, {1, 1, 1}, 0},
        {"block0", {1, 1, 1}, {0, 1, 1}, 0}, {"blocky0", {1, 1, 1}, {1, 0, 1}, 0}, {"blockz0", {1, 1, 1}, {1, 1, 0}, 0},
        {"block1024", {1, 1, 1}, {1024, 1, 1}, 0}, {"block1025", {1, 1, 1}, {1025, 1, 1}, 0}, {"block.32x32", {1, 1, 1}, {32, 32, 1}, 0},
        {"block.32x32x2", {1, 1, 1}, {32, 32, 2}, 0}, {"blockz64", {1, 1, 1}, {1, 1, 64}, 0}, {"blockz65", {1, 1, 1}, {1, 1, 65}, 0},
        {"blocky1024", {1, 1, 1}, {1, 1024, 1}, 0}, {"blocky1025", {1, 1, 1}, {1, 1025, 1}, 0}, {"gridy65535", {1, 65535, 1}, {1, 1, 1}, 0},
        {"gridy65536", {1, 65536, 1}, {1, 1, 1}, 0}, {"gridz65535", {1, 1, 65535}, {1, 1, 1}, 0}, {"gridz65536", {1, 1, 65536}, {1, 1, 1}, 0},
        {"gridx.2e31", {0x80000000u, 1, 1}, {1, 1, 1}, 0}, {"gridx.max", {0xffffffffu, 1, 1}, {1, 1, 1}, 0},
        {"block.overflow", {1, 1, 1}, {0x10000, 0x10000, 1}, 0}, {"shared.48k", {1, 1, 1}, {1, 1, 1}, 49152},
        {"shared.48k1", {1, 1, 1}, {1, 1, 1}, 49153}, {"shared.49k", {1, 1, 1}, {1, 1, 1}, 50176}, {"shared.max", {1, 1, 1}, {1, 1, 1}, 0xffffffffu},
        {"block33", {1, 1, 1}, {33, 1, 1}, 0}};
    for (size_t i = 0; i < COUNT(sizes); i++)
        T(sizes[i].name, cuLaunchKernel, empty, sizes[i].g[0], sizes[i].g[1], sizes[i].g[2], sizes[i].b[0], sizes[i].b[1], sizes[i].b[2],
          sizes[i].shared, NULL, NULL, NULL);
    T("sizes.sync", cuCtxSynchronize);
    void *out[] = {&p};
    T("dims", cuLaunchKernel, dims, 3, 4, 5, 6, 7, 8, 100, NULL, out, NULL);
    R(cuMemcpyDtoH, host, p, 36);
    V("dims.v", "%u %u %u %u %u %u dynamic=%u warp=%u", host[0], host[1], host[2], host[3], host[4], host[5], host[7], host[8]);
    M("dims.totalshared", "%u", host[6]);
    T("static.4k", cuLaunchKernel, function(m, "smem"), 1, 1, 1, 32, 1, 1, 0, NULL, out, NULL);
    T("static+dyn.44k", cuLaunchKernel, function(m, "smem"), 1, 1, 1, 32, 1, 1, 45056, NULL, out, NULL);
    T("static+dyn.45k", cuLaunchKernel, function(m, "smem"), 1, 1, 1, 32, 1, 1, 46080, NULL, out, NULL);
    T("static40k+dyn", cuLaunchKernel, function(m, "smem40k"), 1, 1, 1, 32, 1, 1, 16384, NULL, out, NULL);
    T("optin.set", cuFuncSetAttribute, dyn, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536);
    unsigned last = 65532;
    void *da[] = {&p, &last};
    T("optin.launch", cuLaunchKernel, dyn, 1, 1, 1, 1, 1, 1, 65536, NULL, da, NULL);
    R(cuMemcpyDtoH, host, p, 8);
    V("optin.v", "%u %u", host[0], host[1]);
    T("optin.more", cuLaunchKernel, dyn, 1, 1, 1, 1, 1, 1, 65540, NULL, da, NULL);
    T("optin.lower", cuFuncSetAttribute, dyn, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024);
    last = 0;
    T("optin.lower.2k", cuLaunchKernel, dyn, 1, 1, 1, 1, 1, 1, 2048, NULL, da, NULL);
    T("optin.lower.48k", cuLaunchKernel, dyn, 1, 1, 1, 1, 1, 1, 49152, NULL, da, NULL);
    T("optin.sync", cuCtxSynchronize);
    T("maxntid.128", cuLaunchKernel, function(m, "bounded"), 1, 1, 1, 128, 1, 1, 0, NULL, out, NULL);
    T("maxntid.129", cuLaunchKernel, function(m, "bounded"), 1, 1, 1, 129, 1, 1, 0, NULL, out, NULL);
    T("maxntid.64x2", cuLaunchKernel, function(m, "bounded"), 1, 1, 1, 64, 2, 1, 0, NULL, out, NULL);
    T("maxntid.1x128", cuLaunchKernel, function(m, "bounded"), 1, 1, 1, 1, 128, 1, 0, NULL, out, NULL);
    T("reqntid.64", cuLaunchKernel, function(m, "required"), 1, 1, 1, 64, 1, 1, 0, NULL, out, NULL);
    T("reqntid.32", cuLaunchKernel, function(m, "required"), 1, 1, 1, 32, 1, 1, 0, NULL, out, NULL);
    T("reqntid.65", cuLaunchKernel, function(m, "required"), 1, 1, 1, 65, 1, 1, 0, NULL, out, NULL);
    T("reqntid.1x64", cuLaunchKernel, function(m, "required"), 1, 1, 1, 1, 64, 1, 0, NULL, out, NULL);
    T("reqntid.sync", cuCtxSynchronize);
    T("nullfn", cuLaunchKernel, NULL, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("garbagefn", cuLaunchKernel, (CUfunction)0x1234, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("noargs", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    void *withnull[] = {&p, NULL};
    T("nullarg", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, withnull, NULL);
    T("garbagestream", cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, (CUstream)0x1234, NULL, NULL);
    T("perthread", cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL);
    T("legacystream", cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, NULL, NULL);
    T("emptyargs", cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    struct { CUdeviceptr p; unsigned n; unsigned more[30]; } buffer = {p, 1000, {0}};
    size_t bytes = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    R(cuMemsetD8, p, 0, 4096);
    T("extra", cuLaunchKernel, scale, 4, 1, 1, 256, 1, 1, 0, NULL, NULL, extra);
    R(cuMemcpyDtoH, host, p, 16);
    V("extra.v", "%u", host[3]);
    bytes = 16;
    T("extra.padded", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    bytes = 8;
    T("extra.short", cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    bytes = 20;
    T("extra.long", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    bytes = 100;
    T("extra.longer", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    bytes = 0;
    T("extra.zero", cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    bytes = 12;
    T("both", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, args, extra);
    void *nosize[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_END};
    T("extra.nosize", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, nosize);
    void *nobuffer[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    T("extra.nobuffer", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, nobuffer);
    void *badkey[] = {(void *)77, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    T("extra.badkey", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, badkey);
    void *onlyend[] = {CU_LAUNCH_PARAM_END};
    T("extra.onlyend", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, onlyend);
    T("extra.onlyend.empty", cuLaunchKernel, empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, onlyend);
    void *reversed[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_END};
    T("extra.reversed", cuLaunchKernel, scale, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, reversed);
    T("extra.sync", cuCtxSynchronize);
    unsigned a = 7;
    unsigned b[4] __attribute__((aligned(16))) = {1, 2, 3, 4};
    unsigned char c = 200;
    float d = 5.5f;
    unsigned long long e = 0x1122334455667788ULL, f = 9;
    void *mixed[] = {&a, b, &c, &d, &e, &f, &p};
    T("mixed", cuLaunchKernel, function(params, "mixed"), 1, 1, 1, 1, 1, 1, 0, NULL, mixed, NULL);
    R(cuMemcpyDtoH, host, p, 48);
    float back;
    memcpy(&back, &host[6], 4);
    V("mixed.v", "%u %u %u %u %u %u %g %x%08x %u", host[0], host[1], host[2], host[3], host[4], host[5], back, host[9], host[8], host[10]);
    static unsigned char big[4000];
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (unsigned char)i;
    unsigned k = 3996;
    void *bigargs[] = {big, &p, &k};
    T("big", cuLaunchKernel, function(params, "big"), 1, 1, 1, 1, 1, 1, 0, NULL, bigargs, NULL);
    R(cuMemcpyDtoH, host, p, 4);
    V("big.v", "%08x", host[0]);
    unsigned times = 3;
    void *local[] = {&p, &times};
    T("local", cuLaunchKernel, function(m, "local4k"), 2, 1, 1, 64, 1, 1, 0, NULL, local, NULL);
    R(cuMemcpyDtoH, host, p, 4);
    V("local.v", "%u", host[0]);
    R(cuMemsetD8, p, 0, 4);
    for (int i = 0; i < 100; i++)
        R(cuLaunchKernel, function(m, "addone"), 10, 1, 1, 32, 1, 1, 0, NULL, out, NULL);
    T("hundred.sync", cuCtxSynchronize);
    R(cuMemcpyDtoH, host, p, 4);
    V("hundred.v", "%u", host[0]);
    static const unsigned long long heaps[] = {1, 100, 1000000, 1ull << 40, 0};
    for (size_t i = 0; i < COUNT(heaps); i++) {
        unsigned long long size = heaps[i];
        void *ha[] = {&p, &size};
        T(N("malloc.%llu", size), cuLaunchKernel, function(m, "heap"), 1, 1, 1, 1, 1, 1, 0, NULL, ha, NULL);
        T(N("malloc.%llu.sync", size), cuCtxSynchronize);
        R(cuMemcpyDtoH, host, p, 8);
        V(N("malloc.%llu.v", size), "got=%u aligned=%d", host[0], host[1] == 0);
    }
}

void group_launchex(void)
{
    CUdeviceptr p = 0;
    unsigned n = 100, host[4];
    setup();
    CUmodule m = load(ptx_main);
    CUfunction scale = function(m, "scale"), empty = function(m, "empty");
    R(cuMemAlloc, &p, 4096);
    void *args[] = {&p, &n};
    CUlaunchConfig c = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1};
    T("ok", cuLaunchKernelEx, &c, scale, args, NULL);
    R(cuMemcpyDtoH, host, p, 16);
    V("v", "%u", host[3]);
    T("null", cuLaunchKernelEx, NULL, scale, args, NULL);
    T("nullfn", cuLaunchKernelEx, &c, NULL, args, NULL);
    c.numAttrs = 1;
    T("attrs.null", cuLaunchKernelEx, &c, scale, args, NULL);
    CUlaunchAttribute at[2];
    c.attrs = at;
    for (int id = 0; id <= 20; id++) {
        memset(at, 0, sizeof at);
        at[0].id = id;
        T(N("attr.%d.zero", id), cuLaunchKernelEx, &c, empty, NULL, NULL);
    }
    memset(at, 0, sizeof at);
    at[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    at[0].value.cooperative = 1;
    T("cooperative", cuLaunchKernelEx, &c, empty, NULL, NULL);
    c.gridDimX = 10000000;
    T("cooperative.toolarge", cuLaunchKernelEx, &c, empty, NULL, NULL);
    c.gridDimX = 4;
    at[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    at[0].value.priority = -1;
    T("priority", cuLaunchKernelEx, &c, empty, NULL, NULL);
    at[0].value.priority = 100;
    T("priority.out", cuLaunchKernelEx, &c, empty, NULL, NULL);
    at[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    at[0].value.clusterDim.x = at[0].value.clusterDim.y = at[0].value.clusterDim.z = 1;
    at[1] = at[0];
    c.numAttrs = 2;
    T("twice", cuLaunchKernelEx, &c, empty, NULL, NULL);
    c.numAttrs = 0;
    c.gridDimX = 0;
    T("grid0", cuLaunchKernelEx, &c, empty, NULL, NULL);
    c.gridDimX = 1;
    c.blockDimX = 2000;
    T("block2000", cuLaunchKernelEx, &c, empty, NULL, NULL);
    T("sync", cuCtxSynchronize);
}

/* Thread block clusters: devices of capability 9.0 and later. */
void group_cluster(void)
{
    CUdeviceptr p = 0;
    unsigned v = 0;
    int n = 0;
    CUmodule m = NULL, c9 = NULL;
    setup();
    m = load(ptx_main);
    CUfunction empty = function(m, "empty"), f = NULL;
    R(cuMemAlloc, &p, 64);
    void *args[] = {&p};
    CUlaunchAttribute at[2];
    memset(at, 0, sizeof at);
    CUlaunchConfig c = {.gridDimX = 16, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1,
                        .attrs = at, .numAttrs = 1};
    static const unsigned clusters[][3] = {{1, 1, 1}, {2, 1, 1}, {4, 1, 1}, {3, 1, 1}, {8, 1, 1}, {16, 1, 1}, {2, 2, 1}, {0, 1, 1}};
    for (size_t i = 0; i < COUNT(clusters); i++) {
        at[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        at[0].value.clusterDim.x = clusters[i][0];
        at[0].value.clusterDim.y = clusters[i][1];
        at[0].value.clusterDim.z = clusters[i][2];
        T(N("cluster.%u.%u", clusters[i][0], clusters[i][1]), cuLaunchKernelEx, &c, empty, NULL, NULL);
    }
    T("load", cuModuleLoadData, &c9, ptx_cluster);
    T("getfunction", cuModuleGetFunction, &f, c9, "clustered");
    for (int a = 10; a <= 15; a++)
        if (!T(N("attr.%d", a), cuFuncGetAttribute, &n, a, f))
            V(N("attr.%d.v", a), "%d", n);
    T("launch", cuLaunchKernel, f, 4, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
    R(cuMemcpyDtoH, &v, p, 4);
    V("launch.v", "%u", v);
    T("launch.odd", cuLaunchKernel, f, 3, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
    at[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    at[0].value.clusterDim.x = 4;
    at[0].value.clusterDim.y = at[0].value.clusterDim.z = 1;
    T("launch.conflict", cuLaunchKernelEx, &c, f, args, NULL);
    T("plain", cuModuleGetFunction, &f, c9, "plain");
    T("plain.launch", cuLaunchKernelEx, &c, f, args, NULL);
    R(cuMemcpyDtoH, &v, p, 4);
    V("plain.launch.v", "%u", v);
    T("sync", cuCtxSynchronize);
}

void group_coop(void)
{
    CUdeviceptr p = 0;
    setup();
    CUmodule m = load(ptx_main);
    CUfunction empty = function(m, "empty"), add = function(m, "addone");
    R(cuMemAlloc, &p, 64);
    void *args[] = {&p};
    T("ok", cuLaunchCooperativeKernel, add, 2, 1, 1, 32, 1, 1, 0, NULL, args);
    T("toolarge", cuLaunchCooperativeKernel, empty, 10000000, 1, 1, 1024, 1, 1, 0, NULL, NULL);
    T("grid0", cuLaunchCooperativeKernel, empty, 0, 1, 1, 32, 1, 1, 0, NULL, NULL);
    T("block0", cuLaunchCooperativeKernel, empty, 1, 1, 1, 0, 1, 1, 0, NULL, NULL);
    T("nullfn", cuLaunchCooperativeKernel, NULL, 1, 1, 1, 32, 1, 1, 0, NULL, NULL);
    int per = 0, sms = 0;
    R(cuOccupancyMaxActiveBlocksPerMultiprocessor, &per, empty, 256, 0);
    R(cuDeviceGetAttribute, &sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    T("exactfit", cuLaunchCooperativeKernel, empty, (unsigned)(per * sms), 1, 1, 256, 1, 1, 0, NULL, NULL);
    T("exactfit.plus1", cuLaunchCooperativeKernel, empty, (unsigned)(per * sms) + 1, 1, 1, 256, 1, 1, 0, NULL, NULL);
    CUstream s;
    R(cuStreamCreate, &s, 0);
    CUDA_LAUNCH_PARAMS l = {.function = empty, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1,
                            .blockDimZ = 1, .hStream = s};
    T("multidevice", cuLaunchCooperativeKernelMultiDevice, &l, 1, 0);
    T("multidevice.zero", cuLaunchCooperativeKernelMultiDevice, &l, 0, 0);
    T("multidevice.null", cuLaunchCooperativeKernelMultiDevice, NULL, 1, 0);
    T("sync", cuCtxSynchronize);
}

static size_t CUDA_CB dynamic_size(int block)
{
    return (size_t)block * 16;
}

void group_occupancy(void)
{
    int n = -9, grid = -9, block = -9;
    size_t z = 0;
    setup();
    CUmodule m = load(ptx_main);
    CUfunction f = function(m, "scale");
    T("ok", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, f, 256, 0);
    M("ok.v", "%d", n);
    T("block0", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, f, 0, 0);
    T("blockneg", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, f, -1, 0);
    T("block1024", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, f, 1024, 0);
    M("block1024.v", "%d", n);
    T("block1025", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, f, 1025, 0);
    V("block1025.v", "%d", n);
    T("shared.48k", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, f, 256, 49152);
    M("shared.48k.v", "%d", n);
    T("shared.huge", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, f, 256, 1 << 30);
    V("shared.huge.v", "%d", n);
    T("null", cuOccupancyMaxActiveBlocksPerMultiprocessor, NULL, f, 256, 0);
    T("nullfn", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, NULL, 256, 0);
    T("maxntid.over", cuOccupancyMaxActiveBlocksPerMultiprocessor, &n, function(m, "bounded"), 256, 0);
    M("maxntid.over.v", "%d", n);
    T("flags0", cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &n, f, 256, 0, 0);
    T("flags1", cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &n, f, 256, 0, 1);
    T("flags2", cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &n, f, 256, 0, 2);
    T("potential", cuOccupancyMaxPotentialBlockSize, &grid, &block, f, NULL, 0, 0);
    V("potential.block", "%d", block);
    M("potential.grid", "%d", grid);
    T("potential.limit100", cuOccupancyMaxPotentialBlockSize, &grid, &block, f, NULL, 0, 100);
    V("potential.limit100.block", "%d", block);
    T("potential.limit1", cuOccupancyMaxPotentialBlockSize, &grid, &block, f, NULL, 0, 1);
    V("potential.limit1.block", "%d", block);
    T("potential.limitneg", cuOccupancyMaxPotentialBlockSize, &grid, &block, f, NULL, 0, -1);
    T("potential.dynamic", cuOccupancyMaxPotentialBlockSize, &grid, &block, f, dynamic_size, 0, 0);
    V("potential.dynamic.block", "%d", block);
    T("potential.shared", cuOccupancyMaxPotentialBlockSize, &grid, &block, f, NULL, 40000, 0);
    M("potential.shared.v", "%d %d", grid, block);
    T("potential.maxntid", cuOccupancyMaxPotentialBlockSize, &grid, &block, function(m, "bounded"), NULL, 0, 0);
    V("potential.maxntid.block", "%d", block);
    T("potential.nullgrid", cuOccupancyMaxPotentialBlockSize, NULL, &block, f, NULL, 0, 0);
    T("potential.nullblock", cuOccupancyMaxPotentialBlockSize, &grid, NULL, f, NULL, 0, 0);
    T("potential.nullfn", cuOccupancyMaxPotentialBlockSize, &grid, &block, NULL, NULL, 0, 0);
    T("potential.flags", cuOccupancyMaxPotentialBlockSizeWithFlags, &grid, &block, f, NULL, 0, 0, 1);
    T("potential.badflags", cuOccupancyMaxPotentialBlockSizeWithFlags, &grid, &block, f, NULL, 0, 0, 8);
    T("available", cuOccupancyAvailableDynamicSMemPerBlock, &z, f, 1, 256);
    M("available.v", "%zu", z);
    T("available.2", cuOccupancyAvailableDynamicSMemPerBlock, &z, f, 2, 256);
    T("available.0", cuOccupancyAvailableDynamicSMemPerBlock, &z, f, 0, 256);
    T("available.many", cuOccupancyAvailableDynamicSMemPerBlock, &z, f, 1000, 256);
    T("available.null", cuOccupancyAvailableDynamicSMemPerBlock, NULL, f, 1, 256);
    CUlaunchConfig c = {.gridDimX = 64, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1};
    T("clustersize", cuOccupancyMaxPotentialClusterSize, &n, f, &c);
    M("clustersize.v", "%d", n);
    T("clustersize.null", cuOccupancyMaxPotentialClusterSize, &n, f, NULL);
    T("activeclusters", cuOccupancyMaxActiveClusters, &n, f, &c);
}

void group_printf(void)
{
    static const struct { const char *name, *format; unsigned long long args[8]; } prints[] = {
        {"plain", "hello\n", {0}}, {"int", "%d %i %u\n", {0xfffffffb00000000ull | 7, 0xfffffffdull, 0}},
        {"d", "[%d]\n", {(unsigned)-5}}, {"u", "[%u]\n", {0xfffffffbull}}, {"x", "[%x %X]\n", {0xabcdef01000000ffull}},
        {"hash", "[%#x]\n", {255}}, {"o", "[%o]\n", {8}}, {"c", "[%c]\n", {'Z'}}, {"percent", "100%%\n", {0}},
        {"f", "[%f]\n", {0x400921fb54442d18ull}}, {"f3", "[%.3f]\n", {0x400921fb54442d18ull}}, {"e", "[%e]\n", {0x400921fb54442d18ull}},
        {"g", "[%g]\n", {0x400921fb54442d18ull}}, {"G", "[%G]\n", {0x3e112e0be826d695ull}}, {"a", "[%a]\n", {0x400921fb54442d18ull}},
        {"w", "[%8d|%-8d|%08d]\n", {0x0000000700000005ull, 9}}, {"plus", "[%+d]\n", {5}}, {"space", "[% d]\n", {5}},
        {"lld", "[%lld]\n", {0x8000000000000000ull}}, {"llu", "[%llu]\n", {0xffffffffffffffffull}}, {"ld", "[%ld]\n", {0x123456789ull}},
        {"hd", "[%hd]\n", {0x12345}}, {"hhd", "[%hhd]\n", {0x1ff}}, {"p", "[%p]\n", {0x1234}}, {"p0", "[%p]\n", {0}},
        {"star", "[%*d]\n", {0x0000000700000005ull}}, {"inf", "[%f]\n", {0x7ff0000000000000ull}}, {"nan", "[%f]\n", {0x7ff8000000000000ull}},
        {"neginf", "[%f]\n", {0xfff0000000000000ull}}, {"mixed", "[%d %f %d]\n", {3, 0x3ff8000000000000ull, 4}},
        {"unknown", "[%y]\n", {1}}, {"trailing", "abc%", {1}}, {"nonewline", "abc", {1}}, {"empty", "", {1}}, {"n", "[%n]\n", {0}},
        {"zd", "[%zd]\n", {0x123456789ull}}, {"jd", "[%jd]\n", {0x123456789ull}}, {"snull", "[%s]\n", {0}},
        {"precint", "[%.5d]\n", {42}}, {"wide", "[%300d]\n", {1}}, {"huge", "%.20f\n", {0x7fe1ccf385ebc8a0ull}}};
    CUdeviceptr format = 0, args = 0, out = 0;
    setup();
    CUfunction f = function(load(ptx_printf), "print");
    R(cuMemAlloc, &format, 4096);
    R(cuMemAlloc, &args, 256);
    R(cuMemAlloc, &out, 64);
    for (size_t i = 0; i < COUNT(prints); i++) {
        int result = -99;
        R(cuMemcpyHtoD, format, prints[i].format, strlen(prints[i].format) + 1);
        R(cuMemcpyHtoD, args, prints[i].args, 64);
        void *a[] = {&format, &args, &out};
        capture(1);
        CUresult launched = R(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, a, NULL), synced = R(cuCtxSynchronize);
        const char *text = captured();
        R(cuMemcpyDtoH, &result, out, 4);
        begin(prints[i].name);
        report(launched ? launched : synced);
        V(N("%s.v", prints[i].name), "%d %s", result, text);
    }
    /* %s with a string in device memory. */
    static const char word[] = "device words";
    unsigned long long a8[8] = {args + 128};
    R(cuMemcpyHtoD, args + 128, word, sizeof word);
    R(cuMemcpyHtoD, args, a8, 64);
    R(cuMemcpyHtoD, format, "[%s|%20s]\n", 11);
    void *a[] = {&format, &args, &out};
    a8[1] = a8[0];
    R(cuMemcpyHtoD, args, a8, 64);
    capture(1);
    R(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, a, NULL);
    R(cuCtxSynchronize);
    V("s", "%s", captured());
    /* When the text appears: at a synchronisation, ordered by the lanes of a warp. */
    R(cuMemcpyHtoD, format, "x\n", 3);
    capture(1);
    R(cuLaunchKernel, f, 1, 1, 1, 4, 1, 1, 0, NULL, a, NULL);
    R(cuCtxSynchronize);
    V("four.threads", "%s", captured());
    capture(1);
    R(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, a, NULL);
    unsigned host;
    R(cuMemcpyDtoH, &host, out, 4);
    V("flushed.by.memcpy", "%s", captured());
    capture(1);
    R(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, a, NULL);
    R(cuStreamSynchronize, NULL);
    V("flushed.by.streamsync", "%s", captured());
}
