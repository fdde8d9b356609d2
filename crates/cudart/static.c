/* What `anywarp run` preloads for programs that have NVIDIA's static runtime in them, as nvcc links them by
 * default. Before any constructor runs, the entries of the runtime's functions, which the symbol table of the
 * executable or of a shared library names, become jumps to the functions of the libcuda.so.1 in this library's
 * folder (crates/cudart/src/table.rs). NAMES and FINGERPRINT come from the build script. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names.h"

struct table {
    uint64_t fingerprint, count;
    const void *const *functions;
};

/* A file mapped for reading. */
struct file {
    const unsigned char *bytes;
    size_t size;
};

/* A function of a static runtime: its index among NAMES, and its address before relocation. */
struct found {
    unsigned index;
    uint64_t at;
};

struct image {
    struct found functions[2 * COUNT];
    unsigned count;
    /* Whether a name is a local symbol, as those of NVIDIA's static runtime are. */
    char own[COUNT];
};

/* jmp *0(%rip), followed by the target. */
static const unsigned char JUMP[6] = {0xff, 0x25, 0, 0, 0, 0};
enum { JUMP_SIZE = sizeof JUMP + sizeof(uint64_t) };

static void say(const char *path, const char *what)
{
    fprintf(stderr, "anywarp: %s: %s\n", path, what);
}

static int compare(const void *name, const void *entry)
{
    return strcmp(name, *(const char *const *)entry);
}

/* The index of a name, or -1. */
static int index_of(const char *name)
{
    const char *const *at = bsearch(name, NAMES, COUNT, sizeof NAMES[0], compare);
    return at ? (int)(at - NAMES) : -1;
}

static struct file map(const char *path)
{
    struct file file = {NULL, 0};
    struct stat known;
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0)
        return file;
    if (fstat(handle, &known) == 0 && S_ISREG(known.st_mode) && known.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        void *bytes = mmap(NULL, (size_t)known.st_size, PROT_READ, MAP_PRIVATE, handle, 0);
        if (bytes != MAP_FAILED) {
            file.bytes = bytes;
            file.size = (size_t)known.st_size;
        }
    }
    close(handle);
    return file;
}

/* `size` bytes at an offset of the file, or NULL. */
static const void *part(struct file file, uint64_t offset, uint64_t size)
{
    return offset <= file.size && size <= file.size - offset ? file.bytes + offset : NULL;
}

/* The functions with names of the runtime in a file's symbol table. */
static void read_symbols(struct file file, struct image *image)
{
    image->count = 0;
    memset(image->own, 0, sizeof image->own);
    const Elf64_Ehdr *header = part(file, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_machine != EM_X86_64 || header->e_shentsize != sizeof(Elf64_Shdr))
        return;
    const Elf64_Shdr *sections = part(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));
    for (unsigned i = 0; sections && i < header->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];
        if (section->sh_type != SHT_SYMTAB || section->sh_link >= header->e_shnum)
            continue;
        const Elf64_Shdr *strings = &sections[section->sh_link];
        const char *texts = part(file, strings->sh_offset, strings->sh_size);
        const Elf64_Sym *symbols = part(file, section->sh_offset, section->sh_size);
        if (!texts || !symbols || !strings->sh_size || texts[strings->sh_size - 1])
            continue;
        for (uint64_t s = 0; s < section->sh_size / sizeof *symbols; s++) {
            const Elf64_Sym *symbol = &symbols[s];
            if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
                symbol->st_name >= strings->sh_size)
                continue;
            const char *name = texts + symbol->st_name;
            if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6))
                continue;
            /* A function begins at a multiple of 16, and nothing else lies before the next one. */
            uint64_t size = symbol->st_value % 16 ? symbol->st_size : (symbol->st_size + 15) & ~15ull;
            int index = index_of(name);
            if (index < 0 || size < JUMP_SIZE || image->count == 2 * COUNT)
                continue;
            image->functions[image->count++] = (struct found){(unsigned)index, symbol->st_value};
            if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || ELF64_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN)
                image->own[index] = 1;
        }
        /* An object has one such table; a broken file may name a large one thousands of times. */
        return;
    }
}

static int owns(const struct image *image, const char *name)
{
    int index = index_of(name);
    return index >= 0 && image->own[index];
}

