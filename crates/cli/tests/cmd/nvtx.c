/* Calls NVTX's functions through its tables, as NVTX's headers do: `anywarp prof` names the library. */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

typedef void (*Function)(void);
enum { CORE = 1, DOMAINS = 5, LENGTH = 16 };
static Function core[LENGTH], domains[LENGTH];
static Function *of_core[LENGTH], *of_domains[LENGTH];

static int table(unsigned module, Function ***out, unsigned *length) {
    if (module != CORE && module != DOMAINS)
        return 0;
    *out = module == CORE ? of_core : of_domains;
    *length = LENGTH;
    return 1;
}

static struct {
    size_t size;
    int (*table)(unsigned, Function ***, unsigned *);
} callbacks = {sizeof callbacks, table};

static const void *export_table(uint32_t number) { return number == 1 ? &callbacks : NULL; }

struct Attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

static void *end_elsewhere(void *range) {
    ((void (*)(uint32_t, const char *))core[14])(0, "not this one");
    ((void (*)(uint64_t))core[7])(*(uint64_t *)range);
    return NULL;
}

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            return 1; \
        } \
    } while (0)

int main(void) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    CHECK(path);
    void *library = dlopen(path, RTLD_LAZY);
    CHECK(library);
    int (*start)(const void *(*)(uint32_t)) = dlsym(library, "InitializeInjectionNvtx2");
    CHECK(start && start(NULL) == 0);
    for (int i = 0; i < LENGTH; i++)
        of_core[i] = &core[i], of_domains[i] = &domains[i];
    of_domains[12] = NULL; /* a version without this function */
    callbacks.size = 8;
    CHECK(start(export_table) == 0);
    callbacks.size = sizeof callbacks;
    CHECK(start(export_table) == 1 && !domains[12] && !core[0] && !core[12]);

    int (*push)(const char *) = (int (*)(const char *))core[9];
    int (*pop)(void) = (int (*)(void))core[11];
    CHECK(push("outer") == 0 && push("inner") == 1 && push(NULL) == 2);
    CHECK(pop() == 2 && pop() == 1);
    CHECK(((int (*)(const wchar_t *))core[10])(L"inner") == 1 && pop() == 1);
    ((void (*)(const char *))core[2])("here");

    void *domain = ((void *(*)(const wchar_t *))domains[13])(L"library");
    CHECK(domain);
    void *text = ((void *(*)(void *, const char *))domains[10])(domain, "step");
    struct Attributes step = {3, sizeof step, .message_type = 3, .message = text};
    struct Attributes gone = {3, sizeof gone, .message_type = 3, .message = (void *)12345};
    struct Attributes small = {1, 8, .message_type = 1, .message = (void *)1};
    int (*push_in)(void *, const struct Attributes *) = (int (*)(void *, const struct Attributes *))domains[4];
    int (*pop_in)(void *) = (int (*)(void *))domains[5];
    CHECK(push_in(domain, &step) == 0 && push_in(domain, &gone) == 1 && push_in(domain, &small) == 2);
    CHECK(push_in(domain, NULL) == 3 && pop_in(domain) == 3);
    CHECK(pop_in(domain) == 2 && pop_in(domain) == 1 && pop_in(domain) == 0 && pop_in(domain) < 0);

    uint64_t range = ((uint64_t(*)(const char *))core[5])("across threads");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, end_elsewhere, &range) == 0 && pthread_join(thread, NULL) == 0);
    ((void (*)(uint64_t))core[7])(range);

    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    CHECK(cuInit(0) == 0 && cuDeviceGet(&device, 0) == 0 && cuCtxCreate(&context, NULL, 0, device) == 0);
    CHECK(cuMemAlloc(&memory, 4096) == 0 && cuMemsetD8(memory, 1, 4096) == 0);
    CHECK(pop() == 0 && pop() < 0);
    return 0;
}
