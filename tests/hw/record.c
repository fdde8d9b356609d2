/* record LIBRARY FORMS GROUP DEVICE DATE: runs each form of a group on a CUDA driver library and writes the recording to standard output.
 * record --ptx FORMS GROUP: writes the PTX of the group's kernels instead. Formats: README.md. */
#include "inputs.h"
#include <cuda.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_FORMS = 4096, OPERANDS = 4, RESULTS = 3, BLOCK = 128, SLOT = 32 };

struct form {
    char *group, *name, *body;
    int ins, outs;
    const struct hw_type *in[OPERANDS];
    int out[RESULTS]; /* bits */
};

static struct form forms[MAX_FORMS];
static int form_count;

static void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void read_forms(const char *path, const char *group)
{
    FILE *f = fopen(path, "r");
    static char line[16384];
    if (!f)
        die("record: cannot read %s", path);
    while (fgets(line, sizeof line, f)) {
        char *column[7], *rest = line;
        if (*line == '#')
            continue;
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < 7; i++)
            if (!(column[i] = strsep(&rest, "\t")))
                die("record: a line of %s has fewer than seven columns", path);
        if (strcmp(column[0], group))
            continue;
        struct form *o = &forms[form_count++];
        o->group = strdup(column[0]);
        o->name = strdup(column[1]);
        o->body = strdup(column[6]);
        for (char *t; (t = strsep(&column[4], ",")) && *t; o->ins++)
            if (!(o->in[o->ins] = hw_type(t)))
                die("record: %s: unknown type %s", o->name, t);
        for (char *t; (t = strsep(&column[5], ",")) && *t;)
            o->out[o->outs++] = atoi(t + 1);
    }
    fclose(f);
    if (!form_count)
        die("record: no forms of group %s", group);
}

/* The register size of an input. */
static int in_bits(const struct hw_type *t)
{
    unsigned bits = t->bits * t->packed;
    return bits <= 1 ? 32 : (int)bits;
}

static void kernel_name(char *name, const struct form *f)
{
    sprintf(name, "t_%s", f->name);
    for (char *c = name; *c; c++)
        if (*c == '.')
            *c = '_';
}

static void write_kernel(FILE *o, const struct form *f)
{
    static const char in_name[] = "abce", out_name[] = "dxy";
    char name[128];
    kernel_name(name, f);
    fprintf(o, ".visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 mem)\n{\n", name);
    fprintf(o, "    .reg .b16 %%h<8>; .reg .b32 %%t<16>; .reg .b64 %%q<16>; .reg .pred %%p<4>;\n");
    fprintf(o, "    .reg .b32 %%i, %%s, %%u<3>; .reg .b64 %%m, %%l, %%v<3>;\n");
    if (strstr(f->body, "%s"))
        fprintf(o, "    .shared .align 16 .b8 slots[%d];\n", BLOCK * SLOT);
    if (strstr(f->body, "%l]") || strstr(f->body, "%l+") || strstr(f->body, "%l;"))
        fprintf(o, "    .local .align 16 .b8 own[%d];\n", SLOT);
    for (int k = 0; k < f->ins; k++)
        fprintf(o, "    .reg .b%d %%%c;\n", in_bits(f->in[k]), in_name[k]);
    for (int k = 0; k < f->outs; k++)
        fprintf(o, "    .reg .b%d %%%c;\n", f->out[k], out_name[k]);
    fprintf(o, "    mov.u32 %%u0, %%ctaid.x; mov.u32 %%u1, %%ntid.x; mov.u32 %%u2, %%tid.x; mad.lo.u32 %%i, %%u0, %%u1, %%u2;\n");
    fprintf(o, "    ld.param.u64 %%v0, [in]; cvta.to.global.u64 %%v0, %%v0; mad.wide.u32 %%v0, %%i, 8, %%v0;\n");
    fprintf(o, "    ld.param.u64 %%m, [mem]; mad.wide.u32 %%m, %%i, %d, %%m;\n", SLOT);
    if (strstr(f->body, "%s"))
        fprintf(o, "    mov.u32 %%s, slots; mad.lo.u32 %%s, %%u2, %d, %%s;\n", SLOT);
    if (strstr(f->body, "%l]") || strstr(f->body, "%l+") || strstr(f->body, "%l;"))
        fprintf(o, "    mov.u64 %%l, own;\n");
    for (int k = 0; k < f->ins; k++)
        fprintf(o, "    ld.global.b%d %%%c, [%%v0+%d];\n", in_bits(f->in[k]), in_name[k], k * HW_N * 8);
    fprintf(o, "    %s\n", f->body);
    fprintf(o, "    ld.param.u64 %%v1, [out]; cvta.to.global.u64 %%v1, %%v1;\n");
    int offset = 0;
    for (int k = 0; k < f->outs; k++) {
        fprintf(o, "    mad.wide.u32 %%v2, %%i, %d, %%v1; st.global.b%d [%%v2+%d], %%%c;\n", f->out[k] / 8, f->out[k], offset, out_name[k]);
        offset += HW_N * f->out[k] / 8;
    }
    fprintf(o, "    ret;\n}\n");
}

