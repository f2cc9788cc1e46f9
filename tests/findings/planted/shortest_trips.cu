// The eight shortest trips that each thread sees. Planted: a structure keeps them in an array whose index is a variable of a loop, so
// that the structure lies in local memory although all functions are inlined. Fixed: the loop over the array is unrolled.
#include <cstdio>
#include <vector>

#define KEPT 8

struct Shortest {
    float minutes[KEPT];

    __device__ __forceinline__ void clear() {
        for (int k = 0; k < KEPT; ++k) minutes[k] = 1e30f;
    }

    __device__ __forceinline__ void offer(float trip) {
        if (trip >= minutes[KEPT - 1]) return;
#ifdef CURED
#pragma unroll
        for (int k = KEPT - 1; k > 0; --k) minutes[k] = fminf(minutes[k], fmaxf(minutes[k - 1], trip));
        minutes[0] = fminf(minutes[0], trip);
#else
        int place = KEPT - 1;
        for (; place > 0 && minutes[place - 1] > trip; --place) // PLANTED
            minutes[place] = minutes[place - 1];                // PLANTED
        minutes[place] = trip;
#endif
    }
};

__global__ void shortest(const float *trips, float *result, int n) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    Shortest kept;
    kept.clear();
    for (int i = thread; i < n; i += threads) kept.offer(trips[i]);
    for (int k = 0; k < KEPT; ++k) result[k * threads + thread] = kept.minutes[k];
}

int main() {
    const int n = 1 << 20, blocks = 136, block = 128;
    std::vector<float> host(n), lists(KEPT * blocks * block);
    unsigned state = 7;
    for (auto &trip : host) trip = float((state = state * 1664525u + 1013904223u) >> 8) / 65536.0f;
    float *trips, *result;
    cudaMalloc(&trips, n * sizeof(float));
    cudaMalloc(&result, lists.size() * sizeof(float));
    cudaMemcpy(trips, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    shortest<<<blocks, block>>>(trips, result, n);
    cudaMemcpy(lists.data(), result, lists.size() * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", lists[0]);
    cudaFree(trips);
    cudaFree(result);
}
