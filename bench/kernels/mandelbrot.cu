// Mandelbrot set: the loop's length differs from lane to lane.
#include "device.h"

extern "C" __global__ void mandelbrot(u32 *out, u32 width, u32 height, u32 limit) {
    u32 px = CTAID_X * NTID_X + TID_X, py = CTAID_Y * NTID_Y + TID_Y;
    if (px >= width || py >= height) return;
    float cx = -2.0f + 3.0f * (float)px / (float)width, cy = -1.5f + 3.0f * (float)py / (float)height;
    float x = 0.0f, y = 0.0f;
    u32 k = 0;
    while (k < limit && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        k++;
    }
    out[py * width + px] = k;
}
