/* Corners of functions that other groups cover: rows that are skipped, empty extents, operations on memory in
 * batches, allocation on streams of other contexts, shared addresses that wrap. */
#include "words.h"

static CUdeviceptr filled(size_t size, unsigned value)
{
    CUdeviceptr p = 0;
    R(cuMemAlloc, &p, size);
    R(cuMemsetD32, p, value, size / 4);
    return p;
}

/* Copies in two and three dimensions whose pitch, height and offsets leave the allocation, or just do not. */
void group_copyrows(void)
{
    enum { SIZE = 8192 };
    setup();
    CUdeviceptr a = filled(SIZE, 1), b = filled(SIZE, 2);
    static unsigned host[SIZE / 4];
    static const struct { size_t x, y, z, pitch, height, w, h, d; } cases[] = {
        {0, 0, 0, 64, 8, 64, 8, 16}, {0, 0, 0, 64, 8, 64, 8, 17}, {0, 0, 1, 64, 8, 64, 8, 15},
        {0, 0, 1, 64, 8, 64, 8, 16},
        {0, 0, 0, 64, 128, 64, 1, 1}, {0, 0, 0, 64, 64, 64, 1, 2}, {0, 0, 0, 64, 127, 64, 2, 2},
        {0, 0, 0, 64, 128, 64, 1, 2},
        {0, 0, 0, 8192, 1, 64, 1, 1}, {0, 0, 0, 8192, 1, 64, 1, 2}, {0, 0, 0, 8128, 1, 64, 2, 1},
        {0, 0, 0, 8129, 1, 64, 2, 1},
        {0, 0, 0, 16384, 1, 64, 1, 1}, {0, 0, 0, 16384, 1, 64, 2, 1}, {64, 0, 0, 64, 8, 64, 8, 1},
        {60, 0, 0, 64, 8, 4, 8, 16},
        {60, 0, 0, 64, 8, 5, 8, 16}, {0, 7, 0, 64, 8, 64, 1, 16}, {0, 8, 0, 64, 8, 64, 1, 16},
        {0, 0, 0, 0, 0, 64, 1, 1},
        {0, 0, 0, 0, 0, 64, 2, 1}, {0, 0, 0, 0, 8, 64, 8, 2}, {0, 0, 0, 64, 0, 64, 8, 2},
        {0, 0, 0, 64, 4, 64, 8, 2},
        {0, 0, 0, 32, 8, 64, 8, 2}, {0, 0, 0, 32, 8, 64, 1, 1}, {0, 0, 0, 64, 8, 0, 8, 2},
        {0, 0, 0, 64, 8, 64, 0, 2},
        {0, 0, 0, 64, 8, 64, 8, 0}, {0, 0, 0, 64, 8, 0, 0, 0}, {9000, 0, 0, 64, 8, 0, 8, 2},
        {0, 900, 0, 64, 8, 64, 0, 2},
        {0, 0, 90, 64, 8, 64, 8, 0}, {9000, 0, 0, 64, 8, 64, 8, 0}, {0, 0, 0, 32, 8, 64, 0, 1},
        {0, 0, 0, 32, 8, 0, 8, 1}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int side = 0; side < 4; side++) {
            static const char *const sides[] = {"src", "dst", "both", "htod"};
            CUDA_MEMCPY3D c;
            memset(&c, 0, sizeof c);
            c.srcMemoryType = side == 3 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
            c.srcHost = host;
            c.srcDevice = a;
            c.dstDevice = b;
            c.srcPitch = c.dstPitch = 64;
            c.srcHeight = c.dstHeight = 8;
            if (side == 0 || side == 2) {
                c.srcXInBytes = cases[i].x, c.srcY = cases[i].y, c.srcZ = cases[i].z;
                c.srcPitch = cases[i].pitch, c.srcHeight = cases[i].height;
            }
            if (side) {
                c.dstXInBytes = cases[i].x, c.dstY = cases[i].y, c.dstZ = cases[i].z;
                c.dstPitch = cases[i].pitch, c.dstHeight = cases[i].height;
            }
            c.WidthInBytes = cases[i].w, c.Height = cases[i].h, c.Depth = cases[i].d;
            T(N("3d.%zu.%s", i, sides[side]), cuMemcpy3D, &c);
            if (side == 2) {
                CUDA_MEMCPY2D flat;
                memset(&flat, 0, sizeof flat);
                flat.srcMemoryType = flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
                flat.srcDevice = a, flat.dstDevice = b;
                flat.srcXInBytes = flat.dstXInBytes = cases[i].x;
                flat.srcY = flat.dstY = cases[i].y;
                flat.srcPitch = flat.dstPitch = cases[i].pitch;
                flat.WidthInBytes = cases[i].w, flat.Height = cases[i].h;
                T(N("2d.%zu", i), cuMemcpy2D, &flat);
                T(N("2du.%zu", i), cuMemcpy2DUnaligned, &flat);
                T(N("2dasync.%zu", i), cuMemcpy2DAsync, &flat, NULL);
            }
        }
    T("sync", cuCtxSynchronize);
}

