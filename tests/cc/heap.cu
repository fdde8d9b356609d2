// malloc, new and the functions of string.h in kernels.
#include "check.h"

struct Node {
    int value;
    Node *next;
    __device__ Node(int value, Node *next) : value(value), next(next) {}
};

__global__ void run(int *out) {
    int i = threadIdx.x;
    Node *list = nullptr;
    for (int k = 0; k <= i; k++)
        list = new Node(k, list);
    int sum = 0;
    while (list) {
        Node *next = list->next;
        sum += list->value;
        delete list;
        list = next;
    }
    out[i] = sum;
    int *block = (int *)malloc(16 * sizeof(int));
    memset(block, 0, 16 * sizeof(int));
    block[i % 16] = i;
    int copy[16];
    memcpy(copy, block, sizeof copy);
    free(block);
    out[64 + i] = copy[i % 16] + copy[(i + 1) % 16];
}

int main() {
    int *out = shared_memory<int>(128);
    run<<<1, 64>>>(out);
    finish();
    for (int i = 0; i < 64; i++) {
        expect("list", i, out[i], i * (i + 1) / 2);
        expect("block", i, out[64 + i], i);
    }
    return result();
}
