/* functions record LIBRARY FOLDER DEVICE DATE: runs each function of FOLDER/functions.tsv on every operand, on a CUDA driver library, and writes
 * the recording to standard output.
 * functions check LIBRARY FOLDER RECORDING [NAME...]: the same, and says which results are not the recording's.
 * functions values LIBRARY FOLDER NAME FIRST COUNT: writes results themselves, from operand FIRST on. Formats: README.md. */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FUNCTIONS = 256, BLOCK = 256, TILE_SHIFT = 16, SHIFT = 20 };

struct function {
    char *name, *body;
    int bits;
};

static struct function functions[MAX_FUNCTIONS];
static int function_count;

static void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        die("functions: cannot read %s", path);
    *size = (size_t)ftell(f);
    char *text = calloc(1, *size + 1);
    rewind(f);
    if (!text || fread(text, 1, *size, f) != *size)
        die("functions: cannot read %s", path);
    fclose(f);
    return text;
}

static char *in_folder(const char *folder, const char *file)
{
    char *path;
    size_t size;
    if (asprintf(&path, "%s/%s", folder, file) < 0)
        die("functions: no memory");
    return read_file(path, &size);
}

static void read_functions(const char *folder)
{
    char *text = in_folder(folder, "functions.tsv");
    for (char *line; (line = strsep(&text, "\n"));) {
        if (!*line || *line == '#')
            continue;
        struct function *f = &functions[function_count++];
        f->name = strsep(&line, "\t");
        f->bits = atoi(line ? strsep(&line, "\t") : "");
        f->body = line;
        if (!f->body || function_count == MAX_FUNCTIONS)
            die("functions: functions.tsv: a line has fewer than three columns, or there are too many");
    }
}

static char *kernel_name(const char *kind, const char *function)
{
    char *name;
    if (asprintf(&name, "%s%s", kind, function) < 0)
        die("functions: no memory");
    for (char *c = name; *c; c++)
        if (*c == '.')
            *c = '_';
    return name;
}

/* The template with names and bodies put in. */
static char *kernels(const char *folder)
{
    const char *template = in_folder(folder, "functions.ptx");
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version 8.6\n.target sm_90\n.address_size 64\n");
    for (int i = 0; i < function_count; i++)
        for (const char *c = template; *c;) {
            if (!strncmp(c, "{name}", 6))
                fputs(kernel_name("", functions[i].name), o), c += 6;
            else if (!strncmp(c, "{body}", 6))
                fputs(functions[i].body, o), c += 6;
            else
                fputc(*c++, o);
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

/* Runs a kernel that fills `size` bytes. */
static void *run(CUmodule module, const char *kind, const char *function, uint32_t first, unsigned blocks, size_t size)
{
    CUfunction kernel;
    CUdeviceptr out;
    uint32_t step = 1;
    void *args[] = {&out, &first, &step}, *host = malloc(size);
    CALL("cuModuleGetFunction", (CUfunction *, CUmodule, const char *), &kernel, module, kernel_name(kind, function));
    CALL("cuMemAlloc_v2", (CUdeviceptr *, size_t), &out, size);
    CALL("cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t), out, 0, size);
    CALL("cuLaunchKernel", (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **),
         kernel, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL);
    CALL("cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t), host, out, size);
    CALL("cuMemFree_v2", (CUdeviceptr), out);
    return host;
}

static size_t sum_count(const struct function *f)
{
    return f->bits > SHIFT ? (size_t)1 << (f->bits - SHIFT) : 1;
}

static uint64_t *sums(CUmodule module, const struct function *f)
{
    return run(module, "sums_", f->name, 0, 1u << (f->bits - TILE_SHIFT), sum_count(f) * 8);
}

static int check(CUmodule module, const char *path, int count, char **names)
{
    size_t size;
    char *recording = read_file(path, &size), *end = memmem(recording, size, "\nend\n", 5);
    int wrong = 0;
    if (!end)
        die("functions: %s is no recording", path);
    const uint64_t *expected = (const uint64_t *)(end + 5);
    for (int i = 0; i < function_count; i++) {
        const struct function *f = &functions[i];
        size_t bad = 0, first = 0, sums_of = sum_count(f);
        int wanted = !count;
        for (int k = 0; k < count; k++)
            wanted |= !strcmp(names[k], f->name);
        if (wanted) {
            uint64_t *got = sums(module, f), sum;
            for (size_t n = sums_of; n--;)
                if (memcpy(&sum, expected + n, 8), sum != got[n])
                    bad++, first = n;
            printf("%-22s ", f->name);
            if (bad)
                printf("%zu of %zu sums differ, the first from operand 0x%08zx on\n", bad, sums_of, first << SHIFT);
            else
                printf("as recorded\n");
            fflush(stdout);
            free(got);
            wrong |= bad != 0;
        }
        expected += sums_of;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 3 ? argv[1] : "";
    int record = !strcmp(verb, "record") && argc == 6, values = !strcmp(verb, "values") && argc == 7;
    if (!record && !values && !(!strcmp(verb, "check") && argc > 4))
        die("usage: functions record LIBRARY FOLDER DEVICE DATE, functions check LIBRARY FOLDER RECORDING [NAME...], or functions values "
            "LIBRARY FOLDER NAME FIRST COUNT");
    read_functions(argv[3]);
    if (!(library = dlopen(argv[2], RTLD_NOW)))
        die("functions: %s", dlerror());
    CUcontext context;
    CUmodule module;
    CALL("cuInit", (unsigned), 0);
    CALL("cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice), &context, 0);
    CALL("cuCtxSetCurrent", (CUcontext), context);
    CALL("cuModuleLoadData", (CUmodule *, const void *), &module, kernels(argv[3]));
    if (values) {
        uint32_t first = (uint32_t)strtoul(argv[5], NULL, 0), count = (uint32_t)strtoul(argv[6], NULL, 0);
        uint32_t blocks = (count + BLOCK - 1) / BLOCK;
        return fwrite(run(module, "values_", argv[4], first, blocks, (size_t)blocks * BLOCK * 4), 4, count, stdout) != count;
    }
    if (!record)
        return check(module, argv[4], argc - 5, argv + 5);
    printf("anywarp-functions 1\n%s\n%s\n", argv[4], argv[5]);
    for (int i = 0; i < function_count; i++)
        printf("%s %zu\n", functions[i].name, sum_count(&functions[i]));
    printf("end\n");
    for (int i = 0; i < function_count; i++)
        fwrite(sums(module, &functions[i]), 8, sum_count(&functions[i]), stdout);
    return 0;
}
