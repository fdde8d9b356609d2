// So many kernels that they are lowered on demand, and some that cannot be: because of an instruction, of what
// it sets the float mode to, and of where it jumps to.
#define GLOBAL extern "C" __attribute__((global))
#define ITEM ((int)__builtin_amdgcn_workitem_id_x())
#define ONE(n) \
    GLOBAL void add_##n(int *out) { out[ITEM] += n + ITEM; } \
    GLOBAL void scale_##n(float *out) { out[ITEM] *= n * 0.5f; }
#define FIVE(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4)
FIVE(1) FIVE(2) FIVE(3) FIVE(4)

GLOBAL void privileged(int *out)
{
    out[0] = 1;
    asm volatile("s_sethalt 1");
}

GLOBAL void unknown_mode(float *out, int mode)
{
    asm volatile("s_setreg_b32 hwreg(HW_REG_MODE, 0, 8), %0" ::"s"(mode));
    out[ITEM] += 1;
}

GLOBAL void nowhere(int *out)
{
    out[0] = 1;
    asm volatile("s_branch 0x7fff");
}

// What the mode is set to is known, so this one can run. To nearest, 14 would become the next number.
GLOBAL void towards_zero(float *out)
{
    asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3");
    out[ITEM] += 6e-7f;
}
