/* What a CUDA runtime answers, one line per answer: group, function with arguments, status or value.
 *
 *     cc -O1 -DALONE -o cudart tests/probe/cudart.c -ldl -lpthread && ./cudart PATH/libcudart.so.13 > out.txt
 *
 * Needs no header, and is no part of the probe of the driver, which is made of the other files here: without
 * ALONE it is empty. Every group runs in a process of its own. */
#ifdef ALONE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long u64;
typedef struct { unsigned x, y, z; } dim3;
typedef struct { int x, y, z, w; int f; } channels;
typedef struct { size_t width, height, depth; } extent;

static void *library;
static const char *group;
static const char *(*name_of)(int), *(*text_of)(int);

static void *find(const char *name)
{
    void *at = dlsym(library, name);
    if (!at) {
        printf("%s.%s: MISSING\n", group, name);
        exit(0);
    }
    return at;
}

/* Calls a function with the given types and prints the answer under the text of the call. */
#define TYPES(...) (int (*)(__VA_ARGS__))
#define ASK(label, name, types, ...) say(label, (TYPES types find(#name))(__VA_ARGS__))

static int say(const char *label, int status)
{
    printf("%s.%s: %s\n", group, label, name_of(status));
    fflush(stdout);
    return status;
}

static void value(const char *label, long long number)
{
    printf("%s.%s = %lld\n", group, label, number);
    fflush(stdout);
}

static void last(const char *label)
{
    char text[128];
    snprintf(text, sizeof text, "%s:peek", label);
    ASK(text, cudaPeekAtLastError, (void), );
    snprintf(text, sizeof text, "%s:get", label);
    ASK(text, cudaGetLastError, (void), );
    snprintf(text, sizeof text, "%s:get again", label);
    ASK(text, cudaGetLastError, (void), );
}

static const char PTX[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .const .align 4 .u32 factor = 3;\n"
    ".visible .global .align 4 .u32 total;\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry adds(.param .u64 p, .param .u32 n) { .reg .b32 %r<3>; .reg .b64 %d;\n"
    "ld.param.u64 %d, [p]; ld.param.u32 %r1, [n]; atom.global.add.u32 %r2, [%d], %r1; ret; }\n"
    ".visible .entry limited() .maxntid 64, 1, 1 { ret; }\n"
    ".visible .entry faults() { .reg .b64 %d; mov.u64 %d, 8; st.global.u32 [%d], 0; ret; }\n"
    ".visible .entry traps() { trap; }\n";

static char nothing, adds, limited, faults, traps, absent, unknown;
static unsigned factor, total;

/* A fat binary with the PTX above, and its wrapper. */
static void register_code(int all_there)
{
    static unsigned char fatbin[16 + 80 + sizeof PTX + 8];
    static struct { uint32_t magic, version; const void *data, *more; } wrapper = {0x466243b1, 1, fatbin,
        NULL};
    uint64_t padded = (sizeof PTX + 7) & ~7ull, all = 80 + padded, flags = 0x11, options = 72;
    uint32_t magic = 0xba55ed50, header = 80, version = 0x00070000, target = 75, at = 64;
    uint16_t one = 1, size = 16, kind = 0x101;
    memcpy(fatbin, &magic, 4), memcpy(fatbin + 4, &one, 2), memcpy(fatbin + 6, &size, 2), memcpy(fatbin + 8,
        &all, 8);
    unsigned char *entry = fatbin + 16;
    memcpy(entry, &one, 2), memcpy(entry + 2, &kind, 2), memcpy(entry + 4, &header, 4), memcpy(entry + 8,
        &padded, 8);
    memcpy(entry + 20, &at, 4), memcpy(entry + 64, &options, 8), memcpy(entry + 24, &version, 4),
        memcpy(entry + 28, &target, 4), memcpy(entry + 40, &flags, 8);
    memcpy(entry + 80, PTX, sizeof PTX);
    void **handle = ((void **(*)(void *))find("__cudaRegisterFatBinary"))(&wrapper);
    void (*function)(void **, const void *, const void *, const char *, int, void *, void *, void *, void *,
        void *) =
        find("__cudaRegisterFunction");
    const struct { const char *stub, *name; } stubs[] = {{&nothing, "nothing"}, {&adds, "adds"}, {&limited,
        "limited"},
                                                         {&faults, "faults"},   {&traps, "traps"}, {&absent,
                                                             "absent"}};
    for (unsigned i = 0; i < sizeof stubs / sizeof stubs[0] - (all_there ? 1 : 0); i++)
        function(handle, stubs[i].stub, stubs[i].name, stubs[i].name, -1, 0, 0, 0, 0, 0);
    void (*variable)(void **, void *, const char *, const char *, int, size_t, int,
        int) = find("__cudaRegisterVar");
    variable(handle, &factor, "factor", "factor", 0, 4, 1, 0);
    variable(handle, &total, "total", "total", 0, 4, 0, 0);
    ((void (*)(void **))find("__cudaRegisterFatBinaryEnd"))(handle);
}

#define LAUNCH(label, stub, grid, block, shared, stream)                                                            \
    ASK(label, cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, void *), stub, (dim3)grid, (dim3)block, \
        arguments, shared, stream)
