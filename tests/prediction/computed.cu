// Kernels whose addresses or loops depend on the indices in ways that are not affine, and stores that end in the midst of a sector.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// Twice as large a picture, each pixel between four of the small one.
__global__ void enlarge(const float *__restrict__ in, float *__restrict__ out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 2 * w || y >= 2 * h) return;
    int x0 = x / 2, y0 = y / 2, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    float right = 0.5f * (x & 1), below = 0.5f * (y & 1);
    float upper = in[y0 * w + x0] * (1 - right) + in[y0 * w + x1] * right;
    float lower = in[y1 * w + x0] * (1 - right) + in[y1 * w + x1] * right;
    out[y * 2 * w + x] = upper * (1 - below) + lower * below;
}

// The same by hand with two points of a column to a thread.
__global__ void enlarge_by_two(const float *__restrict__ in, float *__restrict__ out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, first = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
#pragma unroll
    for (int y = first; y < first + 2; y++) {
        if (x >= 2 * w || y >= 2 * h) continue;
        int x0 = x / 2, y0 = y / 2, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
        float right = 0.5f * (x & 1), below = 0.5f * (y & 1);
        float upper = in[y0 * w + x0] * (1 - right) + in[y0 * w + x1] * right;
        float lower = in[y1 * w + x0] * (1 - right) + in[y1 * w + x1] * right;
        out[y * 2 * w + x] = upper * (1 - below) + lower * below;
    }
}

// Rows beyond the picture are its first and last ones.
__global__ void blur(const float *__restrict__ in, float *__restrict__ out, int w, int h, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int row = -radius; row <= radius; row++) sum += in[min(max(y + row, 0), h - 1) * w + x];
    out[y * w + x] = sum;
}

// Windows end where the picture does.
__global__ void pool(const float *__restrict__ in, float *__restrict__ out, int w, int h, int step, int out_w, int out_h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= out_w || y >= out_h) return;
    int left = x * step, top = y * step, right = min(left + 3, w), bottom = min(top + 3, h);
    float most = -1e30f;
    for (int row = top; row < bottom; row++)
        for (int column = left; column < right; column++) most = fmaxf(most, in[row * w + column]);
    out[y * out_w + x] = most;
}

// Windows that the picture cuts at both ends, whose loops the compiler unrolls.
__global__ void smooth(const float *__restrict__ in, float *__restrict__ out, int w, int h, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int top = max(y - radius, 0), bottom = min(y + radius, h - 1), left = max(x - radius, 0), right = min(x + radius, w - 1);
    float sum = 0;
    for (int row = top; row <= bottom; row++)
        for (int column = left; column <= right; column++) sum += in[row * w + column];
    out[y * w + x] = sum / ((bottom - top + 1) * (right - left + 1));
}

// Rows of a triangle: of most of them the compiler's eight at a time are more iterations than are gone through.
__global__ void rows(const float *__restrict__ in, float *__restrict__ out, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int i = 0; i <= row; i++) sum += in[row * n + i];
    out[row] = sum;
}

// One operand from its end.
__global__ void reverse(const float *a, const float *b, float *out, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        out[i] = a[i] * b[n - 1 - i];
}

__global__ void reverse_by_two(const float *a, const float *b, float *out, size_t n)
{
    for (size_t first = 2 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x); first < n; first += 2 * (size_t)gridDim.x * blockDim.x)
#pragma unroll
        for (size_t i = first; i < first + 2; i++)
            if (i < n) out[i] = a[i] * b[n - 1 - i];
}

// Rows of 96 whose ends are left as they are: of their twelve sectors two are stored in part.
__global__ void stream(const float *__restrict__ in, float *__restrict__ out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= w - 1 || y >= h) return;
    out[y * w + x] = in[y * w + x];
}

// Its guard is no affine condition.
__global__ void under(const float *in, float *out, int w, int h, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h && x * y < n) out[y * w + x] = in[y * w + x] + 1;
}

// Tiles of the picture numbered along x alone.
__global__ void tiles(const float *in, float *out, int w, int h)
{
    int across = (w + blockDim.x - 1) / blockDim.x;
    int x = blockIdx.x % across * blockDim.x + threadIdx.x, y = blockIdx.x / across * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = 2 * in[y * w + x];
}

struct Record {
    double mass;
    float position[3];
    int kind;
};

// Two members of each record are stored, in two turns of a warp.
__global__ void members(const Record *__restrict__ in, Record *__restrict__ out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i].mass = in[i].mass + in[(i + 1) % n].mass;
    out[i].position[2] = in[i].position[0];
}

// One array by an affine, a computed and a loaded index.
__global__ void three_ways(const float *in, const int *which, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + in[i * 5 % n] + in[which[i]];
}

// The same with the tiles of a row as an argument, which the program makes of the shape.
__global__ void placed(const float *in, float *out, int w, int h, int across)
{
    int x = blockIdx.x % across * blockDim.x + threadIdx.x, y = blockIdx.x / across * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = 2 * in[y * w + x];
}

// Loops whose begin and end are the outer one's, which the compiler runs two at a time.
__global__ void nested(const float *__restrict__ in, float *__restrict__ out, int w, int h, int rounds)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = round; i < 2 * round + 1; i++) sum += in[(y + round) % h * w + min(x + i, w - 1)];
    out[y * w + x] = sum;
}

