/* Clusters of blocks, and every attribute of a launch: for devices of capability 9.0 and later. */
#include "probe.h"

/* A launch attribute from its number and the words of its value. */
static CUlaunchAttribute attribute(int id, unsigned a, unsigned b, unsigned c)
{
    CUlaunchAttribute at;
    unsigned words[3] = {a, b, c};
    memset(&at, 0, sizeof at);
    at.id = id;
    memcpy(&at.value, words, sizeof words);
    return at;
}

static CUlaunchConfig shape(unsigned grid, unsigned block, CUlaunchAttribute *at, unsigned count)
{
    CUlaunchConfig c = {.gridDimX = grid, .gridDimY = 1, .gridDimZ = 1, .blockDimX = block, .blockDimY = 1, .blockDimZ = 1,
                        .attrs = at, .numAttrs = count};
    return c;
}

/* Cluster attributes of functions. */
void group_clusterattr(void)
{
    static const char *const names[] = {"plain", "clustered", "explicit", "most", "blocks"};
    static const int values[] = {0, 1, 2, 3, 4, 8, 16, 17, -1};
    setup();
    CUmodule m = load(ptx_clusters);
    CUdeviceptr p = 0;
    int n;
    R(cuMemAlloc, &p, 64);
    void *args[] = {&p};
    for (size_t i = 0; i < COUNT(names); i++) {
        CUfunction f = function(m, names[i]);
        for (int a = 10; a <= 16; a++) {
            n = -9;
            if (!T(N("%s.get.%d", names[i], a), cuFuncGetAttribute, &n, a, f))
                V(N("%s.get.%d.v", names[i], a), "%d", n);
        }
    }
    for (size_t i = 0; i < COUNT(names); i++)
        for (int a = 10; a <= 15; a++)
            for (size_t k = 0; k < COUNT(values); k++) {
                /* Each in a module of its own, because attributes persist. */
                CUmodule own = load(ptx_clusters);
                CUfunction f = function(own, names[i]);
                CUlaunchAttribute at = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 2, 1, 1);
                CUlaunchConfig c = shape(16, 4, &at, 0);
                T(N("%s.set.%d.%d", names[i], a, values[k]), cuFuncSetAttribute, f, a, values[k]);
                n = -9;
                R(cuFuncGetAttribute, &n, a, f);
                V(N("%s.set.%d.%d.v", names[i], a, values[k]), "%d", n);
                T(N("%s.set.%d.%d.plain", names[i], a, values[k]), cuLaunchKernelEx, &c, f, args, NULL);
                c.numAttrs = 1;
                T(N("%s.set.%d.%d.two", names[i], a, values[k]), cuLaunchKernelEx, &c, f, args, NULL);
                R(cuCtxSynchronize);
                R(cuModuleUnload, own);
            }
    T("sync", cuCtxSynchronize);
}

