// flags: -Xcompiler -pthread
// Several host threads that allocate, launch and copy at the same time.
#include "test.h"

#include <atomic>
#include <thread>

__global__ void work(int *values, int id, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        values[i] = values[i] * 3 + id;
    }
}

static std::atomic<int> wrong{0};

static void run(int id)
{
    const int n = 5000 + 100 * id;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (int round = 0; round < 5; ++round) {
        std::vector<int> values(n);
        for (int i = 0; i < n; ++i) {
            values[i] = i + round;
        }
        int *d_values;
        CHECK(cudaMalloc(&d_values, n * sizeof(int)));
        CHECK(cudaMemcpyAsync(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream));
        work<<<4, 128, 0, stream>>>(d_values, id, n);
        work<<<4, 128, 0, stream>>>(d_values, id, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(values.data(), d_values, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaFree(d_values));
        for (int i = 0; i < n; ++i) {
            wrong += values[i] != ((i + round) * 3 + id) * 3 + id;
        }
    }
    // Errors belong to the thread that makes them.
    if (id == 1) {
        EXPECT_ERROR(cudaFree(&wrong), cudaErrorInvalidValue);
    } else {
        EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
    }
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back(run, id);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT(wrong == 0);
    return done("host_threads");
}
