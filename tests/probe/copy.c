/* Copies in every direction, in one, two and three dimensions. */
#include "probe.h"

void group_copy(void)
{
    static unsigned char host[4096], back[4096];
    CUdeviceptr p = 0, q = 0, managed = 0;
    void *pinned = NULL;
    CUcontext context = setup();
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 7);
    R(cuMemAlloc, &p, 1024);
    R(cuMemAlloc, &q, 1024);
    R(cuMemHostAlloc, &pinned, 1024, 0);
    R(cuMemAllocManaged, &managed, 1024, CU_MEM_ATTACH_GLOBAL);
    T("htod", cuMemcpyHtoD, p, host, 1024);
    T("dtod", cuMemcpyDtoD, q, p, 1024);
    T("dtoh", cuMemcpyDtoH, back, q, 1024);
    V("roundtrip", "%d", !memcmp(host, back, 1024));
    T("htod.odd", cuMemcpyHtoD, p + 3, host + 1, 17);
    T("dtoh.odd", cuMemcpyDtoH, back, p + 3, 17);
    V("odd", "%d", !memcmp(host + 1, back, 17));
    T("htod.zero", cuMemcpyHtoD, p, host, 0);
    T("htod.zero.null", cuMemcpyHtoD, 0, NULL, 0);
    T("htod.null.dst", cuMemcpyHtoD, 0, host, 16);
    T("htod.null.src", cuMemcpyHtoD, p, NULL, 16);
    T("dtoh.null.dst", cuMemcpyDtoH, NULL, p, 16);
    T("dtoh.null.src", cuMemcpyDtoH, back, 0, 16);
    T("htod.garbage.dst", cuMemcpyHtoD, 0x1234, host, 16);
    T("dtoh.garbage.src", cuMemcpyDtoH, back, 0x1234, 16);
    T("htod.past", cuMemcpyHtoD, p, host, 1025);
    T("htod.past.offset", cuMemcpyHtoD, p + 1000, host, 25);
    T("htod.last", cuMemcpyHtoD, p + 1000, host, 24);
    T("dtoh.past", cuMemcpyDtoH, back, p, 1025);
    T("dtod.past", cuMemcpyDtoD, q, p, 1025);
    T("dtod.overlap", cuMemcpyDtoD, p + 16, p, 256);
    T("dtod.same", cuMemcpyDtoD, p, p, 256);
    T("dtod.garbage", cuMemcpyDtoD, q, 0x1234, 16);
    T("htod.host.dst", cuMemcpyHtoD, (CUdeviceptr)back, host, 16);
    T("htod.device.src", cuMemcpyHtoD, p, (void *)q, 16);
    T("dtoh.host.src", cuMemcpyDtoH, back, (CUdeviceptr)host, 16);
    T("dtoh.device.dst", cuMemcpyDtoH, (void *)q, p, 16);
    T("dtod.host.src", cuMemcpyDtoD, p, (CUdeviceptr)host, 16);
    T("dtod.pinned", cuMemcpyDtoD, p, (CUdeviceptr)pinned, 16);
    T("htod.pinned", cuMemcpyHtoD, p, pinned, 1024);
    T("htod.pinned.past", cuMemcpyHtoD, p, pinned, 1024 + 1);
    T("dtoh.pinned", cuMemcpyDtoH, pinned, p, 1024);
    T("htod.managed", cuMemcpyHtoD, managed, host, 1024);
    T("htod.managed.src", cuMemcpyHtoD, p, (void *)managed, 1024);
    T("any.htod", cuMemcpy, p, (CUdeviceptr)host, 1024);
    T("any.dtoh", cuMemcpy, (CUdeviceptr)back, p, 1024);
    T("any.htoh", cuMemcpy, (CUdeviceptr)back, (CUdeviceptr)host, 1024);
    V("any.htoh.v", "%d", !memcmp(host, back, 1024));
    T("any.dtod", cuMemcpy, q, p, 1024);
    T("any.zero", cuMemcpy, 0, 0, 0);
    T("any.past", cuMemcpy, p, (CUdeviceptr)host, 2048);
    T("any.null", cuMemcpy, p, 0, 16);
    T("async.htod", cuMemcpyHtoDAsync, p, host, 1024, NULL);
    T("async.dtoh", cuMemcpyDtoHAsync, back, p, 1024, NULL);
    T("async.dtod", cuMemcpyDtoDAsync, q, p, 1024, NULL);
    T("async.any", cuMemcpyAsync, q, p, 1024, NULL);
    T("async.any.host", cuMemcpyAsync, (CUdeviceptr)back, (CUdeviceptr)host, 1024, NULL);
    T("async.past", cuMemcpyHtoDAsync, p, host, 1025, NULL);
    T("async.garbage", cuMemcpyHtoDAsync, 0x1234, host, 16, NULL);
    T("async.null", cuMemcpyHtoDAsync, p, NULL, 16, NULL);
    T("async.zero", cuMemcpyHtoDAsync, p, host, 0, NULL);
    T("async.badstream", cuMemcpyHtoDAsync, p, host, 16, (CUstream)0x1234);
    T("async.pinned", cuMemcpyHtoDAsync, p, pinned, 1024, NULL);
    T("peer", cuMemcpyPeer, q, context, p, context, 1024);
    T("peer.nullctx", cuMemcpyPeer, q, NULL, p, NULL, 1024);
    T("peer.async", cuMemcpyPeerAsync, q, context, p, context, 1024, NULL);
    T("peer.past", cuMemcpyPeer, q, context, p, context, 2048);
    CUdeviceptr dsts[2] = {q, q + 512}, srcs[2] = {p, p + 512};
    size_t sizes[2] = {512, 512}, index[1] = {0};
    CUmemcpyAttributes attrs[1] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    CUstream s = NULL;
    R(cuStreamCreate, &s, 0);
    T("batch", cuMemcpyBatchAsync, dsts, srcs, sizes, 2, attrs, index, 1, s);
    T("batch.legacy", cuMemcpyBatchAsync, dsts, srcs, sizes, 2, attrs, index, 1, NULL);
    T("batch.zero", cuMemcpyBatchAsync, dsts, srcs, sizes, 0, attrs, index, 1, s);
    T("batch.noattrs", cuMemcpyBatchAsync, dsts, srcs, sizes, 2, NULL, NULL, 0, s);
    T("batch.null", cuMemcpyBatchAsync, NULL, srcs, sizes, 2, attrs, index, 1, s);
    T("sync", cuCtxSynchronize);
}

