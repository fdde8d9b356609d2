/* The PTX texts of ptx/, embedded. Build with the assembler's include path at this folder (-Wa,-I,DIR). */
#include "probe.h"

#define TEXT(name, file) \
    __asm__(".section .rodata\n.globl " name "\n" name ":\n.incbin \"ptx/" file "\"\n.byte 0\n.previous\n");

TEXT("ptx_main", "main.ptx")
TEXT("ptx_params", "params.ptx")
TEXT("ptx_faults", "faults.ptx")
TEXT("ptx_printf", "printf.ptx")
TEXT("ptx_link_a", "link_a.ptx")
TEXT("ptx_link_b", "link_b.ptx")
TEXT("ptx_bad_syntax", "bad_syntax.ptx")
TEXT("ptx_cluster", "cluster.ptx")
TEXT("ptx_clusters", "clusters.ptx")
TEXT("ptx_texture", "texture.ptx")
TEXT("ptx_graph", "graph.ptx")
TEXT("ptx_corners", "corners.ptx")
