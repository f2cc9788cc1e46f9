// Breadth-first search: each thread takes a node of the frontier and looks its neighbours up in the array `visited`, where they
// lie anywhere. As an int per node it does not stay in L2; with -DFIXED it is a bit per node. Read with
// docs/cases/visited.md; the case is that of CUDAAdvisor.
//
// usage: visited [nodes = 1048576] [edges per node = 8]
#include "../common/common.h"

#include <vector>

#ifdef FIXED
using Flags = unsigned;
constexpr int NODES_PER_FLAG = 32;

__device__ bool seen(const Flags *visited, int node) { return visited[node / 32] >> (node % 32) & 1; }
__device__ bool mark(Flags *visited, int node)
{
    return !(atomicOr(&visited[node / 32], 1u << (node % 32)) >> (node % 32) & 1);
}
#else
using Flags = int;
constexpr int NODES_PER_FLAG = 1;

__device__ bool seen(const Flags *visited, int node) { return visited[node] != 0; }
__device__ bool mark(Flags *visited, int node) { return atomicExch(&visited[node], 1) == 0; }
#endif

__global__ void expand(const int *edges, int degree, Flags *visited, const int *frontier, int size, int *next,
                       int *next_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) {
        return;
    }
    int node = frontier[i];
    for (int k = 0; k < degree; ++k) {
        int other = edges[node * degree + k];
        bool fresh = !seen(visited, other) && mark(visited, other);
        // The lanes that found a node make room for all of theirs at once.
        unsigned together = __activemask();
        unsigned finders = __ballot_sync(together, fresh);
        int lane = threadIdx.x % 32, first = __ffs(finders) - 1, place = 0;
        if (fresh && lane == first) {
            place = atomicAdd(next_size, __popc(finders));
        }
        place = __shfl_sync(together, place, finders ? first : lane);
        if (fresh) {
            next[place + __popc(finders & ((1u << lane) - 1))] = other;
        }
    }
}

int main(int argc, char **argv)
{
    int nodes = argument(argc, argv, 1, "nodes", 1 << 20, 64);
    int degree = argument(argc, argv, 2, "edges per node", 8);
    Random random(9);
    std::vector<int> edges(static_cast<size_t>(nodes) * degree);
    for (int &edge : edges) edge = random.below(nodes);
    size_t flags = (nodes + NODES_PER_FLAG - 1) / NODES_PER_FLAG;
    int *d_edges, *d_frontier, *d_next, *d_size;
    Flags *d_visited;
    CUDA_CHECK(cudaMalloc(&d_edges, edges.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_visited, flags * sizeof(Flags)));
    CUDA_CHECK(cudaMalloc(&d_frontier, nodes * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_next, nodes * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_size, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_visited, 0, flags * sizeof(Flags)));
    Flags first = 1;
    int root = 0, size = 1, found = 1;
    CUDA_CHECK(cudaMemcpy(d_visited, &first, sizeof(first), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_frontier, &root, sizeof(root), cudaMemcpyHostToDevice));
    while (size > 0) {
        CUDA_CHECK(cudaMemset(d_size, 0, sizeof(int)));
        expand<<<(size + 255) / 256, 256>>>(d_edges, degree, d_visited, d_frontier, size, d_next, d_size);
        CUDA_CHECK(cudaMemcpy(&size, d_size, sizeof(int), cudaMemcpyDeviceToHost));
        std::swap(d_frontier, d_next);
        found += size;
    }
    // The same on the host.
    std::vector<char> known(nodes);
    std::vector<int> queue{0};
    known[0] = 1;
    for (size_t at = 0; at < queue.size(); ++at) {
        for (int k = 0; k < degree; ++k) {
            int other = edges[static_cast<size_t>(queue[at]) * degree + k];
            if (!known[other]) {
                known[other] = 1;
                queue.push_back(other);
            }
        }
    }
    std::printf("%d of %d nodes found\n", found, nodes);
    return finish("visited", found == static_cast<int>(queue.size()));
}
