/* functions record LIBRARY FOLDER DEVICE DATE: runs each function of FOLDER/functions.tsv on every
 * operand, on a CUDA driver library, and writes the recording to standard output.
 *
 * functions check LIBRARY FOLDER RECORDING [NAME...]: the same, but reports the results that differ from
 * the recording.
 *
 * functions values LIBRARY FOLDER NAME FIRST COUNT: writes the results, from operand FIRST on. README.md
 * describes the formats. */
#define _GNU_SOURCE
#include "driver.h"
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

static char *in_folder(const char *folder, const char *file)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, file) < 0)
        die("no memory");
    return path;
}

static void read_functions(const char *folder)
{
    char *columns[3], *path = in_folder(folder, "functions.tsv");
    size_t size;
    for (char *rest = read_file(path, &size); next_row(&rest, path, columns, 3);) {
        if (function_count == MAX_FUNCTIONS)
            die("%s: more than %d functions", path, MAX_FUNCTIONS);
        functions[function_count++] = (struct function){.name = columns[0], .bits = atoi(columns[1]), .body = columns[2]};
    }
}

/* The template with names and bodies inserted. */
static char *kernels(const char *folder)
{
    char *text;
    size_t size;
    const char *template = read_file(in_folder(folder, "functions.ptx"), &size);
    FILE *o = open_memstream(&text, &size);
    fprintf(o, ".version 8.6\n.target sm_90\n.address_size 64\n");
    for (int i = 0; i < function_count; i++)
        for (const char *c = template; *c;) {
            if (!strncmp(c, "{name}", 6))
                fputs(entry_name("", functions[i].name), o), c += 6;
            else if (!strncmp(c, "{body}", 6))
                fputs(functions[i].body, o), c += 6;
            else
                fputc(*c++, o);
        }
    fclose(o);
    return text;
}

/* Runs a kernel that fills `size` bytes. */
static void *run(CUmodule module, const char *kind, const char *function, uint32_t first, unsigned blocks, size_t size)
{
    CUdeviceptr out;
    uint32_t step = 1;
    void *args[] = {&out, &first, &step}, *host = malloc(size);
    MUST(cuMemAlloc, &out, size);
    MUST(cuMemsetD8, out, 0, size);
    run_kernel(module, entry_name(kind, function), blocks, BLOCK, args);
    MUST(cuMemcpyDtoH, host, out, size);
    MUST(cuMemFree, out);
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
        die("%s is no recording", path);
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
    CUmodule module;
    open_library(argv[2]);
    begin_device();
    if (load_ptx(&module, kernels(argv[3])))
        die("the functions do not load");
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
