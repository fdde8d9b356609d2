// One step of a bitonic sort: exchanges at distance j inside runs of length k.
#include "device.h"

extern "C" __global__ void bitonic(u32 *data, u32 j, u32 k) {
    u32 i = CTAID_X * NTID_X + TID_X, other = i ^ j;
    if (other <= i) return;
    u32 a = data[i], b = data[other];
    bool up = (i & k) == 0;
    if ((a > b) == up) {
        data[i] = b;
        data[other] = a;
    }
}
