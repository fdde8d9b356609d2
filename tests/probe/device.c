/* Initialisation, error names, devices. */
#include "probe.h"
#include <unistd.h>

void group_cold(void)
{
    int n;
    size_t z;
    CUdevice d;
    CUcontext c = NULL;
    CUstream s;
    CUevent e;
    CUdeviceptr p;
    CUmodule m;
    void *h = NULL;
    CUdriverProcAddressQueryResult q;
    unsigned flags;
    const char *text = NULL;
    T("DeviceGetCount", cuDeviceGetCount, &n);
    T("DeviceGetCount.null", cuDeviceGetCount, NULL);
    T("DeviceGet", cuDeviceGet, &d, 0);
    T("DeviceGet.bad", cuDeviceGet, &d, -1);
    T("DeviceGetName", cuDeviceGetName, (char[64]){0}, 64, 0);
    T("DeviceGetAttribute", cuDeviceGetAttribute, &n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0);
    T("DeviceTotalMem", cuDeviceTotalMem, &z, 0);
    T("DevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain, &c, 0);
    T("DevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState, 0, &flags, &n);
    T("DevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease, 0);
    T("DevicePrimaryCtxReset", cuDevicePrimaryCtxReset, 0);
    T("CtxCreate", cuCtxCreate, &c, NULL, 0, 0);
    T("CtxGetCurrent", cuCtxGetCurrent, &c);
    T("CtxSetCurrent", cuCtxSetCurrent, NULL);
    T("CtxGetDevice", cuCtxGetDevice, &d);
    T("CtxSynchronize", cuCtxSynchronize);
    T("CtxDestroy", cuCtxDestroy, NULL);
    T("CtxPushCurrent", cuCtxPushCurrent, NULL);
    T("CtxPopCurrent", cuCtxPopCurrent, &c);
    T("CtxGetLimit", cuCtxGetLimit, &z, CU_LIMIT_STACK_SIZE);
    T("MemAlloc", cuMemAlloc, &p, 1024);
    T("MemAlloc.null", cuMemAlloc, NULL, 1024);
    T("MemFree.0", cuMemFree, 0);
    T("MemFree.bad", cuMemFree, 0x1234);
    T("MemGetInfo", cuMemGetInfo, &z, &z);
    T("MemHostAlloc", cuMemHostAlloc, &h, 64, 0);
    T("MemFreeHost", cuMemFreeHost, NULL);
    T("PointerGetAttribute", cuPointerGetAttribute, &n, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&n);
    T("MemcpyHtoD", cuMemcpyHtoD, 0x1000, &n, 4);
    T("StreamCreate", cuStreamCreate, &s, 0);
    T("StreamSynchronize", cuStreamSynchronize, NULL);
    T("StreamDestroy", cuStreamDestroy, NULL);
    T("EventCreate", cuEventCreate, &e, 0);
    T("EventDestroy", cuEventDestroy, NULL);
    T("ModuleLoadData", cuModuleLoadData, &m, ptx_main);
    T("ModuleLoad", cuModuleLoad, &m, "no/such/file");
    T("ModuleUnload", cuModuleUnload, NULL);
    T("ModuleGetLoadingMode", cuModuleGetLoadingMode, (CUmoduleLoadingMode *)&n);
    T("LibraryLoadData", cuLibraryLoadData, (CUlibrary *)&h, ptx_main, NULL, NULL, 0, NULL, NULL, 0);
    T("LinkCreate", cuLinkCreate, 0, NULL, NULL, (CUlinkState *)&h);
    T("LaunchKernel", cuLaunchKernel, NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    T("LaunchHostFunc", cuLaunchHostFunc, NULL, NULL, NULL);
    T("GraphCreate", cuGraphCreate, (CUgraph *)&h, 0);
    T("ProfilerStart", cuProfilerStart);
    T("GetProcAddress", cuGetProcAddress, "cuInit", &h, 12000, 0, &q);
    V("GetProcAddress.v", "%d %d", h != NULL, (int)q);
    T("GetErrorName", cuGetErrorName, CUDA_ERROR_INVALID_VALUE, &text);
    V("GetErrorName.v", "%s", text ? text : "(null)");
    T("GetErrorString", cuGetErrorString, CUDA_ERROR_INVALID_VALUE, &text);
    T("DriverGetVersion", cuDriverGetVersion, &n);
    V("DriverGetVersion.v", "%d", n);
    T("DriverGetVersion.null", cuDriverGetVersion, NULL);
    T("ThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *)&n);
    static const CUuuid unknown = {{1, 2, 3}};
    const void *table = NULL;
    T("GetExportTable.unknown", cuGetExportTable, &table, &unknown);
    T("Init.flags1", cuInit, 1);
    T("after.badinit", cuDeviceGetCount, &n);
}

void group_init(void)
{
    int n = -1;
    T("flags0xffffffff", cuInit, 0xffffffff);
    T("flags0", cuInit, 0);
    T("again", cuInit, 0);
    T("flags1.again", cuInit, 1);
    T("version", cuDriverGetVersion, &n);
    V("version.v", "%d", n);
    static const CUuuid unknown = {{1, 2, 3}};
    const void *table = (void *)1;
    T("exporttable.unknown", cuGetExportTable, &table, &unknown);
    V("exporttable.unknown.null", "%d", table == NULL);
    T("exporttable.nullout", cuGetExportTable, NULL, &unknown);
    T("exporttable.nullid", cuGetExportTable, &table, NULL);
    T("profiler.start.noctx", cuProfilerStart);
    T("profiler.stop.noctx", cuProfilerStop);
    T("flushrdma.noctx", cuFlushGPUDirectRDMAWrites, 0, 100);
}

void group_errors(void)
{
    const char *text = NULL;
    for (int code = 0; code <= 1000; code++) {
        const char *name = NULL, *string = NULL;
        CUresult a = R(cuGetErrorName, code, &name), b = R(cuGetErrorString, code, &string);
        if (!a || !b || name || string)
            V(N("%d", code), "%s | %s", name ? name : "(null)", string ? string : "(null)");
    }
    text = (char *)1;
    T("name.unknown", cuGetErrorName, 12345, &text);
    V("name.unknown.null", "%d", text == NULL);
    text = (char *)1;
    T("string.unknown", cuGetErrorString, -1, &text);
    V("string.unknown.null", "%d", text == NULL);
    T("name.nullout", cuGetErrorName, 1, NULL);
    T("string.nullout", cuGetErrorString, 1, NULL);
}

void group_device(void)
{
    int n = -1, major, minor;
    CUdevice d = 77;
    char name[256];
    size_t bytes = 0;
    R(cuInit, 0);
    T("count", cuDeviceGetCount, &n);
    V("count.positive", "%d", n > 0);
    M("count.v", "%d", n);
    T("count.null", cuDeviceGetCount, NULL);
    T("get", cuDeviceGet, &d, 0);
    V("get.v", "%d", d);
    T("get.count", cuDeviceGet, &d, n);
    T("get.minus1", cuDeviceGet, &d, -1);
    T("get.huge", cuDeviceGet, &d, 0x7fffffff);
    T("get.null", cuDeviceGet, NULL, 0);
    memset(name, 'x', sizeof name);
    T("name", cuDeviceGetName, name, sizeof name, 0);
    M("name.v", "%s", name);
    memset(name, 'x', sizeof name);
    T("name.len4", cuDeviceGetName, name, 4, 0);
    V("name.len4.ends", "%d %d", name[3] == 0, name[4] == 'x');
    memset(name, 'x', sizeof name);
    T("name.len1", cuDeviceGetName, name, 1, 0);
    V("name.len1.v", "%d %d", name[0], name[1] == 'x');
    T("name.len0", cuDeviceGetName, name, 0, 0);
    T("name.lenneg", cuDeviceGetName, name, -1, 0);
    T("name.null", cuDeviceGetName, NULL, 16, 0);
    T("name.baddev", cuDeviceGetName, name, 16, 99);
    T("name.negdev", cuDeviceGetName, name, 16, -1);
    T("totalmem", cuDeviceTotalMem, &bytes, 0);
    V("totalmem.positive", "%d", bytes > 0);
    M("totalmem.v", "%zu", bytes);
    T("totalmem.null", cuDeviceTotalMem, NULL, 0);
    T("totalmem.baddev", cuDeviceTotalMem, &bytes, 99);
    CUuuid uuid, uuid1, zero;
    memset(&zero, 0, sizeof zero);
    T("uuid", cuDeviceGetUuid, &uuid, 0);
    V("uuid.nonzero", "%d", memcmp(&uuid, &zero, sizeof zero) != 0);
    T("uuid.null", cuDeviceGetUuid, NULL, 0);
    T("uuid.baddev", cuDeviceGetUuid, &uuid, 99);
    CUresult (*uuid_v1)(CUuuid *, CUdevice) = (CUresult(*)(CUuuid *, CUdevice))S("cuDeviceGetUuid");
    if (uuid_v1) {
        begin("uuid.v1");
        report(uuid_v1(&uuid1, 0));
        V("uuid.v1.same", "%d", memcmp(&uuid, &uuid1, sizeof uuid) == 0);
    }
    unsigned mask = 0;
    char luid[8] = {0};
    T("luid", cuDeviceGetLuid, luid, &mask, 0);
    T("capability", cuDeviceComputeCapability, &major, &minor, 0);
    M("capability.v", "%d.%d", major, minor);
    T("capability.null", cuDeviceComputeCapability, NULL, &minor, 0);
    T("capability.baddev", cuDeviceComputeCapability, &major, &minor, 99);
    CUdevprop prop;
    memset(&prop, 0x5a, sizeof prop);
    T("properties", cuDeviceGetProperties, &prop, 0);
    V("properties.fixed", "threads=%d dim=%d,%d,%d grid=%d,%d,%d shared=%d const=%d simd=%d pitch=%d", prop.maxThreadsPerBlock,
      prop.maxThreadsDim[0], prop.maxThreadsDim[1], prop.maxThreadsDim[2], prop.maxGridSize[0], prop.maxGridSize[1],
      prop.maxGridSize[2], prop.sharedMemPerBlock, prop.totalConstantMemory, prop.SIMDWidth, prop.memPitch);
    M("properties.v", "regs=%d clock=%d align=%d", prop.regsPerBlock, prop.clockRate, prop.textureAlign);
    T("properties.null", cuDeviceGetProperties, NULL, 0);
    T("properties.baddev", cuDeviceGetProperties, &prop, 99);
    char bus[32] = "", small[8];
    T("pcibusid", cuDeviceGetPCIBusId, bus, sizeof bus, 0);
    V("pcibusid.length", "%zu", strlen(bus));
    V("pcibusid.shape", "%d", bus[4] == ':' && bus[7] == ':' && bus[10] == '.');
    T("pcibusid.len8", cuDeviceGetPCIBusId, small, 8, 0);
    T("pcibusid.len12", cuDeviceGetPCIBusId, (char[32]){0}, 12, 0);
    T("pcibusid.len13", cuDeviceGetPCIBusId, (char[32]){0}, 13, 0);
    T("pcibusid.null", cuDeviceGetPCIBusId, NULL, 16, 0);
    T("pcibusid.baddev", cuDeviceGetPCIBusId, bus, sizeof bus, 99);
    d = 77;
    T("bypcibusid", cuDeviceGetByPCIBusId, &d, bus);
    V("bypcibusid.v", "%d", d);
    T("bypcibusid.short", cuDeviceGetByPCIBusId, &d, bus + 5);
    T("bypcibusid.bad", cuDeviceGetByPCIBusId, &d, "nonsense");
    T("bypcibusid.absent", cuDeviceGetByPCIBusId, &d, "0000:ff:1f.0");
    T("bypcibusid.null", cuDeviceGetByPCIBusId, &d, NULL);
    T("bypcibusid.nullout", cuDeviceGetByPCIBusId, NULL, bus);
    n = -1;
    T("canaccesspeer.self", cuDeviceCanAccessPeer, &n, 0, 0);
    V("canaccesspeer.self.v", "%d", n);
    T("canaccesspeer.bad", cuDeviceCanAccessPeer, &n, 0, 99);
    T("canaccesspeer.null", cuDeviceCanAccessPeer, NULL, 0, 0);
    for (int a = 0; a <= 6; a++)
        T(N("p2p.%d.self", a), cuDeviceGetP2PAttribute, &n, a, 0, 0);
    T("p2p.baddev", cuDeviceGetP2PAttribute, &n, 1, 0, 99);
    T("p2p.null", cuDeviceGetP2PAttribute, NULL, 1, 0, 0);
    n = -1;
    T("execaffinity", cuDeviceGetExecAffinitySupport, &n, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0);
    M("execaffinity.v", "%d", n);
    T("execaffinity.bad", cuDeviceGetExecAffinitySupport, &n, 7, 0);
    T("execaffinity.null", cuDeviceGetExecAffinitySupport, NULL, 0, 0);
    size_t width = 0;
    T("tex1dlinear", cuDeviceGetTexture1DLinearMaxWidth, &width, CU_AD_FORMAT_FLOAT, 1, 0);
    V("tex1dlinear.v", "%zu", width);
    T("tex1dlinear.x4", cuDeviceGetTexture1DLinearMaxWidth, &width, CU_AD_FORMAT_FLOAT, 4, 0);
    V("tex1dlinear.x4.v", "%zu", width);
    T("tex1dlinear.x3", cuDeviceGetTexture1DLinearMaxWidth, &width, CU_AD_FORMAT_FLOAT, 3, 0);
    T("tex1dlinear.badformat", cuDeviceGetTexture1DLinearMaxWidth, &width, 0x7777, 1, 0);
    T("tex1dlinear.null", cuDeviceGetTexture1DLinearMaxWidth, NULL, CU_AD_FORMAT_FLOAT, 1, 0);
    CUmemoryPool pool = NULL, pool2 = NULL;
    T("defaultpool", cuDeviceGetDefaultMemPool, &pool, 0);
    T("pool", cuDeviceGetMemPool, &pool2, 0);
    V("pool.isdefault", "%d", pool == pool2);
    T("defaultpool.null", cuDeviceGetDefaultMemPool, NULL, 0);
    T("defaultpool.baddev", cuDeviceGetDefaultMemPool, &pool, 99);
    T("setpool.null", cuDeviceSetMemPool, 0, NULL);
    unsigned long long used = 99;
    for (int a = 0; a <= 4; a++)
        T(N("graphmem.%d", a), cuDeviceGetGraphMemAttribute, 0, a, &used);
    T("graphmem.trim", cuDeviceGraphMemTrim, 0);
    T("graphmem.trim.baddev", cuDeviceGraphMemTrim, 99);
    unsigned caps[2] = {0};
    CUatomicOperation ops[2] = {0, 1};
    T("hostatomics", cuDeviceGetHostAtomicCapabilities, caps, ops, 2, 0);
}

void group_attr(void)
{
    int v;
    R(cuInit, 0);
    for (int a = -1; a <= 160; a++) {
        v = -12345;
        CUresult status = T(N("%d", a), cuDeviceGetAttribute, &v, a, 0);
        if (!status)
            M(N("%d.v", a), "%d", v);
    }
    T("null", cuDeviceGetAttribute, NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0);
    T("baddev", cuDeviceGetAttribute, &v, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99);
    T("negdev", cuDeviceGetAttribute, &v, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1);
    T("huge", cuDeviceGetAttribute, &v, 1000000, 0);
    /* Attributes that are the same on all recent devices. */
    static const int fixed[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 19, 31, 41, 78, 79, 80, 83, 89, 91, 95};
    for (size_t i = 0; i < COUNT(fixed); i++) {
        R(cuDeviceGetAttribute, &v, fixed[i], 0);
        V(N("%d.fixed", fixed[i]), "%d", v);
    }
}
