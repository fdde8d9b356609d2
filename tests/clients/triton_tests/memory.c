/* Preloaded: what PyTorch allocates for tensors of the host comes from one region, which host_tensors.py
 * registers with the driver, so that kernels may use the tensors. Blocks have sizes of powers of two, and
 * freed ones are used again; the region itself never grows. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

enum { LEAST = 64, CLASSES = 40 };

static const size_t REGION = (size_t)6 << 30;
static char *region, *end;
static void *freed[CLASSES];
static unsigned char *class_of; /* of the block that starts at a multiple of LEAST */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char *map(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* The region, for the driver. */
void *tensor_region(size_t *size)
{
    pthread_mutex_lock(&lock);
    if (!region) {
        region = end = map(REGION);
        class_of = (unsigned char *)map(REGION / LEAST);
    }
    pthread_mutex_unlock(&lock);
    *size = REGION;
    return region;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    static int (*real)(void **, size_t, size_t);
    if (!region || alignment > LEAST) {
        if (!real)
            real = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
        return real(out, alignment, size);
    }
    unsigned class = 0;
    while (((size_t)LEAST << class) < size)
        class++;
    int status = ENOMEM;
    pthread_mutex_lock(&lock);
    if (class < CLASSES && freed[class]) {
        *out = freed[class];
        freed[class] = *(void **)*out;
        status = 0;
    } else if (class < CLASSES && ((size_t)LEAST << class) <= (size_t)(region + REGION - end)) {
        *out = end;
        class_of[(size_t)(end - region) / LEAST] = (unsigned char)class;
        end += (size_t)LEAST << class;
        status = 0;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void free(void *block)
{
    static void (*real)(void *);
    if (region && (char *)block >= region && (char *)block < region + REGION) {
        pthread_mutex_lock(&lock);
        unsigned class = class_of[(size_t)((char *)block - region) / LEAST];
        *(void **)block = freed[class];
        freed[class] = block;
        pthread_mutex_unlock(&lock);
        return;
    }
    if (!real)
        real = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    real(block);
}
