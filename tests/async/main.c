/* record LIBRARY DEVICE DATE [GROUP,...]: runs each case on a CUDA driver library and writes the recording to standard output. README.md has the
 * formats. */
#include "record.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *library;

void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

void *symbol(const char *name)
{
    void *s = dlsym(library, name);
    if (!s)
        die("record: the library has no %s", name);
    return s;
}

void must(const char *what, CUresult status)
{
    if (status)
        die("record: %s: %d", what, (int)status);
}

void line(const char *name, CUresult status, const void *bytes, size_t size)
{
    printf("%s %d ", name, (int)status);
    for (size_t i = 0; i < size; i++)
        printf("%02x", ((const unsigned char *)bytes)[i]);
    putchar('\n');
    fflush(stdout);
}

uint64_t word(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

int *copies_done;

static int in_a_process(void (*record)(void))
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        CUcontext context;
        MUST("cuInit", (unsigned), 0);
        MUST("cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice), &context, 0);
        MUST("cuCtxSetCurrent", (CUcontext), context);
        record();
        exit(0);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*record)(void);
    } groups[] = {
        { "encode", record_encodings },       { "barrier", record_barriers }, { "tile", record_tiles },   { "im2col", record_images },
        { "reduce", record_reductions },      { "plain", record_plain },      { "interleave", record_interleaved },
    };
    if (argc < 4)
        die("record LIBRARY DEVICE DATE [GROUP,...]");
    library = dlopen(argv[1], RTLD_NOW);
    if (!library)
        die("record: %s", dlerror());
    printf("anywarp-async 1\n%s\n%s\n", argv[2], argv[3]);
    /* A process a group, and another one behind a copy that went wrong, since nothing works in a process after it. */
    copies_done = mmap(NULL, sizeof *copies_done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (copies_done == MAP_FAILED)
        die("record: no memory");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (argc > 4 && !strstr(argv[4], groups[i].name))
            continue;
        *copies_done = 0;
        int before, status;
        do {
            before = *copies_done;
            status = in_a_process(groups[i].record);
        } while (status && *copies_done > before);
        if (status)
            fprintf(stderr, "record: %s ended with %#x\n", groups[i].name, status);
    }
    puts("end");
    return 0;
}
