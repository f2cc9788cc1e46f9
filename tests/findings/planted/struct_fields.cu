// Moves particles. Planted: the positions lie in structures of 32 bytes of which the kernel uses 8. Fixed: an array of each
// member.
#include <cstdio>
#include <vector>

struct Particle {
    float x, y, z, mass;
    float vx, vy, vz, charge;
};

#ifdef CURED
__global__ void drift(float *x, const float *vx, float step, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += step * vx[i];
}
#else
__global__ void drift(Particle *particles, float step, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) particles[i].x += step * particles[i].vx; // PLANTED
}
#endif

int main() {
    const int n = 1 << 18;
#ifdef CURED
    std::vector<float> host(n, 1.0f);
    float *x, *vx;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&vx, n * sizeof(float));
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(vx, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    drift<<<n / 256, 256>>>(x, vx, 0.5f, n);
    cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[7]);
    cudaFree(x);
    cudaFree(vx);
#else
    std::vector<Particle> host(n);
    for (auto &particle : host) particle = {1, 1, 1, 1, 1, 1, 1, 1};
    Particle *particles;
    cudaMalloc(&particles, n * sizeof(Particle));
    cudaMemcpy(particles, host.data(), n * sizeof(Particle), cudaMemcpyHostToDevice);
    drift<<<n / 256, 256>>>(particles, 0.5f, n);
    cudaMemcpy(host.data(), particles, n * sizeof(Particle), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[7].x);
    cudaFree(particles);
#endif
}