void group_copy2d(void)
{
    static unsigned char host[8192], back[8192];
    CUdeviceptr p = 0;
    size_t pitch = 0;
    setup();
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 13 + i / 100);
    R(cuMemAllocPitch, &p, &pitch, 100, 10, 4);
    const CUDA_MEMCPY2D good = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 100,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p, .dstPitch = pitch, .WidthInBytes = 100,
                                .Height = 10};
    CUDA_MEMCPY2D c = good;
    T("htod", cuMemcpy2D, &c);
    CUDA_MEMCPY2D r = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = pitch, .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = back, .dstPitch = 120, .WidthInBytes = 100, .Height = 10};
    T("dtoh", cuMemcpy2D, &r);
    V("dtoh.v", "%d %d", !memcmp(back + 120, host + 100, 100), back[100]);
    r.srcXInBytes = 5;
    r.srcY = 2;
    r.dstXInBytes = 7;
    r.dstY = 1;
    r.WidthInBytes = 20;
    r.Height = 3;
    T("dtoh.offsets", cuMemcpy2D, &r);
    V("dtoh.offsets.v", "%d", !memcmp(back + 127, host + 205, 20));
    T("null", cuMemcpy2D, NULL);
#define WITH(name, change) c = good; change; T(name, cuMemcpy2D, &c); c = good; change; T(name ".unaligned", cuMemcpy2DUnaligned, &c)
    WITH("width0", c.WidthInBytes = 0);
    WITH("height0", c.Height = 0);
    WITH("both0", c.WidthInBytes = 0; c.Height = 0);
    WITH("srcpitch.small", c.srcPitch = 99);
    WITH("dstpitch.small", c.dstPitch = 99);
    WITH("srcpitch0", c.srcPitch = 0);
    WITH("dstpitch0", c.dstPitch = 0);
    WITH("srcpitch0.h1", c.srcPitch = 0; c.Height = 1);
    WITH("bothpitch0.h1", c.srcPitch = 0; c.dstPitch = 0; c.Height = 1);
    WITH("srcpitch.small.h1", c.srcPitch = 50; c.Height = 1);
    WITH("x.over.pitch", c.dstXInBytes = pitch - 50);
    WITH("x.over.pitch.src", c.srcXInBytes = 50);
    WITH("oddpitch", c.dstPitch = 101);
    WITH("srctype0", c.srcMemoryType = 0);
    WITH("srctype9", c.srcMemoryType = 9);
    WITH("dsttype0", c.dstMemoryType = 0);
    WITH("dsttype9", c.dstMemoryType = 9);
    WITH("nullhost", c.srcHost = NULL);
    WITH("nulldevice", c.dstDevice = 0);
    WITH("nullarray", c.dstMemoryType = CU_MEMORYTYPE_ARRAY);
    WITH("garbage", c.dstDevice = 0x1234);
    WITH("past", c.Height = 11);
    WITH("past.y", c.dstY = 1);
    WITH("hugepitch", c.dstPitch = (size_t)1 << 33);
    WITH("unified", c.srcMemoryType = CU_MEMORYTYPE_UNIFIED; c.srcDevice = (CUdeviceptr)host; c.dstMemoryType = CU_MEMORYTYPE_UNIFIED);
    WITH("htoh", c.dstMemoryType = CU_MEMORYTYPE_HOST; c.dstHost = back);
    c = good;
    T("async", cuMemcpy2DAsync, &c, NULL);
    T("async.null", cuMemcpy2DAsync, NULL, NULL);
    c.WidthInBytes = 0;
    T("async.width0", cuMemcpy2DAsync, &c, NULL);
    T("sync", cuCtxSynchronize);
}

