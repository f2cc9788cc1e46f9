// Device variables whose initial values point at each other and at themselves. LLVM has no PTX for them, which the CPU
// device does not need.
#include "test.h"

struct Node {
    const Node *next;
    int value;
};

extern __device__ Node second;
__device__ Node first = {&second, 1};
__device__ Node second = {&first, 20};
__device__ Node own = {&own, 300};

__global__ void walk(int steps, int *sum)
{
    const Node *node = &first;
    for (int step = 0; step < steps; ++step) {
        sum[0] += node->value;
        node = node->next;
    }
    sum[0] += own.next->next->value;
}

int main()
{
    Device<int> sum(1);
    walk<<<1, 1>>>(5, sum);
    expect_equal("sum", sum.read(), std::vector<int>{343});
    return done("pointer_cycle");
}
