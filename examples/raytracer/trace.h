// Following a ray through the hierarchy, for the device and for the reference on the host.
#pragma once

#include "scene.h"

#include <cmath>
#include <cuda_runtime.h>

#define BOTH __host__ __device__ inline

BOTH float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
BOTH float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
BOTH float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
BOTH float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
BOTH float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
BOTH float3 normalised(float3 a) { return a * (1.0f / sqrtf(dot(a, a))); }

struct Ray {
    float3 origin, direction, inverse;
};

struct Hit {
    float distance;
    int triangle;
};

BOTH Ray make_ray(float3 origin, float3 direction)
{
    return {origin, direction, make_float3(1.0f / direction.x, 1.0f / direction.y, 1.0f / direction.z)};
}

BOTH bool meets_box(const BvhNode &node, const Ray &ray, float limit)
{
    float3 low = node.low - ray.origin, high = node.high - ray.origin;
    float x0 = low.x * ray.inverse.x, x1 = high.x * ray.inverse.x;
    float y0 = low.y * ray.inverse.y, y1 = high.y * ray.inverse.y;
    float z0 = low.z * ray.inverse.z, z1 = high.z * ray.inverse.z;
    float enter = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0f));
    float leave = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fminf(fmaxf(z0, z1), limit));
    return enter <= leave * 1.00001f;
}

// Möller and Trumbore's test.
BOTH bool meets_triangle(const Triangle &triangle, const Ray &ray, float &distance)
{
    float3 p = cross(ray.direction, triangle.ac);
    float determinant = dot(triangle.ab, p);
    if (fabsf(determinant) < 1e-9f) {
        return false;
    }
    float inverse = 1.0f / determinant;
    float3 t = ray.origin - triangle.a;
    float u = dot(t, p) * inverse;
    if (u < 0.0f || u > 1.0f) {
        return false;
    }
    float3 q = cross(t, triangle.ab);
    float v = dot(ray.direction, q) * inverse;
    if (v < 0.0f || u + v > 1.0f) {
        return false;
    }
    float found = dot(triangle.ac, q) * inverse;
    if (found < 1e-3f || found >= distance) {
        return false;
    }
    distance = found;
    return true;
}

// The nearest triangle before `limit`; `triangle` is -1 when there is none. With `any`, the first
// one found.
BOTH Hit nearest(const SceneView &scene, const Ray &ray, float limit, bool any)
{
    int stack[48];
    int depth = 0;
    Hit hit{limit, -1};
    stack[depth++] = 0;
    while (depth > 0) {
        const BvhNode &node = scene.nodes[stack[--depth]];
        if (!meets_box(node, ray, hit.distance)) {
            continue;
        }
        if (node.count == 0) {
            stack[depth++] = node.first;
            stack[depth++] = node.first + 1;
            continue;
        }
        for (int i = 0; i < node.count; ++i) {
            if (meets_triangle(scene.triangles[node.first + i], ray, hit.distance)) {
                hit.triangle = node.first + i;
                if (any) {
                    return hit;
                }
            }
        }
    }
    return hit;
}

BOTH float4 shade(const SceneView &scene, int x, int y, int width, int height)
{
    float3 eye = make_float3(0.0f, 2.4f, -6.0f);
    float3 target = make_float3((x + 0.5f - 0.5f * width) / height, (0.5f * height - y - 0.5f) / height - 0.25f, 1.2f);
    Ray ray = make_ray(eye, normalised(target));
    float3 colour = make_float3(0, 0, 0);
    float weight = 1.0f;
    for (int bounce = 0; bounce < 2; ++bounce) {
        Hit hit = nearest(scene, ray, 1e30f, false);
        if (hit.triangle < 0) {
            colour = colour + make_float3(0.5f, 0.6f, 0.8f) * weight;
            break;
        }
        const Triangle &triangle = scene.triangles[hit.triangle];
        const Material &material = scene.materials[triangle.material];
        float3 normal = normalised(cross(triangle.ab, triangle.ac));
        if (dot(normal, ray.direction) > 0) {
            normal = normal * -1.0f;
        }
        float3 point = ray.origin + ray.direction * hit.distance;
        float3 to_light = scene.light - point;
        float distance = sqrtf(dot(to_light, to_light));
        Ray shadow = make_ray(point + normal * 1e-3f, to_light * (1.0f / distance));
        float lit = fmaxf(dot(normal, shadow.direction), 0.0f);
        if (lit > 0 && nearest(scene, shadow, distance, true).triangle >= 0) {
            lit = 0;
        }
        colour = colour + material.colour * (weight * (1.0f - material.shine) * (0.2f + 0.8f * lit));
        weight *= material.shine;
        if (weight <= 0) {
            break;
        }
        ray = make_ray(point + normal * 1e-3f, ray.direction - normal * (2.0f * dot(normal, ray.direction)));
    }
    return make_float4(colour.x, colour.y, colour.z, 1.0f);
}
