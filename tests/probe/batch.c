/* Batches of copies, decompression, and asynchronous copies of arrays and between contexts. */
#include "words.h"

static CUdeviceptr filled(unsigned value)
{
    CUdeviceptr p = 0;
    R(cuMemAlloc, &p, 4096);
    R(cuMemsetD32, p, value, 1024);
    return p;
}

static unsigned first(CUdeviceptr p)
{
    unsigned value = 0xdead;
    R(cuCtxSynchronize);
    R(cuMemcpyDtoH, &value, p, 4);
    return value;
}

void group_copybatch(void)
{
    CUcontext primary = setup(), second = NULL;
    CUdeviceptr a = filled(1), b = filled(2), c = filled(3), d = filled(4), managed = 0;
    unsigned char *host = NULL, *pageable = calloc(1, 4096);
    CUstream s = NULL, far = NULL;
    R(cuStreamCreate, &s, 0);
    R(cuMemHostAlloc, (void **)&host, 4096, 0);
    R(cuMemAllocManaged, &managed, 4096, CU_MEM_ATTACH_GLOBAL);
    R(cuCtxCreate, &second, NULL, 0, 0);
    R(cuStreamCreate, &far, 0);
    R(cuCtxSetCurrent, primary);
    CUdeviceptr dst[4] = {a, b, (CUdeviceptr)host, managed}, src[4] = {c, d, c, (CUdeviceptr)pageable};
    size_t sizes[4] = {4096, 256, 256, 256}, at[4] = {0, 1, 2, 3};
    CUmemcpyAttributes attrs[4];
    memset(attrs, 0, sizeof attrs);
    for (int i = 0; i < 4; i++)
        attrs[i].srcAccessOrder = 1;
    T("one", cuMemcpyBatchAsync, dst, src, sizes, 1, attrs, at, 1, s);
    V("one.v", "%u", first(a));
    T("four", cuMemcpyBatchAsync, dst, src, sizes, 4, attrs, at, 1, s);
    T("four.each", cuMemcpyBatchAsync, dst, src, sizes, 4, attrs, at, 4, s);
    V("four.v", "%u %u %u %u", first(a), first(b), host[0], first(managed));
    for (int order = 0; order <= 4; order++) {
        attrs[0].srcAccessOrder = order;
        T(N("order.%d", order), cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 1, s);
        T(N("order.%d.host", order), cuMemcpyBatchAsync, dst + 3, src + 3, sizes, 1, attrs, at, 1, s);
    }
    attrs[0].srcAccessOrder = 1;
    for (unsigned flags = 0; flags <= 4; flags++) {
        attrs[0].flags = flags;
        T(N("flags.%u", flags), cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 1, s);
    }
    attrs[0].flags = 0;
    for (int type = 0; type <= 5; type++) {
        attrs[0].srcLocHint = attrs[0].dstLocHint = at_location(type, 0);
        T(N("hint.%d", type), cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 1, s);
        T(N("hint.%d.managed", type), cuMemcpyBatchAsync, dst + 3, src, sizes + 1, 1, attrs, at, 1, s);
        attrs[0].srcLocHint = attrs[0].dstLocHint = at_location(type, 99);
        T(N("hint.%d.99.managed", type), cuMemcpyBatchAsync, dst + 3, src, sizes + 1, 1, attrs, at, 1, s);
    }
    attrs[0].srcLocHint = attrs[0].dstLocHint = at_location(0, 0);
    T("legacy", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 1, NULL);
    T("legacy1", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 1, CU_STREAM_LEGACY);
    T("perthread", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 1, CU_STREAM_PER_THREAD);
    T("far", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 1, far);
    T("zero", cuMemcpyBatchAsync, dst, src, sizes, 0, attrs, at, 1, s);
    T("noattrs", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 0, s);
    T("nullattrs", cuMemcpyBatchAsync, dst, src, sizes, 2, NULL, at, 1, s);
    T("nullnoattrs", cuMemcpyBatchAsync, dst, src, sizes, 2, NULL, NULL, 0, s);
    T("nullat", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, NULL, 1, s);
    T("moreattrs", cuMemcpyBatchAsync, dst, src, sizes, 1, attrs, at, 2, s);
    T("nulldst", cuMemcpyBatchAsync, NULL, src, sizes, 2, attrs, at, 1, s);
    T("nullsrc", cuMemcpyBatchAsync, dst, NULL, sizes, 2, attrs, at, 1, s);
    T("nullsizes", cuMemcpyBatchAsync, dst, src, NULL, 2, attrs, at, 1, s);
    size_t order[2] = {0, 0}, late[2] = {1, 2}, past[2] = {0, 2};
    T("at.repeated", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, order, 2, s);
    T("at.late", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, late, 1, s);
    T("at.past", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, past, 2, s);
    size_t some[2] = {16, 0}, more[2] = {4097, 16};
    T("size0", cuMemcpyBatchAsync, dst, src, some, 2, attrs, at, 1, s);
    T("beyond", cuMemcpyBatchAsync, dst, src, more, 2, attrs, at, 1, s);
    CUdeviceptr bad[2] = {a, 0x1230}, none[2] = {a, 0};
    R(cuMemsetD32, a, 77, 4);
    T("garbage", cuMemcpyBatchAsync, bad, src, sizes + 1, 2, attrs, at, 1, s);
    V("garbage.v", "%u", first(a));
    T("nullpointer", cuMemcpyBatchAsync, none, src, sizes + 1, 2, attrs, at, 1, s);
    T("garbage.src", cuMemcpyBatchAsync, dst, bad, sizes + 1, 2, attrs, at, 1, s);
    CUgraph g = NULL;
    T("capture", cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("capture.batch", cuMemcpyBatchAsync, dst, src, sizes, 2, attrs, at, 1, s);
    T("capture.end", cuStreamEndCapture, s, &g);
    T("sync", cuCtxSynchronize);
}

static CUmemcpy3DOperand pointer(CUdeviceptr p, size_t row, size_t rows)
{
    CUmemcpy3DOperand o;
    memset(&o, 0, sizeof o);
    o.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    o.op.ptr.ptr = p;
    o.op.ptr.rowLength = row;
    o.op.ptr.layerHeight = rows;
    return o;
}

static CUmemcpy3DOperand in_array(CUarray a, size_t x, size_t y, size_t z)
{
    CUmemcpy3DOperand o;
    memset(&o, 0, sizeof o);
    o.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    o.op.array.array = a;
    o.op.array.offset.x = x;
    o.op.array.offset.y = y;
    o.op.array.offset.z = z;
    return o;
}

static CUDA_MEMCPY3D_BATCH_OP op(CUmemcpy3DOperand dst, CUmemcpy3DOperand src, size_t w, size_t h, size_t d)
{
    CUDA_MEMCPY3D_BATCH_OP o;
    memset(&o, 0, sizeof o);
    o.dst = dst;
    o.src = src;
    o.extent.width = w;
    o.extent.height = h;
    o.extent.depth = d;
    o.srcAccessOrder = 1;
    return o;
}

void group_copybatch3d(void)
{
    CUcontext primary = setup(), second = NULL;
    CUdeviceptr a = filled(1), b = filled(2);
    CUarray x = NULL, y = NULL, cube = NULL, wide = NULL;
    CUstream s = NULL, far = NULL;
    CUDA_ARRAY3D_DESCRIPTOR flat = {.Width = 16, .Height = 16, .Format = CU_AD_FORMAT_FLOAT,
        .NumChannels = 1};
    R(cuStreamCreate, &s, 0);
    R(cuArray3DCreate, &x, &flat);
    R(cuArray3DCreate, &y, &flat);
    flat.Depth = 4;
    R(cuArray3DCreate, &cube, &flat);
    flat.NumChannels = 4;
    R(cuArray3DCreate, &wide, &flat);
    R(cuCtxCreate, &second, NULL, 0, 0);
    R(cuStreamCreate, &far, 0);
    R(cuCtxSetCurrent, primary);
    const struct { const char *name; CUDA_MEMCPY3D_BATCH_OP o; } ops[] = {
        {"pp", op(pointer(a, 16, 4), pointer(b, 16, 4), 16, 4, 2)},
        {"pp.default", op(pointer(a, 0, 0), pointer(b, 0, 0), 16, 4, 2)},
        {"pp.flat", op(pointer(a, 0, 0), pointer(b, 0, 0), 4096, 1, 1)},
        {"pp.beyond", op(pointer(a, 0, 0), pointer(b, 0, 0), 4097, 1, 1)},
        {"pp.row", op(pointer(a, 8, 4), pointer(b, 16, 4), 16, 4, 2)},
        {"pp.rows", op(pointer(a, 16, 2), pointer(b, 16, 4), 16, 4, 2)},
        {"pp.width0", op(pointer(a, 16, 4), pointer(b, 16, 4), 0, 4, 2)},
        {"pp.height0", op(pointer(a, 16, 4), pointer(b, 16, 4), 16, 0, 2)},
        {"pp.depth0", op(pointer(a, 16, 4), pointer(b, 16, 4), 16, 4, 0)},
        {"ap", op(in_array(x, 0, 0, 0), pointer(b, 16, 16), 16, 16, 1)},
        {"ap.default", op(in_array(x, 0, 0, 0), pointer(b, 0, 0), 16, 16, 1)},
        {"ap.offset", op(in_array(x, 4, 4, 0), pointer(b, 0, 0), 12, 12, 1)},
        {"ap.beyond", op(in_array(x, 4, 4, 0), pointer(b, 0, 0), 16, 12, 1)},
        {"ap.deep", op(in_array(x, 0, 0, 0), pointer(b, 0, 0), 16, 16, 2)},
        {"ap.z", op(in_array(x, 0, 0, 1), pointer(b, 0, 0), 16, 16, 1)},
        {"ap.cube", op(in_array(cube, 0, 0, 1), pointer(b, 0, 0), 16, 16, 3)},
        {"ap.short", op(in_array(x, 0, 0, 0), pointer(b, 8, 16), 16, 16, 1)},
        {"pa", op(pointer(a, 0, 0), in_array(x, 0, 0, 0), 16, 16, 1)},
        {"aa", op(in_array(x, 0, 0, 0), in_array(y, 0, 0, 0), 16, 16, 1)},
        {"aa.cube", op(in_array(cube, 0, 0, 2), in_array(y, 0, 0, 0), 16, 16, 1)},
        {"aa.wide", op(in_array(cube, 0, 0, 0), in_array(wide, 0, 0, 0), 16, 16, 1)},
        {"aa.self", op(in_array(x, 8, 0, 0), in_array(x, 0, 0, 0), 8, 16, 1)},
        {"a.null", op(in_array(NULL, 0, 0, 0), pointer(b, 0, 0), 16, 16, 1)},
        {"p.null", op(pointer(0, 0, 0), pointer(b, 0, 0), 16, 16, 1)},
        {"p.garbage", op(pointer(0x1230, 0, 0), pointer(b, 0, 0), 16, 16, 1)}};
    for (size_t i = 0; i < COUNT(ops); i++) {
        CUDA_MEMCPY3D_BATCH_OP o = ops[i].o;
        T(N("%s", ops[i].name), cuMemcpy3DBatchAsync, 1, &o, 0, s);
        T(N("%s.sync", ops[i].name), cuStreamSynchronize, s);
    }
    CUDA_MEMCPY3D_BATCH_OP two[2] = {ops[0].o, ops[9].o};
    T("two", cuMemcpy3DBatchAsync, 2, two, 0, s);
    for (int order = 0; order <= 4; order++) {
        two[0].srcAccessOrder = order;
        T(N("order.%d", order), cuMemcpy3DBatchAsync, 2, two, 0, s);
    }
    two[0].srcAccessOrder = 1;
    for (unsigned flags = 1; flags <= 4; flags++) {
        two[0].flags = flags;
        T(N("opflags.%u", flags), cuMemcpy3DBatchAsync, 2, two, 0, s);
    }
    two[0].flags = 0;
    for (int type = 0; type <= 3; type++) {
        two[0].dst.type = type;
        if (type != 2)
            T(N("type.%d", type), cuMemcpy3DBatchAsync, 2, two, 0, s);
    }
    two[0].dst.type = 1;
    for (int type = 0; type <= 5; type++) {
        two[0].dst.op.ptr.locHint = at_location(type, 0);
        T(N("hint.%d", type), cuMemcpy3DBatchAsync, 2, two, 0, s);
        two[0].dst.op.ptr.locHint = at_location(type, 99);
        T(N("hint.%d.99", type), cuMemcpy3DBatchAsync, 2, two, 0, s);
    }
    two[0].dst.op.ptr.locHint = at_location(0, 0);
    T("flags", cuMemcpy3DBatchAsync, 2, two, 1, s);
    T("legacy", cuMemcpy3DBatchAsync, 2, two, 0, NULL);
    T("legacy1", cuMemcpy3DBatchAsync, 2, two, 0, CU_STREAM_LEGACY);
    T("perthread", cuMemcpy3DBatchAsync, 2, two, 0, CU_STREAM_PER_THREAD);
    T("far", cuMemcpy3DBatchAsync, 2, two, 0, far);
    T("zero", cuMemcpy3DBatchAsync, 0, two, 0, s);
    T("null", cuMemcpy3DBatchAsync, 1, NULL, 0, s);
    CUgraph g = NULL;
    T("capture", cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_RELAXED);
    T("capture.batch", cuMemcpy3DBatchAsync, 2, two, 0, s);
    T("capture.end", cuStreamEndCapture, s, &g);
    T("sync", cuCtxSynchronize);
}

/* Decompression, which devices of capability 9.0 lack. */
void group_decompress(void)
{
    CUdeviceptr a, b, c;
    CUstream s = NULL;
    size_t index = 77;
    int mask = -1, most = -1;
    setup();
    a = filled(1), b = filled(2), c = filled(3);
    R(cuStreamCreate, &s, 0);
    T("mask", cuDeviceGetAttribute, &mask, 136, 0);
    T("length", cuDeviceGetAttribute, &most, 137, 0);
    V("v", "%d %d", mask, most);
    for (int algo = 0; algo <= 5; algo++) {
        CUmemDecompressParams p;
        memset(&p, 0, sizeof p);
        p.srcNumBytes = 64;
        p.dstNumBytes = 128;
        p.dstActBytes = (cuuint32_t *)c;
        p.src = (void *)a;
        p.dst = (void *)b;
        p.algo = algo;
        index = 77;
        T(N("algo.%d", algo), cuMemBatchDecompressAsync, &p, 1, 0, &index, s);
        V(N("algo.%d.v", algo), "%zu", index);
    }
    CUmemDecompressParams p;
    memset(&p, 0, sizeof p);
    T("zero", cuMemBatchDecompressAsync, &p, 0, 0, &index, s);
    T("null", cuMemBatchDecompressAsync, NULL, 1, 0, &index, s);
    T("nullindex", cuMemBatchDecompressAsync, &p, 1, 0, NULL, s);
    T("flags", cuMemBatchDecompressAsync, &p, 1, 1, &index, s);
    T("legacy", cuMemBatchDecompressAsync, &p, 1, 0, &index, NULL);
    T("sync", cuCtxSynchronize);
}

/* Asynchronous copies of arrays, and between contexts in three dimensions. */
void group_copyrest(void)
{
    CUcontext primary = setup(), second = NULL;
    CUarray line = NULL, flat = NULL;
    CUstream s = NULL, far = NULL;
    CUdeviceptr p = filled(5), other = 0;
    unsigned *host = NULL, pageable[64] = {0};
    CUDA_ARRAY_DESCRIPTOR d = {.Width = 64, .Height = 0, .Format = CU_AD_FORMAT_UNSIGNED_INT32,
        .NumChannels = 1};
    R(cuStreamCreate, &s, 0);
    R(cuMemHostAlloc, (void **)&host, 1024, 0);
    R(cuArrayCreate, &line, &d);
    d.Height = 8;
    R(cuArrayCreate, &flat, &d);
    R(cuCtxCreate, &second, NULL, 0, 0);
    R(cuStreamCreate, &far, 0);
    R(cuMemAlloc, &other, 4096);
    R(cuCtxSetCurrent, primary);
    for (int i = 0; i < 64; i++)
        host[i] = (unsigned)i;
    T("htoa", cuMemcpyHtoAAsync, line, 0, host, 256, s);
    T("htoa.offset", cuMemcpyHtoAAsync, line, 16, host, 64, s);
    T("htoa.odd", cuMemcpyHtoAAsync, line, 3, host, 5, s);
    T("htoa.beyond", cuMemcpyHtoAAsync, line, 16, host, 256, s);
    T("htoa.flat", cuMemcpyHtoAAsync, flat, 0, host, 256, s);
    T("htoa.flat.rows", cuMemcpyHtoAAsync, flat, 0, host, 512, s);
    T("htoa.zero", cuMemcpyHtoAAsync, line, 0, host, 0, s);
    T("htoa.null", cuMemcpyHtoAAsync, line, 0, NULL, 16, s);
    T("htoa.nullarray", cuMemcpyHtoAAsync, NULL, 0, host, 16, s);
    T("htoa.legacy", cuMemcpyHtoAAsync, line, 0, host, 256, NULL);
    T("htoa.far", cuMemcpyHtoAAsync, line, 0, host, 256, far);
    T("htoa.pageable", cuMemcpyHtoAAsync, line, 0, pageable, 256, s);
    T("htoa.again", cuMemcpyHtoAAsync, line, 0, host, 256, s);
    memset(pageable, 0, sizeof pageable);
    T("atoh", cuMemcpyAtoHAsync, pageable, line, 16, 64, s);
    T("atoh.sync", cuStreamSynchronize, s);
    V("atoh.v", "%u %u %u", pageable[0], pageable[15], pageable[16]);
    T("atoh.beyond", cuMemcpyAtoHAsync, host, line, 16, 256, s);
    T("atoh.odd", cuMemcpyAtoHAsync, host, line, 3, 5, s);
    T("atoh.flat.rows", cuMemcpyAtoHAsync, host, flat, 0, 512, s);
    T("atoh.zero", cuMemcpyAtoHAsync, host, line, 0, 0, s);
    T("atoh.null", cuMemcpyAtoHAsync, NULL, line, 0, 16, s);
    T("atoh.nullarray", cuMemcpyAtoHAsync, host, NULL, 0, 16, s);
    CUDA_MEMCPY3D_PEER c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.srcDevice = p;
    c.dstDevice = other;
    c.srcContext = primary;
    c.dstContext = second;
    c.srcPitch = c.dstPitch = 64;
    c.srcHeight = c.dstHeight = 4;
    c.WidthInBytes = 64;
    c.Height = 4;
    c.Depth = 2;
    T("peer", cuMemcpy3DPeerAsync, &c, s);
    T("peer.sync", cuStreamSynchronize, s);
    V("peer.v", "%u", first(other));
    T("peer.legacy", cuMemcpy3DPeerAsync, &c, NULL);
    T("peer.far", cuMemcpy3DPeerAsync, &c, far);
    T("peer.null", cuMemcpy3DPeerAsync, NULL, s);
    c.srcContext = NULL;
    T("peer.nullsrc", cuMemcpy3DPeerAsync, &c, s);
    c.srcContext = second;
    T("peer.wrongsrc", cuMemcpy3DPeerAsync, &c, s);
    c.srcContext = primary;
    c.dstContext = primary;
    T("peer.same", cuMemcpy3DPeerAsync, &c, s);
    c.Depth = 0;
    T("peer.depth0", cuMemcpy3DPeerAsync, &c, s);
    c.Depth = 2;
    c.srcPitch = 32;
    T("peer.pitch", cuMemcpy3DPeerAsync, &c, s);
    c.srcPitch = 64;
    c.srcHeight = 2;
    T("peer.height", cuMemcpy3DPeerAsync, &c, s);
    c.srcHeight = 4;
    c.srcLOD = 1;
    T("peer.lod", cuMemcpy3DPeerAsync, &c, s);
    c.srcLOD = 0;
    c.srcMemoryType = 9;
    T("peer.type", cuMemcpy3DPeerAsync, &c, s);
    T("sync", cuCtxSynchronize);
}