/* Cluster sizes that launches request. */
void group_clusterlaunch(void)
{
    static const char *const names[] = {"plain", "clustered", "explicit", "most", "blocks"};
    static const unsigned sizes[][3] = {{1, 1, 1}, {2, 1, 1}, {4, 1, 1}, {8, 1, 1}, {16, 1, 1}, {32, 1, 1}, {1, 2, 1}, {1, 1, 2}, {2, 2, 2},
                                        {4, 4, 1}, {0, 0, 0}, {0, 0, 2}, {2, 0, 0}, {6, 1, 1}, {12, 1, 1}, {0x80000000u, 2, 1}, {65536, 65536, 1}};
    CUdeviceptr p = 0;
    unsigned v[4];
    setup();
    CUmodule m = load(ptx_clusters);
    R(cuMemAlloc, &p, 64);
    void *args[] = {&p};
    for (size_t i = 0; i < COUNT(names); i++)
        for (int large = 0; large < 2; large++) {
            CUfunction f = function(m, names[i]);
            R(cuFuncSetAttribute, f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, large);
            for (size_t k = 0; k < COUNT(sizes); k++) {
                CUlaunchAttribute at = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, sizes[k][0], sizes[k][1], sizes[k][2]);
                CUlaunchConfig c = shape(48, 4, &at, 1);
                c.gridDimY = 4, c.gridDimZ = 2;
                const char *name = N("%s.%d.%ux%ux%u", names[i], large, sizes[k][0], sizes[k][1], sizes[k][2]);
                R(cuMemsetD8, p, 0xff, 16);
                if (!T(name, cuLaunchKernelEx, &c, f, args, NULL)) {
                    R(cuMemcpyDtoH, v, p, 16);
                    V(N("%s.%d.%ux%ux%u.v", names[i], large, sizes[k][0], sizes[k][1], sizes[k][2]), "%u %u %u %u", v[0], v[1], v[2], v[3]);
                }
            }
            R(cuMemsetD8, p, 0xff, 16);
            T(N("%s.%d.kernel", names[i], large), cuLaunchKernel, f, 48, 4, 2, 4, 1, 1, 0, NULL, args, NULL);
            R(cuMemcpyDtoH, v, p, 16);
            V(N("%s.%d.kernel.v", names[i], large), "%u %u %u %u", v[0], v[1], v[2], v[3]);
            T(N("%s.%d.odd", names[i], large), cuLaunchKernel, f, 47, 1, 1, 4, 1, 1, 0, NULL, args, NULL);
            T(N("%s.%d.coop", names[i], large), cuLaunchCooperativeKernel, f, 4, 1, 1, 4, 1, 1, 0, NULL, args);
        }
    CUfunction f = function(m, "plain");
    CUlaunchAttribute at[3];
    CUlaunchConfig c = shape(16, 4, at, 2);
    /* Two attributes of the same kind, and the preferred cluster. */
    static const unsigned pairs[][4] = {{4, 2, 4, 4}, {4, 4, 4, 2}, {4, 2, 11, 4}, {4, 4, 11, 2}, {4, 2, 11, 3}, {4, 2, 11, 2}, {4, 2, 11, 0},
                                        {11, 4, 4, 2}, {11, 4, 0, 0}, {4, 2, 11, 16}, {4, 1, 11, 8}, {4, 0, 11, 8}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        for (int k = 0; k < 2; k++)
            at[k] = attribute((int)pairs[i][2 * k], pairs[i][2 * k + 1], pairs[i][2 * k] ? 1 : 0, pairs[i][2 * k] ? 1 : 0);
        T(N("pair.%u.%u.%u.%u", pairs[i][0], pairs[i][1], pairs[i][2], pairs[i][3]), cuLaunchKernelEx, &c, f, args, NULL);
    }
    at[0] = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 2, 1, 1);
    at[1] = attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1, 0, 0);
    T("cooperative", cuLaunchKernelEx, &c, f, args, NULL);
    c.numAttrs = 1;
    c.sharedMemBytes = 49152;
    T("shared.48k", cuLaunchKernelEx, &c, f, args, NULL);
    c.sharedMemBytes = 49153;
    T("shared.more", cuLaunchKernelEx, &c, f, args, NULL);
    c.sharedMemBytes = 0;
    c.blockDimX = 1024;
    T("block.1024", cuLaunchKernelEx, &c, f, args, NULL);
    c.gridDimX = 0x7ffffffe, c.blockDimX = 0;
    T("block.0", cuLaunchKernelEx, &c, f, args, NULL);
    T("sync", cuCtxSynchronize);
}

