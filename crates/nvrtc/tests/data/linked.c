/* Is linked with an NVRTC. */
#include <stdio.h>

int nvrtcGetCUBINSize(const char *program, size_t *size);
int nvrtcGetCUBIN(const char *program, char *to);

int main(void) {
    size_t bytes = 0;
    char text[64] = "";
    int first = nvrtcGetCUBINSize("sm_86", &bytes), second = nvrtcGetCUBIN("sm_86", text);
    printf("%d %zu %d %s\n", first, bytes, second, text);
    return 0;
}
