/* functions sums LIBRARY OUT [SHIFT]: runs each function of one 32-bit operand on every operand, on a CUDA driver library, and writes to
 * OUT/NAME.sums a sum of its results for each 2^SHIFT operands (20 where it is not given).
 * functions values LIBRARY OUT NAME FIRST COUNT: writes the results themselves, from operand FIRST on, to OUT/NAME.FIRST.values.
 * functions ptx: prints the kernels. Formats: README.md. */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256, TILE_SHIFT = 16, TILE = 1 << TILE_SHIFT };

/* A body computes %d from %x, both .b32; %y and %z are scratch, %q and %r 64-bit scratch, %h<2> 16-bit scratch. */
struct function {
    const char *name;
    int bits; /* how many bits of the operand count */
    const char *body;
};

#define F32(name) {name, 32, name " %d, %x;"}
#define F64(name) {name, 32, "mov.b32 %y, 0; mov.b64 %q, {%y, %x}; " name " %r, %q; mov.b64 {%y, %d}, %r;"}
#define F16(name) {name, 16, "cvt.u16.u32 %h0, %x; " name " %h1, %h0; cvt.u32.u16 %d, %h1;"}
/* Of two operands: the other one is a multiple of the first's bits. */
#define F32_2(name) {name, 32, "mad.lo.u32 %y, %x, 0x9e3779b1, 0x7f4a7c15; " name " %d, %x, %y;"}

static const struct function functions[] = {
    F32("rcp.approx.f32"), F32("rcp.approx.ftz.f32"), F32("sqrt.approx.f32"), F32("sqrt.approx.ftz.f32"),
    F32("rsqrt.approx.f32"), F32("rsqrt.approx.ftz.f32"), F32("sin.approx.f32"), F32("sin.approx.ftz.f32"),
    F32("cos.approx.f32"), F32("cos.approx.ftz.f32"), F32("lg2.approx.f32"), F32("lg2.approx.ftz.f32"),
    F32("ex2.approx.f32"), F32("ex2.approx.ftz.f32"), F32("tanh.approx.f32"),
    F32_2("div.approx.f32"), F32_2("div.approx.ftz.f32"), F32_2("div.full.f32"), F32_2("div.full.ftz.f32"),
    F64("rcp.approx.ftz.f64"), F64("rsqrt.approx.ftz.f64"),
    F16("ex2.approx.f16"), F16("ex2.approx.ftz.bf16"), F16("tanh.approx.f16"), F16("tanh.approx.bf16"),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static char *kernel_name(const char *kind, const char *function)
{
    char *name;
    if (asprintf(&name, "%s_%s", kind, function) < 0)
        die("functions: no memory");
    for (char *c = name; *c; c++)
        if (*c == '.')
            *c = '_';
    return name;
}

/* Each block takes 2^16 operands and adds its sum to the one of its 2^SHIFT. */
static const char sums_kernel[] =
    ".visible .entry %s(.param .u64 out, .param .u32 shift)\n{\n"
    "    .reg .b16 %%h<2>; .reg .b32 %%x, %%y, %%z, %%d, %%h, %%b, %%t, %%k; .reg .b64 %%q, %%r, %%s, %%w, %%o; .reg .pred %%p;\n"
    "    mov.u32 %%b, %%ctaid.x; mov.u32 %%t, %%tid.x; mov.u64 %%s, 0; mov.u32 %%k, 0;\n"
    "again:\n"
    "    mad.lo.u32 %%x, %%b, 256, %%k; mad.lo.u32 %%x, %%x, 256, %%t;\n"
    "    %s\n"
    "    mul.lo.u32 %%h, %%x, 0x9e3779b1; xor.b32 %%h, %%h, %%d;\n"
    "    shr.u32 %%y, %%h, 16; xor.b32 %%h, %%h, %%y; mul.lo.u32 %%h, %%h, 0x85ebca6b;\n"
    "    shr.u32 %%y, %%h, 13; xor.b32 %%h, %%h, %%y; mul.lo.u32 %%h, %%h, 0xc2b2ae35;\n"
    "    shr.u32 %%y, %%h, 16; xor.b32 %%h, %%h, %%y; cvt.u64.u32 %%w, %%h; add.u64 %%s, %%s, %%w;\n"
    "    add.u32 %%k, %%k, 1; setp.lt.u32 %%p, %%k, 256; @%%p bra again;\n"
    "    ld.param.u32 %%k, [shift]; shr.u32 %%b, %%b, %%k;\n"
    "    ld.param.u64 %%o, [out]; mad.wide.u32 %%o, %%b, 8, %%o; red.global.add.u64 [%%o], %%s;\n"
    "    ret;\n}\n";

static const char values_kernel[] =
    ".visible .entry %s(.param .u64 out, .param .u32 first)\n{\n"
    "    .reg .b16 %%h<2>; .reg .b32 %%x, %%y, %%z, %%d, %%b, %%t, %%k; .reg .b64 %%q, %%r, %%o;\n"
    "    mov.u32 %%b, %%ctaid.x; mov.u32 %%t, %%tid.x; mad.lo.u32 %%t, %%b, 256, %%t; ld.param.u32 %%k, [first]; add.u32 %%x, %%k, %%t;\n"
    "    %s\n"
    "    ld.param.u64 %%o, [out]; mad.wide.u32 %%o, %%t, 4, %%o; st.global.u32 [%%o], %%d;\n"
    "    ret;\n}\n";

static char *kernels(void)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version 8.6\n.target sm_90\n.address_size 64\n");
    for (int i = 0; i < FUNCTIONS; i++) {
        fprintf(o, sums_kernel, kernel_name("sums", functions[i].name), functions[i].body);
        fprintf(o, values_kernel, kernel_name("values", functions[i].name), functions[i].body);
    }
    fclose(o);
    return text;
}

