// Connected parts by labels that spread. Planted: all labels come to the host in each round, which tests whether any
// has changed. Fixed: the kernel reports it.
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

const int width = 512, rows = 256;
const size_t bytes = sizeof(int) * width * rows;

__global__ void spread(const int *labels, int *next, int *changed) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, at = y * width + x, least = labels[at];
    least = min(least, labels[max(at - 1, y * width)]);
    if (y > 0) least = min(least, labels[at - width]);
    next[at] = least;
    bool moved = __syncthreads_or(least != labels[at]);
    if (moved && threadIdx.x == 0) *changed = 1;
}

int main() {
    std::vector<int> host(width * rows), before;
    for (size_t at = 0; at < host.size(); at++) host[at] = int(at);
    int *labels, *next, *changed;
    cudaMalloc(&labels, bytes);
    cudaMalloc(&next, bytes);
    cudaMalloc(&changed, sizeof(int));
    cudaMemcpy(labels, host.data(), bytes, cudaMemcpyHostToDevice);
    bool again = true;
    for (int round = 0; again && round < 8; round++) {
        cudaMemset(changed, 0, sizeof(int));
        spread<<<dim3(width / 128, rows), 128>>>(labels, next, changed);
#ifdef CURED
        int flag;
        cudaMemcpy(&flag, changed, sizeof(int), cudaMemcpyDeviceToHost);
        again = flag != 0;
#else
        before = host;
        cudaMemcpy(host.data(), next, bytes, cudaMemcpyDeviceToHost); // PLANTED
        again = std::memcmp(host.data(), before.data(), bytes) != 0;
#endif
        std::swap(labels, next);
    }
    cudaMemcpy(host.data(), labels, bytes, cudaMemcpyDeviceToHost);
    std::printf("%d\n", host[width + 5]);
}
