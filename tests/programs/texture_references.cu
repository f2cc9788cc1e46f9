// Texture references, which CUDA 12 dropped: bound to linear memory, rows and arrays, and bound anew.
#include "test.h"

texture<float, 1, cudaReadModeElementType> line;
static texture<int2> pairs;
texture<float, 2> plane;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> bytes;
// No kernel uses it.
texture<float, 3> unused;

__global__ void read_line(float *out, int2 *out_pairs, int offset)
{
    int i = threadIdx.x;
    out[i] = tex1Dfetch(line, i + offset);
    out_pairs[i] = tex1Dfetch(pairs, 31 - i);
}

__global__ void read_plane(float *out)
{
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    out[threadIdx.x] = tex2D(plane, x + 0.5f, y + 0.5f) + tex2D(bytes, (x + 1.0f) / 8, (y + 0.5f) / 4);
}

int main()
{
    std::vector<float> values(64);
    std::vector<int2> couples(32);
    for (int i = 0; i < 64; ++i) {
        values[i] = 0.5f * i;
    }
    for (int i = 0; i < 32; ++i) {
        couples[i] = make_int2(i, -i);
    }
    Device<float> memory(values), out(32);
    Device<int2> pair_memory(couples), out_pairs(32);
    size_t offset = 99;
    CHECK(cudaBindTexture(&offset, line, memory, 64 * sizeof(float)));
    EXPECT(offset == 0);
    CHECK(cudaBindTexture(nullptr, pairs, pair_memory, pairs.channelDesc));
    read_line<<<1, 32>>>(out, out_pairs, 0);
    auto found = out.read();
    auto found_pairs = out_pairs.read();
    for (int i = 0; i < 32; ++i) {
        expect_equal("line", found[i], values[i]);
        EXPECT(found_pairs[i].x == 31 - i && found_pairs[i].y == i - 31);
    }
    // From the middle on: the texture begins before it, and the offset is the distance.
    CHECK(cudaBindTexture(&offset, line, memory.pointer + 8, line.channelDesc, 24 * sizeof(float)));
    EXPECT(offset == 32);
    read_line<<<1, 32>>>(out, out_pairs, offset / 4);
    found = out.read();
    for (int i = 0; i < 32; ++i) {
        expect_equal("rebound", found[i], i < 24 ? values[i + 8] : 0.0f);
    }
    CHECK(cudaUnbindTexture(line));
    CHECK(cudaUnbindTexture(&pairs));

    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &plane.channelDesc, 8, 4));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, values.data(), 32, 32, 4, cudaMemcpyHostToDevice));
    CHECK(cudaBindTextureToArray(plane, array));
    std::vector<unsigned char> rows(8 * 4);
    for (int i = 0; i < 32; ++i) {
        rows[i] = 8 * i;
    }
    unsigned char *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, 8, 4));
    CHECK(cudaMemcpy2D(pitched, pitch, rows.data(), 8, 8, 4, cudaMemcpyHostToDevice));
    bytes.normalized = true;
    bytes.filterMode = cudaFilterModeLinear;
    bytes.addressMode[0] = cudaAddressModeWrap;
    CHECK(cudaBindTexture2D(&offset, bytes, pitched, bytes.channelDesc, 8, 4, pitch));
    read_plane<<<1, 32>>>(out);
    found = out.read();
    for (int i = 0; i < 32; ++i) {
        int y = i / 8, next = 8 * y + (i + 1) % 8;
        float mean = (rows[i] / 255.0f + rows[next] / 255.0f) / 2;
        EXPECT(std::fabs(found[i] - (values[i] + mean)) < 1e-6f);
    }
    CHECK(cudaBindTextureToArray(unused, array));
    CHECK(cudaUnbindTexture(plane));
    CHECK(cudaUnbindTexture(bytes));
    CHECK(cudaUnbindTexture(unused));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(pitched));
    return done("texture_references");
}