#define D(...) {__VA_ARGS__}

static void *memory;
static unsigned three = 3;
static void *arguments[] = {&memory, &three};

static void begin(void)
{
    register_code(1);
    ASK("cudaMalloc(64)", cudaMalloc, (void **, size_t), &memory, 64);
    ASK("cudaMemset", cudaMemset, (void *, int, size_t), memory, 0, 64);
}

static void errors(void)
{
    last("at first");
    ASK("cudaSetDevice(99)", cudaSetDevice, (int), 99);
    ASK("cudaFree(0)", cudaFree, (void *), NULL);
    last("after an error and a success");
    ASK("cudaSetDevice(-1)", cudaSetDevice, (int), -1);
    last("after cudaSetDevice(-1)");
    int codes[] = {0, 1, 9, 12, 20, 35, 98, 127, 209, 700, 999, 10000, 10001, 1234, -1};
    for (unsigned i = 0; i < sizeof codes / sizeof codes[0]; i++)
        printf("%s.%d: %s | %s\n", group, codes[i], name_of(codes[i]), text_of(codes[i]));
}

static void *other_thread(void *label)
{
    last(label);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    ASK("cudaSetDevice(99)", cudaSetDevice, (int), 99);
    pthread_create(&thread, NULL, other_thread, "another thread");
    pthread_join(thread, NULL);
    last("the same thread");
}

static void launches(void)
{
    begin();
    LAUNCH("one", &adds, D(1, 1, 1), D(1, 1, 1), 0, NULL);
    LAUNCH("threads 1025", &nothing, D(1, 1, 1), D(1025, 1, 1), 0, NULL);
    last("threads 1025");
    LAUNCH("block z 65", &nothing, D(1, 1, 1), D(1, 1, 65), 0, NULL);
    LAUNCH("block 0", &nothing, D(1, 1, 1), D(0, 1, 1), 0, NULL);
    LAUNCH("grid 0", &nothing, D(0, 1, 1), D(1, 1, 1), 0, NULL);
    LAUNCH("grid y 65536", &nothing, D(1, 65536, 1), D(1, 1, 1), 0, NULL);
    LAUNCH("more than maxntid", &limited, D(1, 1, 1), D(65, 1, 1), 0, NULL);
    LAUNCH("shared 1 MiB", &nothing, D(1, 1, 1), D(1, 1, 1), 1 << 20, NULL);
    LAUNCH("shared 49153", &nothing, D(1, 1, 1), D(1, 1, 1), 49153, NULL);
    LAUNCH("shared 5 GiB", &nothing, D(1, 1, 1), D(1, 1, 1), 5ull << 30, NULL);
    LAUNCH("not registered", &unknown, D(1, 1, 1), D(1, 1, 1), 0, NULL);
    LAUNCH("null", NULL, D(1, 1, 1), D(1, 1, 1), 0, NULL);
    ASK("sync", cudaDeviceSynchronize, (void), );
    unsigned result = 9;
    ASK("copy", cudaMemcpy, (void *, const void *, size_t, int), &result, memory, 4, 2);
    value("result", result);
    void *kernel = NULL;
    ASK("cudaGetKernel", cudaGetKernel, (void **, const void *), &kernel, &adds);
    ASK("cudaGetKernel(not registered)", cudaGetKernel, (void **, const void *), &kernel, &unknown);
    ASK("cudaGetFuncBySymbol(null)", cudaGetFuncBySymbol, (void **, const void *), &kernel, NULL);
    dim3 grid, block;
    size_t shared;
    void *stream;
    ASK("pop without push", __cudaPopCallConfiguration, (dim3 *, dim3 *, size_t *, void **), &grid, &block,
        &shared, &stream);
    last("pop without push");
}

