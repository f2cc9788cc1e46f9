// Rays through a tree of bounding boxes, a thread per ray. Each ray reads other nodes than its neighbours, so what counts is how
// many sectors a node takes: as eight arrays, one for each number of a node, a visit touches eight; with -DFIXED a node is 32
// bytes in one. Read with docs/cases/bvh-layout.md; the case is that of "profiner".
//
// usage: bvh_layout [rays = 8192] [levels = 11]
#include "../common/common.h"

#include <vector>

// A box, where to go on if the ray misses it (else to the next node), and a leaf's value. Nodes lie in depth-first order.
struct alignas(32) Node {
    float low[3], high[3];
    int skip;
    float value;
};

#ifdef FIXED
struct Tree {
    const Node *nodes;

    __device__ Node fetch(int at) const
    {
        const float4 *halves = reinterpret_cast<const float4 *>(nodes + at);
        float4 one = halves[0], two = halves[1];
        return {{one.x, one.y, one.z}, {one.w, two.x, two.y}, __float_as_int(two.z), two.w};
    }
};
#else
struct Tree {
    const float *low_x, *low_y, *low_z, *high_x, *high_y, *high_z;
    const int *skip;
    const float *value;

    __device__ Node fetch(int at) const
    {
        return {{low_x[at], low_y[at], low_z[at]}, {high_x[at], high_y[at], high_z[at]}, skip[at], value[at]};
    }
};
#endif

// Whether the ray (from a point along +z) meets the box.
__host__ __device__ inline bool meets(const Node &node, float x, float y)
{
    return x >= node.low[0] && x <= node.high[0] && y >= node.low[1] && y <= node.high[1];
}

__global__ void trace(Tree tree, int nodes, const float2 *rays, float *sums, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    float2 ray = rays[i];
    float sum = 0;
    for (int at = 0; at < nodes;) {
        Node node = tree.fetch(at);
        bool hit = meets(node, ray.x, ray.y);
        sum += hit ? node.value : 0;
        at = hit ? at + 1 : node.skip;
    }
    sums[i] = sum;
}

// Appends the tree of a box that is halved so many times, alternately along x and y; halves overlap a little, as boxes of real
// scenes do.
static void build(std::vector<Node> &nodes, Node box, int levels, Random &random)
{
    size_t at = nodes.size();
    box.value = levels == 0 ? random.uniform() : 0;
    nodes.push_back(box);
    if (levels > 0) {
        int axis = levels % 2;
        float size = box.high[axis] - box.low[axis];
        float middle = box.low[axis] + size * (0.3f + 0.4f * random.uniform());
        Node one = box, two = box;
        one.high[axis] = middle + 0.1f * size;
        two.low[axis] = middle - 0.1f * size;
        build(nodes, one, levels - 1, random);
        build(nodes, two, levels - 1, random);
    }
    nodes[at].skip = static_cast<int>(nodes.size());
}

static float expected(const std::vector<Node> &nodes, float2 ray)
{
    float sum = 0;
    for (size_t at = 0; at < nodes.size();) {
        bool hit = meets(nodes[at], ray.x, ray.y);
        sum += hit ? nodes[at].value : 0;
        at = hit ? at + 1 : nodes[at].skip;
    }
    return sum;
}

template <typename T>
static T *on_device(const std::vector<T> &values)
{
    T *d_values;
    CUDA_CHECK(cudaMalloc(&d_values, values.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(d_values, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d_values;
}

int main(int argc, char **argv)
{
    int count = argument(argc, argv, 1, "rays", 8192);
    int levels = argument(argc, argv, 2, "levels", 11);
    Random random(5);
    std::vector<Node> nodes;
    build(nodes, {{0, 0, 0}, {1, 1, 1}, 0, 0}, levels < 20 ? levels : 20, random);
    std::vector<float2> rays(count);
    for (float2 &ray : rays) ray = {random.uniform(), random.uniform()};
    float2 *d_rays = on_device(rays);
    float *d_sums = on_device(std::vector<float>(count));
#ifdef FIXED
    Node *d_nodes = on_device(nodes);
    Tree tree{d_nodes};
#else
    std::vector<float> columns[7];
    std::vector<int> skip;
    for (const Node &node : nodes) {
        for (int axis = 0; axis < 3; ++axis) {
            columns[axis].push_back(node.low[axis]);
            columns[3 + axis].push_back(node.high[axis]);
        }
        columns[6].push_back(node.value);
        skip.push_back(node.skip);
    }
    float *d_low_x = on_device(columns[0]), *d_low_y = on_device(columns[1]), *d_low_z = on_device(columns[2]);
    float *d_high_x = on_device(columns[3]), *d_high_y = on_device(columns[4]), *d_high_z = on_device(columns[5]);
    float *d_value = on_device(columns[6]);
    int *d_skip = on_device(skip);
    Tree tree{d_low_x, d_low_y, d_low_z, d_high_x, d_high_y, d_high_z, d_skip, d_value};
#endif
    trace<<<(count + 127) / 128, 128>>>(tree, static_cast<int>(nodes.size()), d_rays, d_sums, count);
    CUDA_CHECK(cudaGetLastError());
    std::vector<float> sums(count), wanted;
    CUDA_CHECK(cudaMemcpy(sums.data(), d_sums, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (float2 ray : rays) wanted.push_back(expected(nodes, ray));
    return finish("bvh_layout", all_close("sums", sums.data(), wanted.data(), count));
}
