// Sparse matrix (CSR) times vector, one row per thread.
#include "device.h"

extern "C" __global__ void spmv(const u32 *row, const u32 *col, const float *val, const float *x, float *y, u32 rows) {
    u32 r = CTAID_X * NTID_X + TID_X;
    if (r >= rows) return;
    float s = 0.0f;
    for (u32 k = row[r]; k < row[r + 1]; k++) s = fma(val[k], x[col[k]], s);
    y[r] = s;
}