void group_copy3d(void)
{
    static unsigned char host[8192], back[8192];
    CUdeviceptr p = 0;
    CUcontext context = setup();
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 11 + i / 100);
    R(cuMemAlloc, &p, 64 * 8 * 4);
    const CUDA_MEMCPY3D good = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 50, .srcHeight = 10,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p, .dstPitch = 64, .dstHeight = 8,
                                .WidthInBytes = 40, .Height = 8, .Depth = 4};
    CUDA_MEMCPY3D c = good;
    T("htod", cuMemcpy3D, &c);
    CUDA_MEMCPY3D r = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = p, .srcPitch = 64, .srcHeight = 8,
                       .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back, .dstPitch = 40, .dstHeight = 8, .WidthInBytes = 40,
                       .Height = 8, .Depth = 4};
    T("dtoh", cuMemcpy3D, &r);
    V("dtoh.v", "%d", !memcmp(back + 3 * 320 + 40, host + 3 * 500 + 50, 40));
    r.srcXInBytes = 3;
    r.srcY = 1;
    r.srcZ = 2;
    r.dstZ = 1;
    r.WidthInBytes = 10;
    r.Height = 2;
    r.Depth = 2;
    T("dtoh.offsets", cuMemcpy3D, &r);
    V("dtoh.offsets.v", "%d", !memcmp(back + 320, host + 2 * 500 + 50 + 3, 10));
    T("null", cuMemcpy3D, NULL);
#undef WITH
#define WITH(name, change) c = good; change; T(name, cuMemcpy3D, &c)
    WITH("width0", c.WidthInBytes = 0);
    WITH("height0", c.Height = 0);
    WITH("depth0", c.Depth = 0);
    WITH("srcheight.small", c.srcHeight = 7);
    WITH("srcheight0", c.srcHeight = 0);
    WITH("srcheight0.d1", c.srcHeight = 0; c.Depth = 1);
    WITH("dstheight.small", c.dstHeight = 7);
    WITH("srcpitch.small", c.srcPitch = 39);
    WITH("srcpitch0", c.srcPitch = 0);
    WITH("srctype0", c.srcMemoryType = 0);
    WITH("dsttype9", c.dstMemoryType = 9);
    WITH("past", c.Depth = 5);
    WITH("srclod", c.srcLOD = 1);
    WITH("reserved", c.reserved0 = (void *)1);
    WITH("nullhost", c.srcHost = NULL);
    WITH("garbage", c.dstDevice = 0x1234);
    WITH("unified", c.srcMemoryType = CU_MEMORYTYPE_UNIFIED; c.srcDevice = (CUdeviceptr)host);
    c = good;
    T("async", cuMemcpy3DAsync, &c, NULL);
    T("async.null", cuMemcpy3DAsync, NULL, NULL);
    CUDA_MEMCPY3D_PEER peer = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 50, .srcHeight = 10,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = p, .dstContext = context, .dstPitch = 64,
                               .dstHeight = 8, .WidthInBytes = 40, .Height = 8, .Depth = 4, .srcContext = context};
    T("peer", cuMemcpy3DPeer, &peer);
    T("peer.null", cuMemcpy3DPeer, NULL);
    T("sync", cuCtxSynchronize);
}