static void symbols(void)
{
    begin();
    void *at = NULL;
    size_t size = 0;
    unsigned number = 5;
    ASK("address", cudaGetSymbolAddress, (void **, const void *), &at, &factor);
    ASK("address of none", cudaGetSymbolAddress, (void **, const void *), &at, &unknown);
    ASK("size", cudaGetSymbolSize, (size_t *, const void *), &size, &total);
    value("size", (long long)size);
#define TO (const void *, const void *, size_t, size_t, int)
    ASK("to", cudaMemcpyToSymbol, TO, &factor, &number, 4, 0, 1);
    ASK("to, too much", cudaMemcpyToSymbol, TO, &factor, &number, 8, 0, 1);
    ASK("to, offset", cudaMemcpyToSymbol, TO, &factor, &number, 4, 4, 1);
    ASK("to, nothing", cudaMemcpyToSymbol, TO, &factor, &number, 0, 0, 1);
    ASK("to, device to host", cudaMemcpyToSymbol, TO, &factor, &number, 4, 0, 2);
    ASK("to, host to host", cudaMemcpyToSymbol, TO, &factor, &number, 4, 0, 0);
    ASK("to, default", cudaMemcpyToSymbol, TO, &factor, &number, 4, 0, 4);
    ASK("from, host to device", cudaMemcpyFromSymbol, (void *, const void *, size_t, size_t, int), &number,
        &factor, 4, 0, 1);
}

static void copies(void)
{
    begin();
    unsigned host[16] = {1, 2, 3}, back[16] = {0};
#define LINE (void *, const void *, size_t, int)
    ASK("kind 5", cudaMemcpy, LINE, memory, host, 4, 5);
    ASK("kind -1", cudaMemcpy, LINE, memory, host, 4, -1);
    ASK("kind 5, nothing", cudaMemcpy, LINE, memory, host, 0, 5);
    ASK("null, nothing", cudaMemcpy, LINE, NULL, NULL, 0, 1);
    ASK("null source", cudaMemcpy, LINE, memory, NULL, 4, 1);
    ASK("wrong direction", cudaMemcpy, LINE, memory, host, 4, 2);
    ASK("host to device, both device", cudaMemcpy, LINE, memory, (char *)memory + 32, 4, 1);
    ASK("host to host", cudaMemcpy, LINE, back, host, 8, 0);
    ASK("default, host to host", cudaMemcpy, LINE, back, host, 8, 4);
    ASK("too much", cudaMemcpy, LINE, memory, host, 1 << 20, 1);
    last("after copies");
#define PLANE (void *, size_t, const void *, size_t, size_t, size_t, int)
    ASK("2D, pitch 4 width 8", cudaMemcpy2D, PLANE, memory, 4, host, 8, 8, 2, 1);
    ASK("2D, source pitch 4 width 8", cudaMemcpy2D, PLANE, memory, 8, host, 4, 8, 2, 1);
    ASK("2D, width 0", cudaMemcpy2D, PLANE, memory, 4, host, 4, 0, 2, 1);
    ASK("2D, pitch 4 width 8 height 0", cudaMemcpy2D, PLANE, memory, 4, host, 4, 8, 0, 1);
    ASK("memset, nothing", cudaMemset, (void *, int, size_t), NULL, 0, 0);
    ASK("memset null", cudaMemset, (void *, int, size_t), NULL, 0, 4);
    ASK("memset too much", cudaMemset, (void *, int, size_t), memory, 0, 1 << 20);
    ASK("memset 2D, pitch 4 width 8", cudaMemset2D, (void *, size_t, int, size_t, size_t), memory, 4, 0, 8,
        2);
}