static char *group_ptx(void)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version 8.6\n.target sm_90\n.address_size 64\n");
    for (int i = 0; i < form_count; i++)
        write_kernel(o, &forms[i]);
    fclose(o);
    return text;
}

static void *library;
#define CALL(fn, type, ...) \
    do { \
        CUresult(*f_) type = (CUresult(*) type)dlsym(library, fn); \
        CUresult r_ = f_ ? f_(__VA_ARGS__) : (CUresult)-1; \
        if (r_) \
            die("record: %s: %d", fn, (int)r_); \
    } while (0)

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "--ptx")) {
        read_forms(argv[2], argv[3]);
        fputs(group_ptx(), stdout);
        return 0;
    }
    if (argc != 6)
        die("usage: record LIBRARY FORMS GROUP DEVICE DATE, or record --ptx FORMS GROUP");
    read_forms(argv[2], argv[3]);
    if (!(library = dlopen(argv[1], RTLD_NOW)))
        die("record: %s", dlerror());
    CUcontext context;
    CUmodule module;
    CUdeviceptr in, out, mem;
    CALL("cuInit", (unsigned), 0);
    CALL("cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice), &context, 0);
    CALL("cuCtxSetCurrent", (CUcontext), context);
    static char log[65536];
    /* HW_LEVEL: the compiler's optimisation level, to see which answers depend on it. */
    const char *level = getenv("HW_LEVEL");
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)sizeof log, (void *)(uintptr_t)(level ? atoi(level) : 4)};
    CUresult (*load)(CUmodule *, const void *, unsigned, CUjit_option *, void **) =
        (CUresult(*)(CUmodule *, const void *, unsigned, CUjit_option *, void **))dlsym(library, "cuModuleLoadDataEx");
    if (!load || load(&module, group_ptx(), 3, options, values))
        die("record: the group %s does not load: %s", argv[3], log);
    CALL("cuMemAlloc_v2", (CUdeviceptr *, size_t), &in, OPERANDS * HW_N * 8);
    CALL("cuMemAlloc_v2", (CUdeviceptr *, size_t), &out, RESULTS * HW_N * 8);
    CALL("cuMemAlloc_v2", (CUdeviceptr *, size_t), &mem, HW_N * SLOT);
    printf("anywarp-hw 1\n%s\n%s\ninputs %d\n", argv[4], argv[5], HW_N);
    for (int i = 0; i < form_count; i++) {
        printf("%s", forms[i].name);
        for (int k = 0; k < forms[i].outs; k++)
            printf(" %d", forms[i].out[k]);
        putchar('\n');
    }
    printf("end\n");
    static uint64_t host_in[OPERANDS][HW_N], host_out[RESULTS * HW_N];
    for (int i = 0; i < form_count; i++) {
        const struct form *f = &forms[i];
        for (int k = 0; k < f->ins; k++)
            for (int n = 0; n < HW_N; n++)
                host_in[k][n] = hw_input(f->in[0], f->ins > 1 ? f->in[1] : NULL, f->in[k], (unsigned)k, (uint64_t)n);
        CUfunction function;
        char name[128];
        kernel_name(name, f);
        void *args[] = {&in, &out, &mem};
        size_t size = 0;
        for (int k = 0; k < f->outs; k++)
            size += (size_t)HW_N * (size_t)f->out[k] / 8;
        CALL("cuModuleGetFunction", (CUfunction *, CUmodule, const char *), &function, module, name);
        CALL("cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t), in, host_in, sizeof host_in);
        CALL("cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t), mem, 0, HW_N * SLOT);
        CALL("cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t), out, 0, size);
        CALL("cuLaunchKernel", (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **),
             function, HW_N / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL);
        CUresult (*sync)(void) = (CUresult(*)(void))dlsym(library, "cuCtxSynchronize");
        CUresult status = sync();
        if (status)
            die("record: %s: %d", f->name, (int)status);
        CALL("cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t), host_out, out, size);
        fwrite(host_out, 1, size, stdout);
    }
    return 0;
}
