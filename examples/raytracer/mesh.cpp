#include "scene.h"

#include <cmath>

static float3 difference(float3 a, float3 b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

static void add_triangle(Scene &scene, float3 a, float3 b, float3 c, int material)
{
    scene.triangles.push_back({a, difference(b, a), difference(c, a), material});
}

static void add_ground(Scene &scene, int detail)
{
    auto corner = [detail](int i, int j) {
        float x = 8.0f * i / detail - 4.0f, z = 8.0f * j / detail - 4.0f;
        return float3{x, 0.2f * std::sin(1.7f * x) * std::cos(1.3f * z), z};
    };
    for (int i = 0; i < detail; ++i) {
        for (int j = 0; j < detail; ++j) {
            int material = (i / 2 + j / 2) % 2;
            add_triangle(scene, corner(i, j), corner(i, j + 1), corner(i + 1, j), material);
            add_triangle(scene, corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1), material);
        }
    }
}

static void add_sphere(Scene &scene, float3 centre, float radius, int detail, int material)
{
    const float pi = 3.14159265f;
    auto corner = [&](int i, int j) {
        float theta = pi * i / detail, phi = 2 * pi * j / (2 * detail);
        return float3{centre.x + radius * std::sin(theta) * std::cos(phi), centre.y + radius * std::cos(theta),
                      centre.z + radius * std::sin(theta) * std::sin(phi)};
    };
    for (int i = 0; i < detail; ++i) {
        for (int j = 0; j < 2 * detail; ++j) {
            if (i > 0) {
                add_triangle(scene, corner(i, j), corner(i, j + 1), corner(i + 1, j), material);
            }
            if (i + 1 < detail) {
                add_triangle(scene, corner(i, j + 1), corner(i + 1, j + 1), corner(i + 1, j), material);
            }
        }
    }
}

void generate_mesh(Scene &scene, int detail)
{
    scene.materials = {{{0.8f, 0.8f, 0.75f}, 0.0f},
                       {{0.3f, 0.35f, 0.4f}, 0.0f},
                       {{0.9f, 0.2f, 0.15f}, 0.6f},
                       {{0.2f, 0.4f, 0.9f}, 0.3f},
                       {{0.3f, 0.8f, 0.3f}, 0.1f}};
    scene.light = {3.0f, 6.0f, -4.0f};
    add_ground(scene, detail);
    add_sphere(scene, {-1.2f, 0.9f, 0.3f}, 0.8f, detail / 2 + 3, 2);
    add_sphere(scene, {0.7f, 0.7f, -0.6f}, 0.6f, detail / 2 + 3, 3);
    add_sphere(scene, {1.9f, 0.6f, 1.2f}, 0.5f, detail / 2 + 3, 4);
}