static void allocations(void)
{
    begin();
    void *at = (void *)8;
    size_t pitch = 8;
#define ONE (void **, size_t)
    ASK("malloc 0", cudaMalloc, ONE, &at, 0);
    value("malloc 0", (long long)(uintptr_t)at);
    ASK("malloc null", cudaMalloc, ONE, NULL, 4);
    ASK("malloc null 0", cudaMalloc, ONE, NULL, 0);
    ASK("malloc 1 EiB", cudaMalloc, ONE, &at, 1ull << 60);
    last("malloc 1 EiB");
    ASK("free 8", cudaFree, (void *), (void *)8);
    ASK("free inside", cudaFree, (void *), (char *)memory + 4);
    ASK("free", cudaFree, (void *), memory);
    ASK("free twice", cudaFree, (void *), memory);
    at = (void *)8;
    ASK("host 0", cudaMallocHost, ONE, &at, 0);
    value("host 0", (long long)(uintptr_t)at);
    ASK("host flags 64", cudaHostAlloc, (void **, size_t, unsigned), &at, 4, 64);
    ASK("free host null", cudaFreeHost, (void *), NULL);
    ASK("free host 8", cudaFreeHost, (void *), (void *)8);
    ASK("managed 0", cudaMallocManaged, (void **, size_t, unsigned), &at, 0, 1);
    ASK("managed flags 0", cudaMallocManaged, (void **, size_t, unsigned), &at, 4, 0);
    at = (void *)8;
    ASK("pitch 0", cudaMallocPitch, (void **, size_t *, size_t, size_t), &at, &pitch, 0, 3);
    value("pitch 0 pointer", (long long)(uintptr_t)at);
    value("pitch 0 pitch", (long long)pitch);
    ASK("pitch", cudaMallocPitch, (void **, size_t *, size_t, size_t), &at, &pitch, 12, 3);
    value("pitch", (long long)pitch);
    channels wrong[] = {{32, 0, 0, 0, 2}, {32, 32, 32, 0, 2}, {32, 16, 0, 0, 0}, {24, 0, 0, 0, 1}, {32, 0, 32,
        0, 1}, {0, 0, 0, 0, 0}, {32, 0, 0, 0, 3}};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char label[64];
        snprintf(label, sizeof label, "array %d %d %d %d kind %d", wrong[i].x, wrong[i].y, wrong[i].z,
            wrong[i].w, wrong[i].f);
        ASK(label, cudaMallocArray, (void **, const channels *, size_t, size_t, unsigned), &at, &wrong[i], 4,
            4, 0);
    }
    ASK("array width 0", cudaMallocArray, (void **, const channels *, size_t, size_t, unsigned), &at,
        &wrong[0], 0, 4, 0);
    ASK("free array null", cudaFreeArray, (void *), NULL);
}

static void pointers(void)
{
    begin();
    struct { int type, device; void *at, *host; long rest[8]; } a;
    unsigned local = 0;
    void *host = NULL, *managed = NULL;
    ASK("host", cudaMallocHost, (void **, size_t), &host, 64);
    ASK("managed", cudaMallocManaged, (void **, size_t, unsigned), &managed, 64, 1);
    struct { const char *label; void *at; } all[] = {{"device", memory}, {"inside", (char *)memory + 4},
        {"local", &local}, {"host", host}, {"managed", managed}, {"null", NULL}};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        memset(&a, 0x5a, sizeof a);
        ASK(all[i].label, cudaPointerGetAttributes, (void *, const void *), &a, all[i].at);
        printf("%s.%s = type %d device %d, device pointer %s, host pointer %s, rest %s\n", group,
            all[i].label, a.type, a.device,
               a.at == all[i].at ? "same" : a.at ? "other" : "null",
                   a.host == all[i].at ? "same" : a.host ? "other" : "null",
               a.rest[0] == 0 ? "zero" : "unset");
    }
}

