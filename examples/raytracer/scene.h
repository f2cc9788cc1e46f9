// The scene as host and device see it.
#pragma once

#include <vector>
#include <vector_types.h>

struct Triangle {
    float3 a, ab, ac;
    int material;
};

struct Material {
    float3 colour;
    float shine;
};

// Inner node: `count` is 0, the children are `first` and `first + 1`. Leaf: `count` triangles from
// `first` on.
struct BvhNode {
    float3 low;
    int first;
    float3 high;
    int count;
};

// Pointers are device pointers in a kernel, host pointers in the reference.
struct SceneView {
    const BvhNode *nodes;
    const Triangle *triangles;
    const Material *materials;
    float3 light;
};

struct Scene {
    std::vector<BvhNode> nodes;
    std::vector<Triangle> triangles;
    std::vector<Material> materials;
    float3 light;
};

// A wavy ground with spheres on it; `detail` is the number of cells along an edge of the ground.
void generate_mesh(Scene &scene, int detail);
// Sorts the triangles into a bounding volume hierarchy.
void build_bvh(Scene &scene);
// Renders on the device; returns the picture, one float4 per pixel.
std::vector<float4> render(const Scene &scene, int width, int height);
// The same on the host.
std::vector<float4> render_on_host(const Scene &scene, int width, int height);