static void *library;
#define CALL(fn, type, ...) \
    do { \
        CUresult(*f_) type = (CUresult(*) type)dlsym(library, fn); \
        CUresult r_ = f_ ? f_(__VA_ARGS__) : (CUresult)-1; \
        if (r_) \
            die("functions: %s: %d", fn, (int)r_); \
    } while (0)

/* Runs a kernel that fills `size` bytes and appends them to a new file. */
static void run(CUmodule module, const char *kind, const char *function, uint32_t argument, unsigned blocks, size_t size, const char *path)
{
    CUfunction kernel;
    CUdeviceptr out;
    void *args[] = {&out, &argument};
    CALL("cuModuleGetFunction", (CUfunction *, CUmodule, const char *), &kernel, module, kernel_name(kind, function));
    CALL("cuMemAlloc_v2", (CUdeviceptr *, size_t), &out, size);
    CALL("cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t), out, 0, size);
    CALL("cuLaunchKernel", (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **),
         kernel, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL);
    void *host = malloc(size);
    CALL("cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t), host, out, size);
    CALL("cuMemFree_v2", (CUdeviceptr), out);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(host, 1, size, f) != size || fclose(f))
        die("functions: cannot write %s", path);
    free(host);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "ptx"))
        return fputs(kernels(), stdout) < 0;
    int sums = argc > 1 && !strcmp(argv[1], "sums"), values = argc == 7 && !strcmp(argv[1], "values");
    if (!(sums && argc >= 4) && !values)
        die("usage: functions sums LIBRARY OUT [SHIFT [NAME...]], functions values LIBRARY OUT NAME FIRST COUNT, or functions ptx");
    if (!(library = dlopen(argv[2], RTLD_NOW)))
        die("functions: %s", dlerror());
    CUcontext context;
    CUmodule module;
    CALL("cuInit", (unsigned), 0);
    CALL("cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice), &context, 0);
    CALL("cuCtxSetCurrent", (CUcontext), context);
    CALL("cuModuleLoadData", (CUmodule *, const void *), &module, kernels());
    char path[4096];
    if (values) {
        uint32_t first = (uint32_t)strtoul(argv[5], NULL, 0), count = (uint32_t)strtoul(argv[6], NULL, 0);
        snprintf(path, sizeof path, "%s/%s.%08x.values", argv[3], argv[4], first);
        run(module, "values", argv[4], first, (count + BLOCK - 1) / BLOCK, (size_t)count * 4, path);
        return 0;
    }
    int shift = argc > 4 ? atoi(argv[4]) : 20;
    if (shift < TILE_SHIFT || shift > 32)
        die("functions: SHIFT is %d, but has to be 16 to 32", shift);
    for (int i = 0; i < FUNCTIONS; i++) {
        int wanted = argc <= 5;
        for (int k = 5; k < argc; k++)
            wanted |= !strcmp(argv[k], functions[i].name);
        if (!wanted)
            continue;
        size_t count = functions[i].bits > shift ? (size_t)1 << (functions[i].bits - shift) : 1;
        snprintf(path, sizeof path, "%s/%s.sums", argv[3], functions[i].name);
        run(module, "sums", functions[i].name, (uint32_t)(shift - TILE_SHIFT), 1u << (functions[i].bits - TILE_SHIFT), count * 8, path);
    }
    return 0;
}
