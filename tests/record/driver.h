/* Shared by the recorders: a CUDA driver library opened by path, calls of its functions, kernels generated
 * as text, tables, and memory that survives a fault in one process. */
#ifndef ANYWARP_DRIVER_H
#define ANYWARP_DRIVER_H

#include "splitmix.h"
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* Exits with status 2 after printing the program's name and a message. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Opens the library under test; exits on failure. */
void open_library(const char *path);
/* A function of the library by its exact name. If it is missing, returns null or exits. */
void *find(const char *name);
void *symbol(const char *name);

#define STRING_(x) #x
#define STRING(x) STRING_(x)
/* Calls a function by the header's unversioned name and returns its status. */
#define FN(fn, ...) (((__typeof__(fn) *)symbol(STRING(fn)))(__VA_ARGS__))
/* A call that the recording cannot do without: exits if it fails. */
#define MUST(fn, ...) must(STRING(fn), FN(fn, __VA_ARGS__))
void must(const char *what, CUresult status);

/* Initialises the driver, retains the primary context of device 0 and makes it current. */
void begin_device(void);

/* Loads PTX. On failure, prints the compiler's log to standard error. RECORD_LEVEL sets the optimisation
 * level, to find answers that depend on it. */
CUresult load_ptx(CUmodule *module, const char *text);
/* Launches blocks in one dimension on the null stream. */
CUresult launch(CUfunction function, unsigned blocks, unsigned threads, void **args);
/* Runs a kernel to its end; exits on failure. */
void run_kernel(CUmodule module, const char *name, unsigned blocks, unsigned threads, void **args);

/* A kernel's name: a prefix, and the case's name with `_` in place of each dot. */
char *entry_name(const char *prefix, const char *name);
/* A file's bytes, followed by a NUL; exits if it cannot be read. */
char *read_file(const char *path, size_t *size);
/* The next row of a table, split at tabs in place; skips comments and empty lines. Returns 0 at the end.
 * Exits if the row does not have `count` columns. */
int next_row(char **rest, const char *path, char **columns, int count);

/* Whether the case belongs to the turn in RECORD_TURN=NUMBER/OF (`crates/hwtruth/src/sample.rs`); always
 * true if it is unset. */
int wanted(const char *name);

/* Zeroed memory shared with processes that are forked later. */
void *shared_memory(size_t size);

#endif
