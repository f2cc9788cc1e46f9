#include "scene.h"

#include <algorithm>
#include <limits>

namespace {

constexpr int LEAF_TRIANGLES = 4;

struct Box {
    float3 low{std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
               std::numeric_limits<float>::max()};
    float3 high{std::numeric_limits<float>::lowest(), std::numeric_limits<float>::lowest(),
                std::numeric_limits<float>::lowest()};

    void include(float3 point)
    {
        low = {std::min(low.x, point.x), std::min(low.y, point.y), std::min(low.z, point.z)};
        high = {std::max(high.x, point.x), std::max(high.y, point.y), std::max(high.z, point.z)};
    }
};

float3 sum(float3 a, float3 b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

float along(float3 vector, int axis)
{
    return axis == 0 ? vector.x : axis == 1 ? vector.y : vector.z;
}

float middle(const Triangle &triangle, int axis)
{
    return 3 * along(triangle.a, axis) + along(triangle.ab, axis) + along(triangle.ac, axis);
}

void build(Scene &scene, int node, int first, int count)
{
    Box box;
    for (int i = first; i < first + count; ++i) {
        const Triangle &triangle = scene.triangles[i];
        box.include(triangle.a);
        box.include(sum(triangle.a, triangle.ab));
        box.include(sum(triangle.a, triangle.ac));
    }
    if (count <= LEAF_TRIANGLES) {
        scene.nodes[node] = {box.low, first, box.high, count};
        return;
    }
    float3 size{box.high.x - box.low.x, box.high.y - box.low.y, box.high.z - box.low.z};
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    auto begin = scene.triangles.begin() + first;
    std::stable_sort(begin, begin + count, [axis](const Triangle &left, const Triangle &right) {
        return middle(left, axis) < middle(right, axis);
    });
    int children = static_cast<int>(scene.nodes.size());
    scene.nodes[node] = {box.low, children, box.high, 0};
    scene.nodes.resize(children + 2);
    build(scene, children, first, count / 2);
    build(scene, children + 1, first + count / 2, count - count / 2);
}

} // namespace

void build_bvh(Scene &scene)
{
    scene.nodes.assign(1, BvhNode{});
    build(scene, 0, 0, static_cast<int>(scene.triangles.size()));
}
