/* A recorder of instruction forms: a group of a table becomes a module with a kernel for each form; each runs, and its results are written. */
#ifndef ANYWARP_FORMS_H
#define ANYWARP_FORMS_H

#include "driver.h"
#include <stdio.h>

/* What is a recorder's own. Forms have numbers from 0. */
struct forms {
    const char *format; /* a recording's first line */
    const char *(*head)(const char *group); /* a module's first lines */
    int columns, most;  /* of the table, of which the first is the group; forms of a group */
    void (*read)(int form, char **columns);
    void (*write_kernel)(FILE *o, int form);
    void (*begin)(void);        /* allocates memory, writes the header's lines behind the date */
    void (*describe)(int form); /* writes the form's line of the header */
    void (*run)(CUmodule module, int form); /* writes the results */
};

/* The program: record LIBRARY FORMS GROUP DEVICE DATE, or record --ptx FORMS GROUP. */
int record_forms(const struct forms *f, int argc, char **argv);

#endif
