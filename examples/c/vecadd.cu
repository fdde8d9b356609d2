// The kernel of vecadd.c. clang 19 compiles it to vecadd.ptx (see make-ptx.sh).
extern "C" __attribute__((global)) void VecAdd(const float *A, const float *B, float *C, int N) {
    int i = __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ctaid_x() + __nvvm_read_ptx_sreg_tid_x();
    if (i < N) C[i] = A[i] + B[i];
}
