// One thread follows a random cycle through nodes of 128 bytes.
//
// Shows a chain of dependent loads: nothing to coalesce, and once the cycle is larger than a cache,
// every step misses it.
//   requests = lanes = sectors = ideal sectors of the load: steps; bytes: 4·steps
//
// usage: pointer_chase [nodes = 8192] [steps = 65536]
#include "../common/common.h"

#include <numeric>
#include <utility>
#include <vector>

struct Node {
    uint32_t next;
    uint32_t payload[31];
};

__global__ void chase(const Node *nodes, uint32_t start, int steps, uint32_t *last)
{
    uint32_t at = start;
    for (int i = 0; i < steps; ++i) {
        at = nodes[at].next;
    }
    *last = at;
}

// A single cycle through all nodes (Sattolo's shuffle).
static std::vector<Node> make_cycle(int count)
{
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    Random random(7);
    for (uint32_t i = count - 1; i > 0; --i) {
        std::swap(order[i], order[random.below(i)]);
    }
    std::vector<Node> nodes(count);
    for (int i = 0; i < count; ++i) {
        nodes[i].next = order[i];
    }
    return nodes;
}

static uint32_t chase_on_device(const std::vector<Node> &nodes, int steps)
{
    Node *d_nodes;
    uint32_t *d_last, last = 0;
    CUDA_CHECK(cudaMalloc(&d_nodes, nodes.size() * sizeof(Node)));
    CUDA_CHECK(cudaMalloc(&d_last, sizeof(uint32_t)));
    CUDA_CHECK(cudaMemcpy(d_nodes, nodes.data(), nodes.size() * sizeof(Node), cudaMemcpyHostToDevice));

    Timer timer;
    chase<<<1, 1>>>(d_nodes, 0, steps, d_last);
    CUDA_CHECK(cudaGetLastError());
    std::printf("%.3f us per step\n", 1000 * timer.stop() / steps);

    CUDA_CHECK(cudaMemcpy(&last, d_last, sizeof last, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_nodes));
    CUDA_CHECK(cudaFree(d_last));
    return last;
}

int main(int argc, char **argv)
{
    int count = argument(argc, argv, 1, "nodes", 8192, 2);
    int steps = argument(argc, argv, 2, "steps", 65536);
    std::vector<Node> nodes = make_cycle(count);
    uint32_t expected = 0;
    for (int i = 0; i < steps; ++i) {
        expected = nodes[expected].next;
    }
    uint32_t last = chase_on_device(nodes, steps);
    return finish("pointer_chase", all_equal("last", &last, &expected, 1));
}
