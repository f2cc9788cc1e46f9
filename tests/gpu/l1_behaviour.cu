// What docs/fidelity.md could not settle with published counters: loads that cross lines, stores to lines that their thread has
// just loaded, and blocks that together come near to L1's capacity. Each launch is a case to be counted; results are checked.
#include "../../examples/common/common.h"

#include <vector>

// Contiguous loads of a warp that begin `shift` words behind a line: four sectors, or five of two lines.
__global__ void cross_lines(const float *in, float *out, int shift)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    out[i] = in[i + shift];
}

// Four places `stride` apart are loaded, combined and stored again in place: a step of a butterfly.
__global__ void rewrite(float *data, int stride)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned low = i & (stride - 1), at = (i - low) * 4 + low;
    float a = data[at], b = data[at + stride], c = data[at + 2 * stride], d = data[at + 3 * stride];
    float p = a + c, q = a - c, r = b + d, s = b - d;
    data[at] = p + r;
    data[at + stride] = p - r;
    data[at + 2 * stride] = q + s;
    data[at + 3 * stride] = q - s;
}

// The same within a block's 2048 values, by way of dynamic shared memory.
__global__ void rewrite_by_shared(float *data)
{
    extern __shared__ float part[];
    float *mine = data + blockIdx.x * size_t(2048);
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) {
        part[i] = mine[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) {
        mine[i] = part[i] + part[i ^ 1];
    }
}

// A load, a chain of dependent operations, and the store to the same place.
__global__ void store_late(float *data, int operations)
{
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    float value = data[i];
    for (int step = 0; step < operations; ++step) {
        value = value * 0.5f + 1.0f;
    }
    data[i] = value;
}

// Each block sweeps an array of its own several times.
__global__ void sweep(const float *in, float *out, int words, int rounds)
{
    const float *mine = in + blockIdx.x * size_t(words);
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int i = threadIdx.x; i < words; i += blockDim.x) {
            sum += mine[i];
        }
    }
    out[blockIdx.x * size_t(blockDim.x) + threadIdx.x] = sum;
}

// As binomial options in blocks: a block's array is read and written in shrinking steps, with barriers between.
__global__ void shrink(float *data, int words, int step)
{
    float *mine = data + blockIdx.x * size_t(words);
    for (int length = words; length > 1; length -= step) {
        for (int begin = 0; begin + 1 < length; begin += blockDim.x) {
            int i = begin + threadIdx.x;
            bool inside = i + 1 < length;
            float left = inside ? mine[i] : 0, right = inside ? mine[i + 1] : 0;
            __syncthreads();
            if (inside) {
                mine[i] = 0.5f * (left + right);
            }
        }
        __syncthreads();
    }
}

int main()
{
    // `rewrite` takes a power of two, the largest sweep a little more.
    const size_t count = size_t(9) << 20, power = size_t(1) << 23;
    float *in, *out;
    CUDA_CHECK(cudaMalloc(&in, (count + 32) * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&out, count * sizeof(float)));
    std::vector<float> host(count + 32);
    for (size_t i = 0; i < host.size(); ++i) {
        host[i] = float(i % 1000);
    }
    auto fill = [&] { CUDA_CHECK(cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice)); };
    fill();
    for (int shift : {0, 1, 2, 4, 7, 8, 12, 16, 24, 31}) {
        cross_lines<<<4096, 256>>>(in, out, shift);
    }
    std::vector<float> result(count);
    CUDA_CHECK(cudaMemcpy(result.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < size_t(4096) * 256; ++i) {
        if (result[i] != host[i + 31]) {
            std::fprintf(stderr, "l1_behaviour: %zu is %g\n", i, result[i]);
            return 1;
        }
    }
    for (int stride = 1 << 20; stride >= 256; stride /= 4) {
        rewrite<<<unsigned(power / 4 / 256), 256>>>(in, stride);
    }
    rewrite_by_shared<<<unsigned(power / 2048), 512, 2048 * sizeof(float)>>>(in);
    for (int operations : {0, 64, 512, 4096}) {
        store_late<<<4096, 256>>>(in, operations);
    }
    // With 256 threads eight blocks are resident, with 1024 two: the same bytes in all.
    for (int kib : {16, 20, 22, 24, 26, 28, 30, 32}) {
        sweep<<<132 * 8, 256>>>(in, out, kib * 256, 8);
    }
    for (int kib : {64, 80, 96, 104, 112, 128}) {
        sweep<<<132 * 2, 1024>>>(in, out, kib * 256, 8);
    }
    for (int words : {2048, 4096, 6144, 7168}) {
        shrink<<<132 * 8, 256>>>(in, words, 256);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(in));
    CUDA_CHECK(cudaFree(out));
    std::puts("l1_behaviour: ok");
    return 0;
}
