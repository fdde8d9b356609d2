/* table LIBRARY EXPORTS: for each base name of the exports, the exported symbol that cuGetProcAddress
 * returns for each version.
 *
 * Prints a line for each change: name, flags, the first version that returns it, the exported symbols at
 * that address (or the status). Requested versions: 2.0 up to the driver's own, in steps of 0.1. */
#include "driver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 4096 };
static char *exports[MAX];
static void *addresses[MAX];
static int count;

/* The length of a name without _vN, _ptds and _ptsz. */
static size_t base_length(const char *name)
{
    size_t n = strlen(name);
    if (n > 5 && (!strcmp(name + n - 5, "_ptsz") || !strcmp(name + n - 5, "_ptds")))
        n -= 5;
    if (n > 3 && name[n - 3] == '_' && name[n - 2] == 'v' && name[n - 1] >= '0' && name[n - 1] <= '9')
        n -= 3;
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        die("usage: table LIBRARY EXPORTS");
    open_library(argv[1]);
    size_t size;
    for (char *name, *rest = read_file(argv[2], &size); count < MAX && next_row(&rest, argv[2], &name, 1);)
        if (!strncmp(name, "cu", 2)) {
            exports[count] = name;
            addresses[count++] = find(name);
        }
    int newest = 0;
    MUST(cuInit, 0);
    MUST(cuDriverGetVersion, &newest);
    static int versions[2048], n;
    for (int major = 2; major <= 13; major++)
        for (int minor = 0; minor <= 9; minor++)
            if (major * 1000 + minor * 10 <= newest)
                versions[n++] = major * 1000 + minor * 10;
    char last_base[256] = "";
    for (int i = 0; i < count; i++) {
        char base[256];
        size_t length = base_length(exports[i]);
        snprintf(base, sizeof base, "%.*s", (int)length, exports[i]);
        if (!strcmp(base, last_base))
            continue;
        int seen = 0;
        for (int k = 0; k < i && !seen; k++)
            seen = base_length(exports[k]) == length && !strncmp(exports[k], base, length);
        if (seen)
            continue;
        strcpy(last_base, base);
        for (int flags = 0; flags <= 2; flags++) {
            void *before = (void *)1;
            int status_before = -1, query_before = -1;
            for (int v = 0; v < n; v++) {
                void *f = NULL;
                CUdriverProcAddressQueryResult q = 99;
                int status = (int)FN(cuGetProcAddress, base, &f, versions[v], (cuuint64_t)flags, &q);
                if (f == before && status == status_before && (int)q == query_before)
                    continue;
                printf("%s\t%d\t%d\t%d\t%d\t", base, flags, versions[v], status, (int)q);
                int any = 0;
                for (int k = 0; f && k < count; k++)
                    if (addresses[k] == f)
                        printf("%s%s", any++ ? "," : "", exports[k]);
                puts(any ? "" : f ? "hidden" : "-");
                before = f;
                status_before = status;
                query_before = (int)q;
            }
        }
    }
    return 0;
}