static void streams(void)
{
    begin();
    void *stream = NULL, *event = NULL, *second = NULL;
    float ms = 1;
    ASK("null out", cudaStreamCreate, (void **), NULL);
    ASK("create", cudaStreamCreate, (void **), &stream);
    ASK("flags 2", cudaStreamCreateWithFlags, (void **, unsigned), &second, 2);
    ASK("destroy null", cudaStreamDestroy, (void *), NULL);
    ASK("destroy legacy", cudaStreamDestroy, (void *), (void *)1);
    ASK("query null", cudaStreamQuery, (void *), NULL);
    ASK("event", cudaEventCreate, (void **), &event);
    ASK("event flags 8", cudaEventCreateWithFlags, (void **, unsigned), &second, 8);
    ASK("second", cudaEventCreate, (void **), &second);
    ASK("elapsed, not recorded", cudaEventElapsedTime, (float *, void *, void *), &ms, event, second);
    ASK("query, not recorded", cudaEventQuery, (void *), event);
    ASK("record", cudaEventRecord, (void *, void *), event, stream);
    ASK("record null", cudaEventRecord, (void *, void *), NULL, stream);
    ASK("wait flags 2", cudaStreamWaitEvent, (void *, void *, unsigned), stream, event, 2);
    ASK("destroy event", cudaEventDestroy, (void *), event);
    ASK("destroy event null", cudaEventDestroy, (void *), NULL);
    int low = 9, high = 9;
    ASK("priorities", cudaDeviceGetStreamPriorityRange, (int *, int *), &low, &high);
    value("low", low);
    value("high", high);
}

static void devices(void)
{
    int number = 9;
    unsigned flags = 99;
    ASK("cudaGetDevice", cudaGetDevice, (int *), &number);
    value("device", number);
    ASK("cudaGetDevice(null)", cudaGetDevice, (int *), NULL);
    ASK("cudaGetDeviceFlags", cudaGetDeviceFlags, (unsigned *), &flags);
    value("flags", flags);
    ASK("cudaSetDeviceFlags(4)", cudaSetDeviceFlags, (unsigned), 4);
    ASK("cudaGetDeviceFlags", cudaGetDeviceFlags, (unsigned *), &flags);
    value("flags after 4", flags);
    ASK("cudaSetDeviceFlags(3)", cudaSetDeviceFlags, (unsigned), 3);
    ASK("cudaSetDeviceFlags(1024)", cudaSetDeviceFlags, (unsigned), 1024);
    ASK("cudaInitDevice(0, 0, 2)", cudaInitDevice, (int, unsigned, unsigned), 0, 0, 2);
    ASK("cudaFree(0)", cudaFree, (void *), NULL);
    ASK("cudaSetDeviceFlags(1)", cudaSetDeviceFlags, (unsigned), 1);
    ASK("cudaGetDeviceFlags", cudaGetDeviceFlags, (unsigned *), &flags);
    value("flags after 1", flags);
    ASK("cudaSetValidDevices(null, 0)", cudaSetValidDevices, (int *, int), NULL, 0);
    int list[] = {0, 99};
    ASK("cudaSetValidDevices(0)", cudaSetValidDevices, (int *, int), list, 1);
    ASK("cudaSetValidDevices(0, 99)", cudaSetValidDevices, (int *, int), list, 2);
    ASK("cudaDeviceGetAttribute(0)", cudaDeviceGetAttribute, (int *, int, int), &number, 0, 0);
    ASK("cudaDeviceGetAttribute(9999)", cudaDeviceGetAttribute, (int *, int, int), &number, 9999, 0);
    ASK("cudaDeviceGetAttribute device 99", cudaDeviceGetAttribute, (int *, int, int), &number, 1, 99);
    ASK("cudaDeviceGetLimit(99)", cudaDeviceGetLimit, (size_t *, int), (size_t *)&list, 99);
    void *f = NULL;
    int status = 9;
#define ENTRY (const char *, void **, u64, int *)
    ASK("entry cuMemAlloc", cudaGetDriverEntryPoint, ENTRY, "cuMemAlloc", &f, 0, &status);
    value("entry cuMemAlloc", status);
    ASK("entry none", cudaGetDriverEntryPoint, ENTRY, "cuNothing", &f, 0, &status);
    value("entry none", status);
    ASK("entry flags 8", cudaGetDriverEntryPoint, ENTRY, "cuMemAlloc", &f, 8, &status);
    ASK("cudaDeviceReset", cudaDeviceReset, (void), );
    ASK("cudaFree after the reset", cudaFree, (void *), NULL);
}