/* Operations on memory in batches: each with each flag. */
void group_memopflags(void)
{
    CUstream s = NULL;
    setup();
    CUdeviceptr p = filled(256, 0);
    R(cuStreamCreate, &s, 0);
    static const int operations[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t i = 0; i < COUNT(operations); i++)
        for (unsigned flags = 0; flags <= 8; flags++) {
            CUstreamBatchMemOpParams o;
            memset(&o, 0, sizeof o);
            o.operation = operations[i];
            if (operations[i] == 3) {
                o.flushRemoteWrites.flags = flags;
            } else if (operations[i] == 6) {
                o.memoryBarrier.flags = flags;
            } else {
                o.writeValue.address = p;
                o.writeValue.value64 = (flags & 3) == 3 ? 1 : 0;
                o.writeValue.flags = flags;
            }
            /* A wait that would not end is not asked: values are written before each. */
            R(cuMemsetD32, p, (flags & 3) == 2 ? 1 : 0, 4);
            if ((flags & 3) == 2)
                o.writeValue.value64 = 1;
            T(N("%d.%u", operations[i], flags), cuStreamBatchMemOp, s, 1, &o, 0);
            T(N("%d.%u.sync", operations[i], flags), cuStreamSynchronize, s);
        }
    for (unsigned flags = 0; flags <= 4; flags++)
        T(N("batch.%u", flags), cuStreamBatchMemOp, s, 0, NULL, flags);
    T("sync", cuCtxSynchronize);
}

/* Stream-ordered allocation on streams of another context, of a capture, of a destroyed one. */
void group_asyncfar(void)
{
    CUcontext primary = setup(), second = NULL;
    CUstream s = NULL, far = NULL;
    CUdeviceptr p = 0, q = 0;
    CUgraph g = NULL;
    R(cuStreamCreate, &s, 0);
    R(cuCtxCreate, &second, NULL, 0, 0);
    R(cuStreamCreate, &far, 0);
    R(cuCtxSetCurrent, primary);
    T("far.alloc", cuMemAllocAsync, &p, 4096, far);
    CUcontext of = NULL;
    T("far.context", cuPointerGetAttribute, &of, CU_POINTER_ATTRIBUTE_CONTEXT, p);
    V("far.context.v", "primary=%d second=%d null=%d", of == primary, of == second, of == NULL);
    T("far.memset", cuMemsetD8Async, p, 1, 16, s);
    T("far.sync", cuStreamSynchronize, far);
    T("far.free.near", cuMemFreeAsync, p, s);
    T("near.alloc", cuMemAllocAsync, &q, 4096, s);
    T("near.free.far", cuMemFreeAsync, q, far);
    T("legacy.alloc", cuMemAllocAsync, &q, 4096, CU_STREAM_LEGACY);
    T("perthread.free", cuMemFreeAsync, q, CU_STREAM_PER_THREAD);
    R(cuCtxSetCurrent, NULL);
    T("nocontext.alloc", cuMemAllocAsync, &q, 4096, s);
    T("nocontext.free", cuMemFreeAsync, q, s);
    T("nocontext.legacy", cuMemAllocAsync, &q, 4096, NULL);
    R(cuCtxSetCurrent, primary);
    T("capture", cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("capture.alloc", cuMemAllocAsync, &p, 4096, s);
    T("capture.far", cuMemAllocAsync, &q, 4096, far);
    T("capture.free.far", cuMemFreeAsync, p, far);
    T("capture.free.sync", cuMemFree, p);
    T("capture.free.other", cuMemFreeAsync, q, s);
    T("capture.end", cuStreamEndCapture, s, &g);
    T("destroy.second", cuCtxDestroy, second);
    T("end.free", cuMemFreeAsync, q, s);
    T("sync", cuCtxSynchronize);
}

/* Shared addresses wrap at 32 bits. */
void group_sharedwrap(void)
{
    unsigned got[9] = {0};
    setup();
    CUdeviceptr out = filled(64, 0xffffffff);
    void *args[] = {&out};
    CUmodule m = load(ptx_corners);
    T("launch", cuLaunchKernel, function(m, "wraps"), 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    T("sync", cuCtxSynchronize);
    T("read", cuMemcpyDtoH, got, out, sizeof got);
    for (int i = 0; i < 9; i++)
        V(N("v.%d", i), "%u", got[i]);
}
