// Pitched allocations and two-dimensional copies and fills.
#include "test.h"

__global__ void scale(float *rows, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        float *row = reinterpret_cast<float *>(reinterpret_cast<char *>(rows) + y * pitch);
        row[x] = row[x] * 2 + y;
    }
}

int main()
{
    const int width = 45, height = 13;
    float *rows;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
    EXPECT(pitch >= width * sizeof(float) && pitch % 256 == 0);
    // The host rows lie further apart than they are wide.
    const int stride = 50;
    std::vector<float> host(stride * height, -1), back(stride * height, -2);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            host[y * stride + x] = x + 0.5f * y;
        }
    }
    CHECK(cudaMemcpy2D(rows, pitch, host.data(), stride * sizeof(float), width * sizeof(float), height,
                       cudaMemcpyHostToDevice));
    scale<<<dim3(3, 4), dim3(16, 4)>>>(rows, pitch, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(back.data(), stride * sizeof(float), rows, pitch, width * sizeof(float), height,
                       cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < stride; ++x) {
            float want = x < width ? 2 * (x + 0.5f * y) + y : -2;
            if (back[y * stride + x] != want) {
                std::fprintf(stderr, "row %d column %d is %g, expected %g\n", y, x, back[y * stride + x], want);
                ++failures;
            }
        }
    }

    CHECK(cudaMemset2D(rows, pitch, 0x40, 10, 5));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    std::vector<unsigned char> bytes(20 * 6, 1);
    CHECK(cudaMemcpy2DAsync(bytes.data(), 20, rows, pitch, 12, 6, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    for (int y = 0; y < 6; ++y) {
        EXPECT((bytes[20 * y] == 0x40) == (y < 5) && bytes[20 * y + 12] == 1);
        EXPECT(y == 5 || (bytes[20 * y + 9] == 0x40));
    }
    EXPECT_ERROR(cudaMemcpy2D(back.data(), 4, rows, pitch, 8, 2, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
    cudaGetLastError();
    CHECK(cudaFree(rows));
    return done("memory_2d");
}
