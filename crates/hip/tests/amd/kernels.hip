// Kernels without HIP's headers, so that clang alone compiles them. GROUP_SIZE reads the dispatch packet in code
// objects of version 4 and a hidden argument in later ones; GRID_SIZE always reads the packet.
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define ITEM __builtin_amdgcn_workitem_id_x()
#define GROUP_SIZE __builtin_amdgcn_workgroup_size_x()

extern "C" {
CONSTANT int table[4] = {10, 20, 30, 40};
DEVICE int counter = 5;
DEVICE int zeros[100];
DEVICE int *pointer = &counter;
}

GLOBAL void fill(int a, long b, int *out)
{
    int i = GROUP * GROUP_SIZE + ITEM;
    out[i] = a * 1000 + (int)b + i;
}

GLOBAL void shape(unsigned *out)
{
    if (ITEM != 0 || __builtin_amdgcn_workitem_id_y() != 0 || __builtin_amdgcn_workitem_id_z() != 0)
        return;
    if (GROUP != 0 || __builtin_amdgcn_workgroup_id_y() != 1 || __builtin_amdgcn_workgroup_id_z() != 2)
        return;
    out[0] = GROUP_SIZE;
    out[1] = __builtin_amdgcn_workgroup_size_y();
    out[2] = __builtin_amdgcn_workgroup_size_z();
    out[3] = __builtin_amdgcn_grid_size_x();
    out[4] = __builtin_amdgcn_grid_size_y();
    out[5] = __builtin_amdgcn_grid_size_z();
}

GLOBAL void variables(int *out)
{
    out[ITEM] = table[ITEM & 3] + *pointer;
    zeros[ITEM] = ITEM * 2;
    if (ITEM == 0)
        counter = 77;
}

GLOBAL void reverse(int *data, int n)
{
    extern SHARED int memory[];
    memory[ITEM] = data[ITEM];
    __builtin_amdgcn_s_barrier();
    data[ITEM] = memory[n - 1 - ITEM];
}

// What no program may do.
GLOBAL void privileged(int *out)
{
    out[0] = 1;
    asm volatile("s_rfe_b64 s[4:5]");
}
