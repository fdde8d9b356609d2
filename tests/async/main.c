/* record LIBRARY DEVICE DATE [GROUP,...]: runs each case on a CUDA driver library and writes the recording
 * to standard output. README.md describes the formats. record --ptx: prints the kernels. */
#include "record.h"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void line(const char *name, CUresult status, const void *bytes, size_t size)
{
    printf("%s %d ", name, (int)status);
    for (size_t i = 0; i < size; i++)
        printf("%02x", ((const unsigned char *)bytes)[i]);
    putchar('\n');
    fflush(stdout);
}

int *copies_done, only_ptx;

static int in_a_process(void (*record)(void))
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        begin_device();
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
        { "spelling", record_spellings },
    };
    if (argc == 2 && !strcmp(argv[1], "--ptx")) {
        only_ptx = 1;
        for (size_t i = 1; i < sizeof groups / sizeof *groups; i++) /* the first has no kernels */
            groups[i].record();
        return 0;
    }
    if (argc < 4)
        die("usage: record LIBRARY DEVICE DATE [GROUP,...], or record --ptx");
    open_library(argv[1]);
    printf("anywarp-async 1\n%s\n%s\n", argv[2], argv[3]);
    /* Each group runs in a separate process, and continues in another one after a failed copy, since
     * nothing works in a process after that. */
    copies_done = shared_memory(sizeof *copies_done);
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