static void fault(const char *stub)
{
    begin();
    LAUNCH("launch", stub, D(1, 1, 1), D(1, 1, 1), 0, NULL);
    ASK("sync", cudaDeviceSynchronize, (void), );
    last("after the fault");
    last("again");
    void *more;
    ASK("malloc", cudaMalloc, (void **, size_t), &more, 4);
    ASK("malloc 0", cudaMalloc, (void **, size_t), &more, 0);
    ASK("free 0", cudaFree, (void *), NULL);
    int number;
    ASK("cudaGetDevice", cudaGetDevice, (int *), &number);
    ASK("cudaSetDevice", cudaSetDevice, (int), 0);
    ASK("cudaGetDeviceCount", cudaGetDeviceCount, (int *), &number);
    LAUNCH("launch again", &nothing, D(1, 1, 1), D(1, 1, 1), 0, NULL);
    LAUNCH("wrong launch", &nothing, D(1, 1, 1), D(1025, 1, 1), 0, NULL);
    last("before the reset");
    ASK("reset", cudaDeviceReset, (void), );
    last("after the reset");
    ASK("malloc after the reset", cudaMalloc, (void **, size_t), &more, 4);
}

static void illegal(void) { fault(&faults); }
static void trapped(void) { fault(&traps); }

static void functions(void)
{
    begin();
    struct { size_t shared, constant, local; int n[32]; } a;
    ASK("attributes", cudaFuncGetAttributes, (void *, const void *), &a, &limited);
    value("max threads", a.n[0]);
    value("binary version at least 70", a.n[3] >= 70);
    value("dynamic shared", a.n[5]);
    value("carveout", a.n[6]);
    for (int i = 7; i < 13; i++)
        value("cluster fields", a.n[i]);
    ASK("attributes of none", cudaFuncGetAttributes, (void *, const void *), &a, &unknown);
    ASK("attributes null", cudaFuncGetAttributes, (void *, const void *), NULL, &limited);
#define SET (const void *, int, int)
    ASK("set shared 98304", cudaFuncSetAttribute, SET, &nothing, 8, 98304);
    ASK("set shared 1 MiB", cudaFuncSetAttribute, SET, &nothing, 8, 1 << 20);
    ASK("set shared -1", cudaFuncSetAttribute, SET, &nothing, 8, -1);
    ASK("set carveout 50", cudaFuncSetAttribute, SET, &nothing, 9, 50);
    ASK("set carveout 101", cudaFuncSetAttribute, SET, &nothing, 9, 101);
    ASK("set attribute 0", cudaFuncSetAttribute, SET, &nothing, 0, 1);
    ASK("set attribute 99", cudaFuncSetAttribute, SET, &nothing, 99, 1);
    LAUNCH("shared 98304", &nothing, D(1, 1, 1), D(1, 1, 1), 98304, NULL);
    const char *name = NULL;
    ASK("name", cudaFuncGetName, (const char **, const void *), &name, &limited);
    printf("%s.name = %s\n", group, name ? name : "null");
    size_t offset = 9, size = 9;
    ASK("param 1", cudaFuncGetParamInfo, (const void *, size_t, size_t *, size_t *), &adds, 1, &offset,
        &size);
    value("offset", (long long)offset);
    value("bytes", (long long)size);
    ASK("param 2", cudaFuncGetParamInfo, (const void *, size_t, size_t *, size_t *), &adds, 2, &offset,
        &size);
    int blocks = 9;
#define OCCUPANCY (int *, const void *, int, size_t)
    ASK("occupancy 0", cudaOccupancyMaxActiveBlocksPerMultiprocessor, OCCUPANCY, &blocks, &nothing, 0, 0);
    ASK("occupancy 1025", cudaOccupancyMaxActiveBlocksPerMultiprocessor, OCCUPANCY, &blocks, &nothing, 1025,
        0);
    value("blocks", blocks);
}

/* A kernel that was registered but is not in the code. */
static void missing(void)
{
    register_code(0);
    LAUNCH("one that is there", &nothing, D(1, 1, 1), D(1, 1, 1), 0, NULL);
    LAUNCH("one that is not", &absent, D(1, 1, 1), D(1, 1, 1), 0, NULL);
    last("one that is not");
    void *at = NULL;
    ASK("address", cudaGetSymbolAddress, (void **, const void *), &at, &factor);
}

