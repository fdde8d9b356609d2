/* A recorder of instruction forms: compiles a group of a table as a module with one kernel per form, runs
 * each kernel, and writes the results. */
#ifndef ANYWARP_FORMS_H
#define ANYWARP_FORMS_H

#include "driver.h"
#include <stdio.h>

/* The parts that differ between recorders. Forms are numbered from 0. */
struct forms {
    const char *format; /* the first line of a recording */
    const char *(*head)(const char *group); /* the first lines of a module */
    int columns, most;  /* columns of the table, the first of which is the group; maximum number of forms in a group */
    void (*read)(int form, char **columns);
    void (*write_kernel)(FILE *o, int form);
    void (*begin)(void);        /* allocates memory and writes the header's lines after the date */
    void (*describe)(int form); /* writes the form's line in the header */
    void (*run)(CUmodule module, int form); /* writes the results */
};

/* The program: record LIBRARY FORMS GROUP DEVICE DATE, or record --ptx FORMS GROUP. */
int record_forms(const struct forms *f, int argc, char **argv);

#endif
