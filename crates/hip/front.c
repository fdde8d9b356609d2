/* A front: the library NAME, whose soname begins with the number SONAME behind its dot. Every name jumps
 * through the table TABLE, which is filled when the front is loaded, from the libcuda.so.1 in the same folder
 * (table.rs in crates/hip/src and crates/cudart/src). Names and versions come from those crates' data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define JUMP(index, name)                                                                                                       \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n"                                     \
            "endbr64\njmp *(anywarp_functions + 8 * " #index ")(%rip)\n.size " #name ", . - " #name "\n");
#include "jumps.h"

struct table {
    uint64_t fingerprint, count;
    const void *const *functions;
};

const void *anywarp_functions[COUNT] __attribute__((visibility("hidden")));

/* What every name does when there is no library behind it. */
static int no_library(void) { return FAILURE; }

static const struct table *open_library(void)
{
    static char path[4096];
    Dl_info self;
    if (!dladdr((const void *)open_library, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname + 1) : 0;
    snprintf(path, sizeof path, "%.*slibcuda.so.1", folder, self.dli_fname);
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "anywarp: " NAME ": %s; it must lie beside libcuda.so.1 of the same build\n", dlerror());
        return NULL;
    }
    int (*get)(const void **, const void *) = (int (*)(const void **, const void *))dlsym(library, "cuGetExportTable");
    static char name[16] = TABLE;
    name[15] = SONAME;
    const struct table *table = NULL;
    if (!get || get((const void **)&table, name) || !table || table->fingerprint != FINGERPRINT || table->count != COUNT) {
        fprintf(stderr, "anywarp: " NAME ": %s is of another build\n", path);
        return NULL;
    }
    return table;
}

__attribute__((constructor)) static void fill(void)
{
    const struct table *table = open_library();
    for (unsigned i = 0; i < COUNT; i++)
        anywarp_functions[i] = table ? table->functions[i] : (const void *)no_library;
}
