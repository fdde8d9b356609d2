// A program with a Python in miniature, as far as the library asks for it, and an inner module of
// cuda-bindings. It initialises the module `cyruntime` of its second argument as Python does, and calls the
// functions that the capsules have then. The first argument is the version of cuda-bindings, the third the
// name of the inner module.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *text;
    void *pointer;
    int references;
} Object;

static int theirs(void) { return 1; }
static const char *text(void) { return "theirs"; }

static Object package = {.name = "cuda.bindings"}, os = {.name = "os"};
static Object inner, version, functions, environment, value;
#define KEY(NAME) {.name = NAME, .text = NAME}
static Object keys[] = {KEY("_cudaGetDevice"), KEY("_cudaGetDeviceProperties"), KEY("_cudaStreamQuery"),
                        KEY("_cudaMemcpy"),    KEY("_cudaNewer"),               KEY("_cudaGetText"),
                        KEY("getEgl")};
#define CAPSULE(TYPE, FUNCTION) {.name = TYPE, .pointer = FUNCTION}
#define STATUS CAPSULE("cudaError_t (void)", theirs)
static Object capsules[] = {
    CAPSULE("cudaError_t (int *)", theirs), STATUS, STATUS, STATUS, STATUS,
    CAPSULE("char const *(cudaError_t)", text), STATUS};
enum { COUNT = sizeof capsules / sizeof *capsules };
static int failed, cleared;

static Object *hand_out(Object *object) { object->references++; return object; }
static void *fail(void) { failed++; return NULL; }

Object *PyImport_ImportModule(const char *name)
{
    Object *all[] = {&package, &inner, &os};
    for (int i = 0; i < 3; i++)
        if (!strcmp(all[i]->name, name)) return hand_out(all[i]);
    return fail();
}
Object *PyObject_GetAttrString(Object *of, const char *name)
{
    if (of == &package && !strcmp(name, "__version__")) return hand_out(&version);
    if (of == &inner && !strcmp(name, "__pyx_capi__")) return hand_out(&functions);
    if (of == &os && !strcmp(name, "environ")) return hand_out(&environment);
    return fail();
}
Object *PyMapping_GetItemString(Object *of, const char *name)
{
    value.text = of == &environment ? getenv(name) : NULL;
    return value.text ? hand_out(&value) : fail();
}
const char *PyUnicode_AsUTF8(Object *object) { return object->text ? object->text : fail(); }
int PyDict_Next(Object *of, long *at, Object **key, Object **item)
{
    if (of != &functions || *at == COUNT) return 0;
    *key = &keys[*at];
    *item = &capsules[(*at)++];
    return 1;
}
const char *PyCapsule_GetName(Object *capsule) { return capsule->name; }
int PyCapsule_SetPointer(Object *capsule, void *pointer) { capsule->pointer = pointer; return 0; }
void PyErr_Clear(void) { cleared++; }
void Py_DecRef(Object *object) { object->references--; }

int main(int count, char **arguments)
{
    if (count != 4) return 2;
    version.text = arguments[1];
    inner.name = arguments[3];
    void *module = dlopen(arguments[2], RTLD_NOW);
    if (!module) return fprintf(stderr, "%s\n", dlerror()), 2;
    const char *(*initialise)(void) = (const char *(*)(void))dlsym(module, "PyInit_cyruntime");
    printf("%s", initialise());
    for (int i = 0; i < COUNT; i++)
        if (capsules[i].name[1] == 'h') printf(" %s", ((const char *(*)(int))capsules[i].pointer)(0));
        else printf(" %d", ((int (*)(int *))capsules[i].pointer)(NULL));
    Object *all[] = {&package, &os, &inner, &version, &functions, &environment, &value};
    int held = 0;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) held += all[i]->references;
    printf(" held %d pending %d\n", held, failed - cleared);
    return 0;
}