static void names(void)
{
    for (int code = 0; code <= 1002; code++)
        if (strcmp(name_of(code), "unrecognized error code"))
            printf("%s.%d: %s | %s\n", group, code, name_of(code), text_of(code));
}

/* The same call for each value of an argument. */
#define SWEEP(label, from, to, ...)                                                                                \
    for (int i = from; i <= to; i++) {                                                                             \
        char text[96];                                                                                             \
        snprintf(text, sizeof text, "%s %d", label, i);                                                            \
        ASK(text, __VA_ARGS__);                                                                                    \
    }

static void attributes(void)
{
    int number = 9;
    SWEEP("attribute", 0, 150, cudaDeviceGetAttribute, (int *, int, int), &number, i, 0)
    SWEEP("between a device and itself", 0, 6, cudaDeviceGetP2PAttribute, (int *, int, int, int), &number, i,
        0, 0)
    SWEEP("can access", 0, 1, cudaDeviceCanAccessPeer, (int *, int, int), &number, 0, i)
    SWEEP("enable access", 0, 1, cudaDeviceEnablePeerAccess, (int, unsigned), i, 0)
    SWEEP("disable access", 0, 1, cudaDeviceDisablePeerAccess, (int), i)
}

static void settings(void)
{
    size_t limit = 0;
    int number = 9;
    SWEEP("limit", 0, 9, cudaDeviceGetLimit, (size_t *, int), &limit, i)
    SWEEP("set limit", 0, 9, cudaDeviceSetLimit, (int, size_t), i, 1 << 16)
    SWEEP("set limit to 0", 0, 9, cudaDeviceSetLimit, (int, size_t), i, 0)
    SWEEP("cache", -1, 5, cudaDeviceSetCacheConfig, (int), i)
    SWEEP("bank size", -1, 4, cudaDeviceSetSharedMemConfig, (int), i)
    ASK("cache", cudaDeviceGetCacheConfig, (int *), &number);
    ASK("bank size", cudaDeviceGetSharedMemConfig, (int *), &number);
    SWEEP("device flags", 0, 40, cudaSetDeviceFlags, (unsigned), (unsigned)i)
    ASK("choose null", cudaChooseDevice, (int *, const void *), NULL, NULL);
    SWEEP("set device", 0, 1, cudaSetDevice, (int), i)
    SWEEP("initialise", 0, 40, cudaInitDevice, (int, unsigned, unsigned), 0, (unsigned)i, 1)
    SWEEP("initialise device", -1, 1, cudaInitDevice, (int, unsigned, unsigned), i, 0, 0)
}

static void flags(void)
{
    void *made = NULL;
    unsigned word = 9;
    SWEEP("event", 0, 16, cudaEventCreateWithFlags, (void **, unsigned), &made, (unsigned)i)
    SWEEP("stream", 0, 4, cudaStreamCreateWithFlags, (void **, unsigned), &made, (unsigned)i)
    SWEEP("priority", -7, 2, cudaStreamCreateWithPriority, (void **, unsigned, int), &made, 1, i)
    SWEEP("host memory", 0, 16, cudaHostAlloc, (void **, size_t, unsigned), &made, 64, (unsigned)i)
    ASK("of host memory", cudaHostGetFlags, (unsigned *, void *), &word, made);
    ASK("of no memory", cudaHostGetFlags, (unsigned *, void *), &word, &word);
    SWEEP("managed", 0, 5, cudaMallocManaged, (void **, size_t, unsigned), &made, 64, (unsigned)i)
    SWEEP("graph", 0, 2, cudaGraphCreate, (void **, unsigned), &made, (unsigned)i)
    void *graph = NULL, *runs = NULL;
    ASK("graph", cudaGraphCreate, (void **, unsigned), &graph, 0);
    SWEEP("instantiate", 0, 16, cudaGraphInstantiate, (void **, void *, u64), &runs, graph, (u64)i)
    ASK("launch", cudaGraphLaunch, (void *, void *), runs, NULL);
    SWEEP("capture of the legacy stream", -1, 3, cudaStreamBeginCapture, (void *, int), NULL, i)
    SWEEP("capture of the thread's stream", -1, 3, cudaStreamBeginCapture, (void *, int), (void *)2, i)
    ASK("end", cudaStreamEndCapture, (void *, void **), (void *)2, &graph);
    ASK("end again", cudaStreamEndCapture, (void *, void **), (void *)2, &graph);
    SWEEP("attach", 0, 6, cudaStreamAttachMemAsync, (void *, void *, size_t, unsigned), NULL, made, 0,
        (unsigned)i)
}