/* The maximum number of clusters. */
void group_clusterocc(void)
{
    static const unsigned sizes[][2] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {16, 1}, {3, 0}, {32, 1}, {0, 0}};
    static const unsigned blocks[] = {0, 32, 128, 1024, 1025};
    int n;
    setup();
    CUmodule m = load(ptx_clusters);
    CUfunction f = function(m, "plain"), clustered = function(m, "clustered"), must = function(m, "explicit"), most = function(m, "most");
    for (size_t i = 0; i < COUNT(blocks); i++)
        for (int large = 0; large < 2; large++) {
            CUlaunchAttribute at = attribute(0, 0, 0, 0);
            CUlaunchConfig c = shape(48, blocks[i], &at, 0);
            R(cuFuncSetAttribute, f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, large);
            n = -9;
            T(N("size.%u.%d", blocks[i], large), cuOccupancyMaxPotentialClusterSize, &n, f, &c);
            V(N("size.%u.%d.v", blocks[i], large), "%d", n);
        }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CUlaunchAttribute at = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, sizes[i][0], 1, 1);
        CUlaunchConfig c = shape(48, 1024, &at, 1);
        R(cuFuncSetAttribute, f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, (int)sizes[i][1]);
        n = -9;
        T(N("size.of.%u.%u", sizes[i][0], sizes[i][1]), cuOccupancyMaxPotentialClusterSize, &n, f, &c);
        V(N("size.of.%u.%u.v", sizes[i][0], sizes[i][1]), "%d", n);
        n = -9;
        T(N("active.%u.%u", sizes[i][0], sizes[i][1]), cuOccupancyMaxActiveClusters, &n, f, &c);
        M(N("active.%u.%u.v", sizes[i][0], sizes[i][1]), "%d", n);
        c.gridDimX = 7;
        T(N("active.odd.%u.%u", sizes[i][0], sizes[i][1]), cuOccupancyMaxActiveClusters, &n, f, &c);
    }
    R(cuFuncSetAttribute, f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0);
    CUlaunchAttribute at = attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4, 1, 1);
    CUlaunchConfig c = shape(48, 128, &at, 0);
    struct { const char *name; CUfunction f; } all[] = {{"plain", f}, {"clustered", clustered}, {"explicit", must}, {"most", most}, {"null", NULL}};
    for (size_t i = 0; i < COUNT(all); i++)
        for (unsigned attrs = 0; attrs < 2; attrs++) {
            c.numAttrs = attrs;
            n = -9;
            T(N("%s.%u.size", all[i].name, attrs), cuOccupancyMaxPotentialClusterSize, &n, all[i].f, &c);
            V(N("%s.%u.size.v", all[i].name, attrs), "%d", n);
            n = -9;
            T(N("%s.%u.active", all[i].name, attrs), cuOccupancyMaxActiveClusters, &n, all[i].f, &c);
            M(N("%s.%u.active.v", all[i].name, attrs), "%d", n);
        }
    c.sharedMemBytes = 200000;
    T("shared.size", cuOccupancyMaxPotentialClusterSize, &n, f, &c);
    T("shared.active", cuOccupancyMaxActiveClusters, &n, f, &c);
    R(cuFuncSetAttribute, f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536);
    c.sharedMemBytes = 65536;
    T("shared.64k.size", cuOccupancyMaxPotentialClusterSize, &n, f, &c);
    M("shared.64k.size.v", "%d", n);
    T("shared.64k.active", cuOccupancyMaxActiveClusters, &n, f, &c);
    M("shared.64k.active.v", "%d", n);
    c.sharedMemBytes = 0;
    T("nullout.size", cuOccupancyMaxPotentialClusterSize, NULL, f, &c);
    T("nullout.active", cuOccupancyMaxActiveClusters, NULL, f, &c);
    T("nullconfig.size", cuOccupancyMaxPotentialClusterSize, &n, f, NULL);
    T("nullconfig.active", cuOccupancyMaxActiveClusters, &n, f, NULL);
    c.gridDimX = 0;
    T("grid0.size", cuOccupancyMaxPotentialClusterSize, &n, f, &c);
    T("grid0.active", cuOccupancyMaxActiveClusters, &n, f, &c);
}