// An upper triangle, column by column, from the diagonal on.
__global__ void upper(const float *__restrict__ matrix, const float *__restrict__ vectors, float *__restrict__ out, int n, int count)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, vector = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || vector >= count) return;
    float sum = 0;
    for (int row = column; row < n; row++) sum += matrix[row * n + column] * vectors[vector * n + row];
    out[vector * n + column] = sum;
}

// Tiles whose loops the compiler unrolls: how many rows a block has says which of the copies it comes to.
__global__ void turned(const float *__restrict__ in, float *__restrict__ out, int w, int h)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += blockDim.y) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += blockDim.y) out[(y + i) * h + x] = tile[threadIdx.x][threadIdx.y + i];
}

// Windows that begin before the first row and end behind the last one; the compiler runs the innermost loop four at a time, and what is left over.
__global__ void padded(const float *__restrict__ in, const float *__restrict__ weights, float *__restrict__ out, int channels, int w, int h, int size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, filter = blockIdx.z;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int channel = 0; channel < channels; channel++)
        for (int row = 0; row < size; row++)
            for (int column = 0; column < size; column++) {
                int from_y = y + row - size / 2, from_x = x + column - size / 2;
                if (from_y >= 0 && from_y < h && from_x >= 0 && from_x < w)
                    sum += in[(channel * h + from_y) * w + from_x] * weights[((filter * channels + channel) * size + row) * size + column];
            }
    out[(filter * h + y) * w + x] = sum;
}

// Sums of rows up to each number: threads come to every second line at a time, and so to half of the slices of an L2.
__global__ void prefixes(const int *__restrict__ in, int *__restrict__ out, int count, int rows, int pitch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int sum = 0;
    for (int i = 0; i < count; i++) out[(size_t)row * pitch + i] = sum += in[(size_t)row * pitch + i];
}

// The row before, which the compiler makes of a subtraction that ends at 0.
__global__ void behind(const float *__restrict__ in, float *__restrict__ out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w) return;
    if (y >= h) return;
    int before = max(y - 1, 0);
    out[y * w + x] = in[y * w + x] - in[before * w + x];
}

template <class T> static T *device(size_t count)
{
    T *array = nullptr;
    cudaMalloc(&array, count * sizeof(T));
    cudaMemset(array, 0, count * sizeof(T));
    return array;
}

int main(int argc, char **argv)
{
    dim3 block(argc > 1 ? atoi(argv[1]) : 32, argc > 2 ? atoi(argv[2]) : 8);
    auto blocks = [&](int w, int h) { return dim3((w + block.x - 1) / block.x, (h + block.y - 1) / block.y); };
    const int w = 500, h = 300;
    float *small = device<float>(w * h), *large = device<float>(4 * w * h), *other = device<float>(w * h);
    enlarge<<<blocks(2 * w, 2 * h), block>>>(small, large, w, h);
    enlarge_by_two<<<blocks(2 * w, h), block>>>(small, large, w, h);
    blur<<<blocks(w, h), block>>>(small, other, w, h, 4);
    rows<<<(700 + block.x * block.y - 1) / (block.x * block.y), block.x * block.y>>>(large, other, 700);
    smooth<<<blocks(200, 90), block>>>(small, other, 200, 90, 2);
    under<<<blocks(w, h), block>>>(small, other, w, h, 20'000);
    const dim3 across = blocks(512, h);
    tiles<<<across.x * across.y, block>>>(large, large + 512 * h, 512, h);
    placed<<<across.x * across.y, block>>>(large, large + 512 * h, 512, h, across.x);
    const int out_w = (w + 1) / 2, out_h = (h + 1) / 2;
    pool<<<blocks(out_w, out_h), block>>>(small, other, w, h, 2, out_w, out_h);
    const size_t n = 500'001;
    const unsigned threads = block.x * block.y;
    float *a = device<float>(n), *b = device<float>(n), *product = device<float>(n);
    reverse<<<160, threads>>>(a, b, product, n);
    reverse_by_two<<<80, threads>>>(a, b, product, n);
    const int rows = 60'000;
    float *before = device<float>(96 * rows), *after = device<float>(96 * rows);
    stream<<<blocks(96, rows), block>>>(before, after, 96, rows);
    const int records = 600'000;
    members<<<(records + threads - 1) / threads, threads>>>(device<Record>(records), device<Record>(records), records);
    nested<<<blocks(200, 100), block>>>(small, other, 200, 100, 5);
    upper<<<blocks(400, 8), block>>>(large, small, other, 400, 8);
    const int sums = 20'000;
    prefixes<<<(sums + threads - 1) / threads, threads>>>(device<int>(sums * 65), device<int>(sums * 65), 61, sums, 65);
    behind<<<blocks(w, h), block>>>(small, other, w, h);
    padded<<<dim3(1, 80, 16), threads>>>(small, other, large, 8, 80, 80, 3);
    turned<<<dim3(12, 8), dim3(32, block.y)>>>(small, other, 384, 256);
    const int numbers = 100'003;
    std::vector<int> order(numbers);
    for (int i = 0; i < numbers; i++) order[i] = int(i * 7ll % numbers);
    int *which = device<int>(numbers);
    cudaMemcpy(which, order.data(), numbers * sizeof(int), cudaMemcpyHostToDevice);
    three_ways<<<(numbers + threads - 1) / threads, threads>>>(a, which, product, numbers);
    cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