static void arrays(void)
{
    void *array = NULL;
    for (int kind = 0; kind <= 4; kind++)
        for (int bits = 8; bits <= 64; bits *= 2)
            for (int count = 1; count <= 4; count++) {
                channels c = {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
                char text[96];
                snprintf(text, sizeof text, "kind %d, %d times %d bits", kind, count, bits);
                ASK(text, cudaMallocArray, (void **, const channels *, size_t, size_t, unsigned), &array, &c,
                    16, 16, 0);
            }
    channels one = {32, 0, 0, 0, 2};
    SWEEP("flags", 0, 130, cudaMallocArray, (void **, const channels *, size_t, size_t, unsigned), &array,
        &one, 16, 16, (unsigned)i)
    SWEEP("width", 0, 1, cudaMallocArray, (void **, const channels *, size_t, size_t, unsigned), &array, &one,
        (size_t)i, 0, 0)
    SWEEP("3D flags", 0, 15, cudaMalloc3DArray, (void **, const channels *, extent, unsigned), &array, &one,
        ((extent){6, 6, 6}), (unsigned)i)
    ASK("free", cudaFreeArray, (void *), array);
    ASK("free null", cudaFreeArray, (void *), NULL);
}

static void advice(void)
{
    void *managed = NULL;
    typedef struct { int type, id; } location;
    ASK("managed", cudaMallocManaged, (void **, size_t, unsigned), &managed, 1 << 16, 1);
    SWEEP("advice", 0, 8, cudaMemAdvise, (const void *, size_t, int, location), managed, 1 << 16, i,
        ((location){1, 0}))
    SWEEP("location", 0, 6, cudaMemAdvise, (const void *, size_t, int, location), managed, 1 << 16, 3,
        ((location){i, 0}))
    SWEEP("prefetch to", 0, 6, cudaMemPrefetchAsync, (const void *, size_t, location, unsigned, void *),
        managed, 1 << 16, ((location){i, 0}), 0, NULL)
    SWEEP("prefetch flags", 0, 2, cudaMemPrefetchAsync, (const void *, size_t, location, unsigned, void *),
        managed, 1 << 16, ((location){1, 0}), (unsigned)i, NULL)
    int number = 9;
    SWEEP("range attribute", 0, 9, cudaMemRangeGetAttribute, (void *, size_t, int, const void *, size_t),
        &number, 4, i, managed, 1 << 16)
    SWEEP("range attribute of 8 bytes", 0, 9, cudaMemRangeGetAttribute, (void *, size_t, int, const void *,
        size_t), &managed, 8, i, managed, 1 << 16)
}

static const struct { const char *name; void (*run)(void); } GROUPS[] = {
    {"errors", errors}, {"threads", threads}, {"launches", launches}, {"symbols", symbols}, {"copies",
        copies},
    {"allocations", allocations}, {"pointers", pointers}, {"streams", streams}, {"devices", devices},
    {"functions", functions}, {"missing", missing}, {"names", names}, {"attributes", attributes},
    {"settings", settings}, {"flags", flags}, {"arrays", arrays}, {"advice", advice}, {"illegal", illegal},
        {"trapped", trapped},
};

int main(int count, char **words)
{
    if (count < 2) {
        fprintf(stderr, "usage: %s LIBCUDART [GROUP]\n", words[0]);
        return 2;
    }
    for (unsigned i = 0; i < sizeof GROUPS / sizeof GROUPS[0]; i++) {
        if (count > 2 && strcmp(words[2], GROUPS[i].name))
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            group = GROUPS[i].name;
            library = dlopen(words[1], RTLD_NOW);
            if (!library) {
                fprintf(stderr, "%s\n", dlerror());
                _exit(1);
            }
            name_of = find("cudaGetErrorName");
            text_of = find("cudaGetErrorString");
            GROUPS[i].run();
            fflush(stdout);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            printf("%s: signal %d\n", GROUPS[i].name, WTERMSIG(status));
    }
    return 0;
}
#endif
