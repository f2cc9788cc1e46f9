// Windows of 7 x 7 elements of three floats each, two elements apart; a thread sums 4 x 4 windows. Without SWAP the
// lanes of a warp have windows below each other, with SWAP next to each other. A thread uses most of a sector again.
#include "test.h"

const int WIDTH = 264;

__global__ void windows(const float *in, float *out)
{
#ifdef SWAP
    int row = threadIdx.y, column = threadIdx.x;
#else
    int row = threadIdx.x, column = threadIdx.y;
#endif
    float sum = 0;
    for (int window = 0; window < 16; ++window) {
        int top = 2 * (row * 4 + window / 4), left = 2 * (column * 4 + window % 4);
        for (int i = 0; i < 7 * 7 * 3; ++i) {
            int below = i / 21, beside = i % 21;
            sum += in[((top + below) * WIDTH + left) * 3 + beside];
        }
    }
    out[(blockIdx.x * 32 + threadIdx.y) * 32 + threadIdx.x] = sum;
}

int main()
{
    const int blocks = 1, elements = 3 * WIDTH * WIDTH;
    std::vector<float> ones(elements, 1.0f), sums(blocks * 1024);
    float *in, *out;
    CHECK(cudaMalloc(&in, elements * sizeof(float)));
    CHECK(cudaMalloc(&out, sums.size() * sizeof(float)));
    CHECK(cudaMemcpy(in, ones.data(), elements * sizeof(float), cudaMemcpyHostToDevice));
    windows<<<blocks, dim3(32, 32)>>>(in, out);
    CHECK(cudaMemcpy(sums.data(), out, sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float sum : sums) {
        EXPECT(sum == 16 * 7 * 7 * 3);
    }
    return done("swapped_windows");
}
