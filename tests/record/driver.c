/* Shared by the recorders; documented in driver.h. */
#define _GNU_SOURCE
#include "driver.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void die(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s: ", program_invocation_short_name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

static void *library;

void open_library(const char *path)
{
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        die("%s", dlerror());
}

void *find(const char *name)
{
    return dlsym(library, name);
}

void *symbol(const char *name)
{
    void *s = find(name);
    if (!s)
        die("the library has no %s", name);
    return s;
}

void must(const char *what, CUresult status)
{
    if (status)
        die("%s: %d", what, (int)status);
}

void begin_device(void)
{
    CUcontext context;
    MUST(cuInit, 0);
    MUST(cuDevicePrimaryCtxRetain, &context, 0);
    MUST(cuCtxSetCurrent, context);
}

CUresult load_ptx(CUmodule *module, const char *text)
{
    static char log[65536];
    const char *level = getenv("RECORD_LEVEL");
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)sizeof log, (void *)(uintptr_t)(level ? atoi(level) : 0)};
    log[0] = 0;
    CUresult status = FN(cuModuleLoadDataEx, module, text, level ? 3 : 2, options, values);
    if (status)
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, log);
    return status;
}

CUresult launch(CUfunction function, unsigned blocks, unsigned threads, void **args)
{
    return FN(cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, 0, NULL, args, NULL);
}

void run_kernel(CUmodule module, const char *name, unsigned blocks, unsigned threads, void **args)
{
    CUfunction function;
    CUresult status = FN(cuModuleGetFunction, &function, module, name);
    if (!status)
        status = launch(function, blocks, threads, args);
    if (!status)
        status = FN(cuCtxSynchronize);
    must(name, status);
}

char *entry_name(const char *prefix, const char *name)
{
    char *entry;
    if (asprintf(&entry, "%s%s", prefix, name) < 0)
        die("no memory");
    for (char *c = entry; *c; c++)
        if (*c == '.')
            *c = '_';
    return entry;
}

char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        die("cannot read %s", path);
    *size = (size_t)ftell(f);
    char *bytes = calloc(1, *size + 1);
    rewind(f);
    if (!bytes || fread(bytes, 1, *size, f) != *size)
        die("cannot read %s", path);
    fclose(f);
    return bytes;
}

int next_row(char **rest, const char *path, char **columns, int count)
{
    char *line;
    do
        line = strsep(rest, "\n");
    while (line && (!*line || *line == '#'));
    if (!line)
        return 0;
    const char *row = line;
    for (int i = 0; i < count; i++)
        if (!(columns[i] = strsep(&line, "\t")))
            die("%s: the row of %s has fewer than %d columns", path, row, count);
    if (line)
        die("%s: the row of %s has more than %d columns", path, row, count);
    return 1;
}

void *shared_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("no memory");
    return memory;
}

int wanted(const char *name)
{
    static unsigned long long number, of;
    const char *turn = getenv("RECORD_TURN");
    if (!of && (!turn || sscanf(turn, "%llu/%llu", &number, &of) != 2 || !of))
        number = 0, of = 1;
    /* The upper half of FNV-1a. */
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return (hash >> 32) % of == number;
}
