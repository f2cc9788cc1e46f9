// Breadth-first search from node 0 of a generated graph, one thread per node and one pair of launches
// per level.
//
// Shows divergence and irregular access: only the lanes of the frontier have work, and their
// neighbours lie anywhere. For n nodes, a multiple of 32, and l levels:
//   bfs_expand: l·n/32 loads of the frontier (32 lanes, 1 byte each: 1 sector)
//               one load of a node per frontier warp and level; each node is in the frontier once,
//               so the lanes of those loads are the nodes reached, and the lanes of the edge loads
//               the edges out of them
//   bfs_commit: l·n/32 loads of the next frontier (1 sector)
//
// usage: bfs [nodes = 16384] [edges per node = 6]
#include "../common/common.h"

#include <vector>

struct Node {
    int first_edge;
    int edges;
};

__global__ void bfs_expand(const Node *graph_nodes, const int *graph_edges, bool *frontier, bool *next,
                           const bool *visited, int *cost, int nodes)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < nodes && frontier[id]) {
        frontier[id] = false;
        int first = graph_nodes[id].first_edge;
        int last = first + graph_nodes[id].edges;
        int reached = cost[id] + 1;
        for (int edge = first; edge < last; ++edge) {
            int neighbour = graph_edges[edge];
            if (!visited[neighbour]) {
                cost[neighbour] = reached;
                next[neighbour] = true;
            }
        }
    }
}

__global__ void bfs_commit(bool *frontier, bool *next, bool *visited, bool *again, int nodes)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < nodes && next[id]) {
        frontier[id] = true;
        visited[id] = true;
        *again = true;
        next[id] = false;
    }
}

struct Graph {
    std::vector<Node> nodes;
    std::vector<int> edges;
};

// Edges go to random nodes; one more leads to the next node of a ring of 64, so that most of the graph hangs
// together and levels differ in size.
static Graph generate(int count, int edges_per_node)
{
    Graph graph;
    Random random(2024);
    for (int id = 0; id < count; ++id) {
        int edges = 1 + static_cast<int>(random.below(2 * edges_per_node - 1));
        graph.nodes.push_back({static_cast<int>(graph.edges.size()), edges});
        graph.edges.push_back(id / 64 * 64 + (id + 1) % 64 < count ? id / 64 * 64 + (id + 1) % 64 : id);
        for (int edge = 1; edge < edges; ++edge) {
            graph.edges.push_back(static_cast<int>(random.below(count)));
        }
    }
    return graph;
}

static std::vector<int> search_on_host(const Graph &graph)
{
    std::vector<int> cost(graph.nodes.size(), -1), queue{0};
    cost[0] = 0;
    for (size_t at = 0; at < queue.size(); ++at) {
        const Node &node = graph.nodes[queue[at]];
        for (int edge = node.first_edge; edge < node.first_edge + node.edges; ++edge) {
            int neighbour = graph.edges[edge];
            if (cost[neighbour] < 0) {
                cost[neighbour] = cost[queue[at]] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    return cost;
}

struct DeviceGraph {
    Node *nodes;
    int *edges;
};

static DeviceGraph upload(const Graph &graph)
{
    DeviceGraph d_graph;
    size_t node_bytes = graph.nodes.size() * sizeof(Node), edge_bytes = graph.edges.size() * sizeof(int);
    CUDA_CHECK(cudaMalloc(&d_graph.nodes, node_bytes));
    CUDA_CHECK(cudaMalloc(&d_graph.edges, edge_bytes));
    CUDA_CHECK(cudaMemcpy(d_graph.nodes, graph.nodes.data(), node_bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_graph.edges, graph.edges.data(), edge_bytes, cudaMemcpyHostToDevice));
    return d_graph;
}

static std::vector<int> search_on_device(const Graph &graph, int &levels)
{
    int nodes = static_cast<int>(graph.nodes.size());
    DeviceGraph d_graph = upload(graph);
    bool *d_frontier, *d_next, *d_visited, *d_again;
    int *d_cost;
    CUDA_CHECK(cudaMalloc(&d_frontier, nodes * sizeof(bool)));
    CUDA_CHECK(cudaMalloc(&d_next, nodes * sizeof(bool)));
    CUDA_CHECK(cudaMalloc(&d_visited, nodes * sizeof(bool)));
    CUDA_CHECK(cudaMalloc(&d_again, sizeof(bool)));
    CUDA_CHECK(cudaMalloc(&d_cost, nodes * sizeof(int)));

    const bool yes = true, no = false;
    const int zero = 0;
    CUDA_CHECK(cudaMemset(d_frontier, 0, nodes));
    CUDA_CHECK(cudaMemset(d_next, 0, nodes));
    CUDA_CHECK(cudaMemset(d_visited, 0, nodes));
    CUDA_CHECK(cudaMemset(d_cost, 0xff, nodes * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_frontier, &yes, sizeof yes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_visited, &yes, sizeof yes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_cost, &zero, sizeof zero, cudaMemcpyHostToDevice));

    const int threads = 256;
    const int blocks = (nodes + threads - 1) / threads;
    bool again = true;
    for (levels = 0; again; ++levels) {
        CUDA_CHECK(cudaMemcpy(d_again, &no, sizeof no, cudaMemcpyHostToDevice));
        bfs_expand<<<blocks, threads>>>(d_graph.nodes, d_graph.edges, d_frontier, d_next, d_visited, d_cost, nodes);
        bfs_commit<<<blocks, threads>>>(d_frontier, d_next, d_visited, d_again, nodes);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&again, d_again, sizeof again, cudaMemcpyDeviceToHost));
    }

    std::vector<int> cost(nodes);
    CUDA_CHECK(cudaMemcpy(cost.data(), d_cost, nodes * sizeof(int), cudaMemcpyDeviceToHost));
    for (bool *flags : {d_frontier, d_next, d_visited, d_again}) {
        CUDA_CHECK(cudaFree(flags));
    }
    CUDA_CHECK(cudaFree(d_cost));
    CUDA_CHECK(cudaFree(d_graph.nodes));
    CUDA_CHECK(cudaFree(d_graph.edges));
    return cost;
}

int main(int argc, char **argv)
{
    int nodes = argument(argc, argv, 1, "nodes", 16384, 2);
    int edges_per_node = argument(argc, argv, 2, "edges per node", 6);
    Graph graph = generate(nodes, edges_per_node);
    std::vector<int> expected = search_on_host(graph);
    size_t reached = 0, edges = 0;
    for (size_t id = 0; id < expected.size(); ++id) {
        reached += expected[id] >= 0;
        edges += expected[id] >= 0 ? graph.nodes[id].edges : 0;
    }
    int levels = 0;
    std::vector<int> cost = search_on_device(graph, levels);
    std::printf("%zu of %d nodes reached over %zu edges in %d levels\n", reached, nodes, edges, levels);
    return finish("bfs", all_equal("cost", cost.data(), expected.data(), expected.size()));
}
