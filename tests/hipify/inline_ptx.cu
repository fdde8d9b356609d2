// PTX in the text is told; assembly for the host, barriers for the compiler and AMD's instructions are not.
// FINDING: inline-ptx asm
__device__ int a() { int x; asm("mov.u32 %0, %%laneid;" : "=r"(x)); return x; }
// FINDING: inline-ptx asm
__device__ void b() { asm volatile("bar.sync 0;" ::: "memory"); }
// FINDING: inline-ptx __asm__
#define PREFETCH(p) __asm__ __volatile__("prefetch.global.L2 [%0];" ::"l"(p))
__device__ void c(unsigned a, int *p) {
    // FINDING: inline-ptx asm
    asm volatile("{\n\t"
                 ".reg .pred p;\n\t"
                 "setp.ne.b32 p, %0, 0;\n\t"
                 "@p st.global.u32 [%1], %0;\n\t"
                 "}" ::"r"(a), "l"(p));
}
// FINDING: inline-ptx asm
OWN_DEVICE float d(float x) { asm("ex2.approx." FTZ "f32 %0, %0;" : "+f"(x)); return x; }
// CHECK: asm("trap;");
// FINDING: inline-ptx asm
__device__ void e() { asm("trap;"); }
__device__ void f() { asm volatile("" ::: "memory"); }
__device__ void g(int x) { asm volatile("s_waitcnt vmcnt(0)\n\tv_mov_b32 %0, 0" : "=v"(x)); }
int h(int x) { asm("movl %%ebx, %0\n\tlock; xaddl %0, (%1)" : "=r"(x)); return x; }
int i(int asm_count) { return asm_count; }
