/* What the recorders share: a CUDA driver library opened by path, calls of its functions, kernels made as text, tables, and memory that a
 * fault in a process does not take along. */
#ifndef ANYWARP_DRIVER_H
#define ANYWARP_DRIVER_H

#include "splitmix.h"
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the program with status 2, behind its name and a message. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Opens the library under test; the program ends where that fails. */
void open_library(const char *path);
/* A function of it by its exact name: null where there is none, or the program ends. */
void *find(const char *name);
void *symbol(const char *name);

#define STRING_(x) #x
#define STRING(x) STRING_(x)
/* Calls a function by the header's unversioned name: its status. */
#define FN(fn, ...) (((__typeof__(fn) *)symbol(STRING(fn)))(__VA_ARGS__))
/* A call without which there is no recording: the program ends where it fails. */
#define MUST(fn, ...) must(STRING(fn), FN(fn, __VA_ARGS__))
void must(const char *what, CUresult status);

/* Initialises, retains the primary context of device 0 and makes it current. */
void begin_device(void);

/* Loads PTX. Where that fails, the compiler's words go to standard error. RECORD_LEVEL: its optimisation level, to see which answers depend
 * on it. */
CUresult load_ptx(CUmodule *module, const char *text);
/* Launches blocks in a row on the null stream. */
CUresult launch(CUfunction function, unsigned blocks, unsigned threads, void **args);
/* Runs a kernel to its end; the program ends where that fails. */
void run_kernel(CUmodule module, const char *name, unsigned blocks, unsigned threads, void **args);

/* A kernel's name: a prefix, and a case's name with `_` for each dot. */
char *entry_name(const char *prefix, const char *name);
/* A file's bytes, and a NUL behind them; the program ends where they cannot be read. */
char *read_file(const char *path, size_t *size);
/* The next row of a table's text, split at tabs in place; comments and empty lines are passed over. 0: there is none. The program ends where
 * the row has other than `count` columns. */
int next_row(char **rest, const char *path, char **columns, int count);

/* Whether the case belongs to the turn of RECORD_TURN=NUMBER/OF (`crates/hwtruth/src/sample.rs`); all do where it is unset. */
int wanted(const char *name);

/* Zeroed memory that processes forked later share. */
void *shared_memory(size_t size);

#endif
