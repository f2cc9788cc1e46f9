// The energies of bodies. Planted: a structure of 16 bytes is read member by member, all of it, by one assignment. Fixed: an array
// of each member.
#include <cstdio>
#include <vector>

struct Body {
    float x, y, z, mass;
};

#ifdef CURED
__global__ void energies(const float *x, const float *y, const float *z, const float *mass, float *energy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    energy[i] = mass[i] * (x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
}
#else
__global__ void energies(const Body *bodies, float *energy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Body body = bodies[i]; // PLANTED
    energy[i] = body.mass * (body.x * body.x + body.y * body.y + body.z * body.z);
}
#endif

int main() {
    const int n = 1 << 18;
    std::vector<Body> host(n, Body{1, 2, 3, 4});
    float *energy;
    cudaMalloc(&energy, n * sizeof(float));
#ifdef CURED
    float *parts[4];
    for (float *&part : parts) {
        cudaMalloc(&part, n * sizeof(float));
        cudaMemset(part, 0, n * sizeof(float));
    }
    energies<<<n / 256, 256>>>(parts[0], parts[1], parts[2], parts[3], energy, n);
#else
    Body *bodies;
    cudaMalloc(&bodies, n * sizeof(Body));
    cudaMemcpy(bodies, host.data(), n * sizeof(Body), cudaMemcpyHostToDevice);
    energies<<<n / 256, 256>>>(bodies, energy, n);
    cudaFree(bodies);
#endif
    float first;
    cudaMemcpy(&first, energy, sizeof first, cudaMemcpyDeviceToHost);
    std::printf("%g\n", first);
}
