// Compiled by crates/gcn/tests/data/make.sh to the code objects beside it.
__attribute__((reqd_work_group_size(64, 1, 1)))
kernel void saxpy(global float *y, const global float *x, float a, unsigned n) {
    unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    if (i < n) y[i] = a * x[i] + y[i];
}

kernel void reverse(global int *data) {
    local int tile[256];
    unsigned i = __builtin_amdgcn_workitem_id_x();
    tile[i] = data[i];
    __builtin_amdgcn_s_barrier();
    data[i] = tile[255 - i];
}
