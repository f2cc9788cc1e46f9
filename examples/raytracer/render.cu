#include "../common/common.h"
#include "trace.h"

#include <vector>

__global__ void render_pixels(SceneView scene, float4 *framebuffer, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        framebuffer[y * width + x] = shade(scene, x, y, width, height);
    }
}

namespace {

struct DeviceMesh {
    BvhNode *nodes;
    Triangle *triangles;
    Material *materials;
};

class Renderer {
public:
    Renderer(const Scene &scene, int width, int height) : width_(width), height_(height), light_(scene.light)
    {
        allocate_mesh(scene);
        CUDA_CHECK(cudaMalloc(&framebuffer_, sizeof(float4) * width * height));
    }

    ~Renderer()
    {
        cudaFree(mesh_.nodes);
        cudaFree(mesh_.triangles);
        cudaFree(mesh_.materials);
        cudaFree(framebuffer_);
    }

    Renderer(const Renderer &) = delete;
    Renderer &operator=(const Renderer &) = delete;

    std::vector<float4> render()
    {
        SceneView view{mesh_.nodes, mesh_.triangles, mesh_.materials, light_};
        dim3 block(8, 8);
        dim3 grid((width_ + block.x - 1) / block.x, (height_ + block.y - 1) / block.y);
        render_pixels<<<grid, block>>>(view, framebuffer_, width_, height_);
        CUDA_CHECK(cudaGetLastError());
        std::vector<float4> picture(static_cast<size_t>(width_) * height_);
        CUDA_CHECK(cudaMemcpy(picture.data(), framebuffer_, sizeof(float4) * picture.size(), cudaMemcpyDeviceToHost));
        return picture;
    }

private:
    void allocate_mesh(const Scene &scene)
    {
        CUDA_CHECK(cudaMalloc(&mesh_.nodes, sizeof(BvhNode) * scene.nodes.size()));
        CUDA_CHECK(cudaMalloc(&mesh_.triangles, sizeof(Triangle) * scene.triangles.size()));
        CUDA_CHECK(cudaMalloc(&mesh_.materials, sizeof(Material) * scene.materials.size()));
        copy(mesh_.nodes, scene.nodes);
        copy(mesh_.triangles, scene.triangles);
        copy(mesh_.materials, scene.materials);
    }

    template <typename T>
    void copy(T *destination, const std::vector<T> &source)
    {
        CUDA_CHECK(cudaMemcpy(destination, source.data(), sizeof(T) * source.size(), cudaMemcpyHostToDevice));
    }

    int width_, height_;
    float3 light_;
    DeviceMesh mesh_{};
    float4 *framebuffer_ = nullptr;
};

} // namespace

std::vector<float4> render(const Scene &scene, int width, int height)
{
    return Renderer(scene, width, height).render();
}

std::vector<float4> render_on_host(const Scene &scene, int width, int height)
{
    SceneView view{scene.nodes.data(), scene.triangles.data(), scene.materials.data(), scene.light};
    std::vector<float4> picture;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            picture.push_back(shade(view, x, y, width, height));
        }
    }
    return picture;
}
