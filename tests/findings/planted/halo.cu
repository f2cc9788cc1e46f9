// A filter along a signal, each block with a border of its own. Planted: the border is four elements wide, so that every block
// begins in the middle of a sector. Fixed: eight elements.
#include <cstdio>
#include <vector>

#ifdef CURED
#define BORDER 8
#else
#define BORDER 4
#endif
#define TAKEN (256 - 2 * BORDER)

__global__ void filter(const float *signal, float *filtered, int n) {
    __shared__ float part[256];
    int at = (int)(blockIdx.x * TAKEN) - BORDER + (int)threadIdx.x;
    if (at >= 0 && at < n) part[threadIdx.x] = signal[at]; // PLANTED
    __syncthreads();
    if (threadIdx.x < BORDER || threadIdx.x >= 256 - BORDER || at >= n) return;
    filtered[at] = 0.5f * part[threadIdx.x] + 0.25f * (part[threadIdx.x - BORDER] + part[threadIdx.x + BORDER]); // PLANTED
}

int main() {
    const int n = TAKEN * 4096;
    std::vector<float> host(n, 3.0f);
    float *signal, *filtered;
    cudaMalloc(&signal, n * sizeof(float));
    cudaMalloc(&filtered, n * sizeof(float));
    cudaMemcpy(signal, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    filter<<<n / TAKEN, 256>>>(signal, filtered, n);
    cudaMemcpy(host.data(), filtered, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[500]);
    cudaFree(signal);
    cudaFree(filtered);
}