/* Every launch attribute, valid and invalid. */
void group_launchattr(void)
{
    setup();
    CUmodule m = load(ptx_clusters);
    CUdeviceptr p = 0;
    CUevent event, timed, gone;
    CUstream s;
    unsigned v[4];
    R(cuMemAlloc, &p, 64);
    void *args[] = {&p};
    R(cuEventCreate, &event, CU_EVENT_DISABLE_TIMING);
    R(cuEventCreate, &timed, 0);
    R(cuEventCreate, &gone, CU_EVENT_DISABLE_TIMING);
    R(cuEventDestroy, gone);
    R(cuStreamCreate, &s, CU_STREAM_NON_BLOCKING);
    CUfunction f = function(m, "plain"), depends = function(m, "dependent");
    CUlaunchAttribute at;
    CUlaunchConfig c = shape(16, 4, &at, 1);
    for (int id = 0; id <= 20; id++)
        for (int value = -1; value <= 4; value++) {
            /* These hold handles. */
            if (id == 7 || id == 12 || id == 13)
                continue;
            at = attribute(id, (unsigned)value, 0, 0);
            T(N("%d.%d", id, value), cuLaunchKernelEx, &c, f, args, NULL);
        }
    static const int carveouts[] = {-2, -1, 0, 50, 100, 101};
    for (size_t i = 0; i < COUNT(carveouts); i++) {
        at = attribute(14, (unsigned)carveouts[i], 0, 0);
        T(N("carveout.%d", carveouts[i]), cuLaunchKernelEx, &c, f, args, NULL);
    }
    /* Memory domains: the default's and the remote's number, one byte each. */
    static const unsigned maps[] = {0x0000, 0x0100, 0x0302, 0x0400, 0x0004, 0xffff};
    for (size_t i = 0; i < COUNT(maps); i++) {
        at = attribute(9, maps[i], 0, 0);
        T(N("domains.%x", maps[i]), cuLaunchKernelEx, &c, f, args, NULL);
    }
    /* Events: a handle, flags, and whether it triggers when blocks begin. */
    struct { const char *name; CUevent e; unsigned flags; int start; } events[] = {
        {"event", event, 0, 0}, {"event.start", event, 0, 1}, {"event.timed", timed, 0, 0}, {"event.null", NULL, 0, 0},
        {"event.gone", gone, 0, 0}, {"event.external", event, 1, 0}, {"event.flags", event, 4, 0}, {"event.start2", event, 0, 2}};
    for (int id = 7; id <= 12; id += 5)
        for (size_t i = 0; i < COUNT(events); i++) {
            at = attribute(id, 0, 0, 0);
            memcpy(&at.value, &events[i].e, sizeof(CUevent));
            memcpy((char *)&at.value + 8, &events[i].flags, 4);
            memcpy((char *)&at.value + 12, &events[i].start, 4);
            if (id == 12 && events[i].start)
                continue;
            if (!T(N("%d.%s", id, events[i].name), cuLaunchKernelEx, &c, f, args, NULL))
                T(N("%d.%s.wait", id, events[i].name), cuEventSynchronize, events[i].e);
        }
    /* Programmatic launches: the second begins when the first allows it, and waits. */
    at = attribute(6, 1, 0, 0);
    for (int own = 0; own < 2; own++) {
        c.hStream = own ? s : NULL;
        R(cuMemsetD8, p, 0, 16);
        /* The stream does not wait for memsets. */
        R(cuCtxSynchronize);
        c.numAttrs = 0;
        T(N("programmatic.%d.first", own), cuLaunchKernelEx, &c, depends, args, NULL);
        c.numAttrs = 1;
        T(N("programmatic.%d.second", own), cuLaunchKernelEx, &c, depends, args, NULL);
        T(N("programmatic.%d.third", own), cuLaunchKernelEx, &c, depends, args, NULL);
        T(N("programmatic.%d.sync", own), cuStreamSynchronize, c.hStream);
        R(cuMemcpyDtoH, v, p, 16);
        V(N("programmatic.%d.v", own), "%u", v[0]);
    }
    c.numAttrs = 1000;
    T("many.null", cuLaunchKernelEx, &(CUlaunchConfig){.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
      .numAttrs = 3}, f, args, NULL);
    T("sync", cuCtxSynchronize);
}
