/* Opens two NVRTCs and asks each for the machine code of each program. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **paths) {
    for (int i = 1; i < count; i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) return puts(dlerror()), 1;
        int (*size)(const char *, size_t *) = (int (*)(const char *, size_t *))dlsym(library, "nvrtcGetCUBINSize");
        int (*get)(const char *, char *) = (int (*)(const char *, char *))dlsym(library, "nvrtcGetCUBIN");
        const char *programs[] = {"sm_86", "compute_86", "lto", NULL};
        for (int p = 0; p < 4; p++) {
            size_t bytes = 99;
            char text[64] = "untouched";
            int first = size(programs[p], &bytes), second = get(programs[p], text);
            printf("%s %d %zu %d %s\n", programs[p] ? programs[p] : "none", first, bytes, second, text);
        }
        printf("no size %d, others %d\n", size("sm_86", NULL),
               dlsym(library, "nvrtcVersion") != NULL && !dlsym(library, "nvrtcNoSuchFunction"));
    }
    /* The next `puts` after this program's is the C library's: the lookup depends on the caller. */
    void *next = dlsym(RTLD_NEXT, "puts"), *any = dlsym(RTLD_DEFAULT, "puts");
    Dl_info info;
    printf("next %d\n", next == any && dladdr(next, &info) && strstr(info.dli_fname, "libc.so") != NULL);
    return 0;
}
