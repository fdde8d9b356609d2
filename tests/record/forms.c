/* A recorder of instruction forms; documented in forms.h. */
#include "forms.h"
#include <string.h>

/* Returns the number of forms. */
static int read_group(const struct forms *f, const char *path, const char *group)
{
    enum { MOST_COLUMNS = 8 };
    char *columns[MOST_COLUMNS];
    size_t size;
    int count = 0;
    char *rest = read_file(path, &size);
    while (next_row(&rest, path, columns, f->columns)) {
        if (strcmp(columns[0], group))
            continue;
        if (count == f->most)
            die("%s: group %s has more than %d forms", path, group, f->most);
        f->read(count++, columns);
    }
    if (!count)
        die("no forms of group %s", group);
    return count;
}

static char *module_text(const struct forms *f, const char *group, int count)
{
    char *text;
    size_t size;
    FILE *o = open_memstream(&text, &size);
    fputs(f->head(group), o);
    for (int i = 0; i < count; i++)
        f->write_kernel(o, i);
    fclose(o);
    return text;
}

int record_forms(const struct forms *f, int argc, char **argv)
{
    int ptx = argc == 4 && !strcmp(argv[1], "--ptx");
    if (!ptx && argc != 6)
        die("usage: record LIBRARY FORMS GROUP DEVICE DATE, or record --ptx FORMS GROUP");
    int count = read_group(f, argv[2], argv[3]);
    char *text = module_text(f, argv[3], count);
    if (ptx) {
        fputs(text, stdout);
        return 0;
    }
    CUmodule module;
    open_library(argv[1]);
    begin_device();
    if (load_ptx(&module, text))
        die("the group %s does not load", argv[3]);
    printf("%s\n%s\n%s\n", f->format, argv[4], argv[5]);
    f->begin();
    for (int i = 0; i < count; i++)
        f->describe(i);
    printf("end\n");
    for (int i = 0; i < count; i++)
        f->run(module, i);
    return 0;
}
