// A small ray tracer: a generated mesh in a bounding volume hierarchy, shadows and one reflection.
//
// Shows a kernel that reads allocations of different kinds (nodes, triangles, materials) along paths
// that diverge, with a stack of its own in local memory. Known in advance, for a width and
// height that are multiples of 8:
//   framebuffer: width·height/32 stores of 16 bytes per lane, 16 sectors each (four rows of 128 bytes)
// Given a third argument, writes the picture to it as PPM.
//
// build: raytracer.cpp render.cu mesh.cpp bvh.cpp
// usage: raytracer [width = 96] [detail = 24] [picture.ppm]
#include "../common/common.h"
#include "scene.h"

#include <algorithm>

static bool write_picture(const char *path, const std::vector<float4> &picture, int width, int height)
{
    std::FILE *file = std::fopen(path, "wb");
    if (!file) {
        std::perror(path);
        return false;
    }
    std::fprintf(file, "P6\n%d %d\n255\n", width, height);
    for (const float4 &pixel : picture) {
        for (float value : {pixel.x, pixel.y, pixel.z}) {
            std::fputc(static_cast<int>(255.0f * std::sqrt(std::min(value, 1.0f))), file);
        }
    }
    return std::fclose(file) == 0;
}

// Host and device round differently, so that a ray may pass an edge on the other side: nearly all
// pixels must agree.
static bool similar(const std::vector<float4> &picture, const std::vector<float4> &expected)
{
    size_t different = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        float error = std::fabs(picture[i].x - expected[i].x) + std::fabs(picture[i].y - expected[i].y) +
                      std::fabs(picture[i].z - expected[i].z) + std::fabs(picture[i].w - expected[i].w);
        different += !(error < 1e-2f);
    }
    std::printf("%zu of %zu pixels differ\n", different, expected.size());
    return different * 200 <= expected.size();
}

int main(int argc, char **argv)
{
    int width = argument(argc, argv, 1, "width", 96, 8);
    int height = width * 3 / 4;
    int detail = argument(argc, argv, 2, "detail", 24, 2);
    Scene scene;
    generate_mesh(scene, detail);
    build_bvh(scene);
    std::printf("%zu triangles, %zu nodes\n", scene.triangles.size(), scene.nodes.size());
    std::vector<float4> picture = render(scene, width, height);
    if (argc > 3 && !write_picture(argv[3], picture, width, height)) {
        return 1;
    }
    return finish("raytracer", similar(picture, render_on_host(scene, width, height)));
}