/* The version of the runtime in an image, by functions that came or went; 0 if it is not a runtime. */
static int version(const struct image *image)
{
    if (!owns(image, "__cudaRegisterFatBinary") || !owns(image, "cudaGetExportTable") || !owns(image, "cudaMalloc"))
        return 0;
    if (owns(image, "cudaBindTexture"))
        return 11;
    return owns(image, "cudaThreadExit") ? 12 : 13;
}

static const struct table *table_of(int version)
{
    static char path[4096];
    Dl_info self;
    if (!dladdr((const void *)table_of, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*slibcuda.so.1", slash ? (int)(slash - self.dli_fname + 1) : 0, self.dli_fname);
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        say(path, dlerror());
        return NULL;
    }
    int (*get)(const void **, const void *) = (int (*)(const void **, const void *))dlsym(library, "cuGetExportTable");
    char name[16] = TABLE;
    name[15] = (char)version;
    const struct table *table = NULL;
    if (!get || get((const void **)&table, name) || !table || table->fingerprint != FINGERPRINT
        || table->count != COUNT) {
        say(path, "this library is of another build than " OWN);
        return NULL;
    }
    return table;
}

/* Makes the entry of a function a jump. Its pages are private, and stay as they were for other processes. */
static int patch(unsigned char *at, const void *to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)at & ~(page - 1), end = ((uintptr_t)at + JUMP_SIZE + page - 1) & ~(page - 1);
    if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE))
        return 0;
    memcpy(at, JUMP, sizeof JUMP);
    memcpy(at + sizeof JUMP, &to, sizeof to);
    return mprotect((void *)begin, end - begin, PROT_READ | PROT_EXEC) == 0;
}

/* Whether a place lies in an object's code: a broken symbol table may name any. */
static int holds(const struct dl_phdr_info *object, uint64_t at)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X && at >= part->p_vaddr &&
            part->p_filesz >= JUMP_SIZE && at - part->p_vaddr <= part->p_filesz - JUMP_SIZE)
            return 1;
    }
    return 0;
}

/* Replaces the static runtime of a loaded object, if it has one. Returns 0 if the system forbids it. */
static int serve(const struct dl_phdr_info *object)
{
    /* On the stack: opening libcuda.so.1 runs its start-up code, which comes here again. */
    struct image image;
    const char *path = object->dlpi_name && *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
    /* A name without a folder is that of code without a file (the kernel's vDSO). */
    struct file file = {NULL, 0};
    if (strchr(path, '/'))
        file = map(path);
    if (!file.bytes)
        return 1;
    read_symbols(file, &image);
    munmap((void *)file.bytes, file.size);
    int number = version(&image);
    const struct table *table = number ? table_of(number) : NULL;
    for (unsigned i = 0; table && i < image.count; i++) {
        const struct found *found = &image.functions[i];
        if (!holds(object, found->at)) {
            say(path, "its symbol table names functions of the static CUDA runtime outside of its code");
            continue;
        }
        unsigned char *at = (unsigned char *)(object->dlpi_addr + found->at);
        if (memcmp(at, JUMP, sizeof JUMP) && !patch(at, table->functions[found->index])) {
            say(path, "the system does not let the static CUDA runtime in it be replaced; link with -cudart shared");
            return 0;
        }
    }
    return 1;
}

/* How many objects had been loaded when those of the start were served. */
static unsigned long long served;

static int serve_each(struct dl_phdr_info *object, size_t size, void *data)
{
    (void)size, (void)data;
    served = object->dlpi_adds;
    return !serve(object);
}

__attribute__((constructor)) static void replace(void) { dl_iterate_phdr(serve_each, NULL); }

static int serve_with_code(struct dl_phdr_info *object, size_t size, void *code)
{
    (void)size;
    if (object->dlpi_adds == served)
        return 1;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && (uintptr_t)code - begin < part->p_memsz) {
            serve(object);
            return 1;
        }
    }
    return 0;
}

/* The start-up code of every object (crti.o) calls this function, if it exists, before the object's
 * constructors: the time to serve an object that a running program opens, and one that the program needs, whose
 * constructors may run before this library's. (A constructor that ran before all others, by -z initfirst, would
 * also run before the C library has the environment.) The name is that of profilers. */
__attribute__((visibility("default"))) void __gmon_start__(void)
{
    dl_iterate_phdr(serve_with_code, __builtin_return_address(0));
}
