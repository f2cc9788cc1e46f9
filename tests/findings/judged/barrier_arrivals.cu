// All threads of a block arrive at a barrier object and wait for each other, as a pipeline does in each stage: no update of data, which
// could be combined. The counter next to it is one.
#include <cstdio>
#include <vector>

__device__ unsigned shared_address(void *pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

__device__ void arrive(unsigned barrier) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(barrier) : "memory"); // ARRIVAL
}

__device__ bool has_completed(unsigned barrier, unsigned phase) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(barrier), "r"(phase)
                 : "memory");
    return done;
}

__global__ void stages(const float *in, float *out, unsigned long long *large, int count) {
    __shared__ unsigned long long barrier, above;
    __shared__ float stage[256];
    unsigned place = shared_address(&barrier);
    if (threadIdx.x == 0) {
        above = 0;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place), "r"(256) : "memory");
    }
    __syncthreads();
    float sum = 0;
    for (int step = 0; step < count; ++step) {
        float value = in[(blockIdx.x * count + step) * blockDim.x + threadIdx.x];
        stage[threadIdx.x] = value;
        arrive(place);
        while (!has_completed(place, (2 * step) & 1)) {}
        sum += stage[(threadIdx.x + 1) % blockDim.x];
        atomicAdd(&above, value > 0.5f ? 2ull : 1ull); // COUNTER
        arrive(place);
        while (!has_completed(place, (2 * step + 1) & 1)) {}
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) large[blockIdx.x] = above;
}

int main() {
    const int blocks = 16, threads = 256, count = 8;
    std::vector<float> host(blocks * threads * count, 0.75f);
    float *in, *out;
    unsigned long long *large, first;
    cudaMalloc(&in, host.size() * sizeof(float));
    cudaMalloc(&out, blocks * threads * sizeof(float));
    cudaMalloc(&large, blocks * sizeof(first));
    cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    stages<<<blocks, threads>>>(in, out, large, count);
    cudaMemcpy(&first, large, sizeof(first), cudaMemcpyDeviceToHost);
    std::printf("%llu\n", first);
    return first != 2ull * threads * count;
}
