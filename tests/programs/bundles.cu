// Accesses that lie at constant distances from each other share a record: fields of one object, neighbours, unrolled
// loops. The lanes are spread, even, or partly idle; pointers lead to any space. With an argument, the last fields of
// the last object lie behind the end of the allocation.
#include "test.h"

struct Particle {
    float x;
    short charge[2];
    double mass;
    float y, z;
};

__global__ void fields(const Particle *particles, const int *which, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const Particle &p = particles[which[i]];
    out[i] = p.x + p.charge[1] + p.mass + p.y + p.z;
}

__global__ void move(Particle *particles, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        particles[n - 1 - i].x += 1;
        particles[n - 1 - i].charge[0] += 2;
        particles[n - 1 - i].z += 3;
    }
}

__global__ void neighbours(const float *in, float *out, int width)
{
    __shared__ float tile[6][34];
    int x = threadIdx.x, y = threadIdx.y;
    for (int row = y; row < 6; row += blockDim.y) {
        for (int column = x; column < 34; column += blockDim.x) {
            tile[row][column] = in[row * width + column];
        }
    }
    __syncthreads();
    float sum = tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] + tile[y + 1][x + 2] - 4 * tile[y + 1][x + 1];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        sum += in[(y + 1) * width + x + k];
    }
    out[y * 32 + x] = sum;
}

// The pointers that come here are shared and global ones.
__device__ __noinline__ double total(const Particle *p)
{
    return p->x + p->charge[0] + p->mass + p->z;
}

__global__ void generic(const Particle *particles, double *out)
{
    __shared__ Particle own[64];
    int i = threadIdx.x;
    own[i] = particles[i];
    __syncthreads();
    const Particle *p = i % 3 == 0 ? &own[63 - i] : &particles[i];
    out[i] = total(p) + total(&own[i]);
}

__global__ void local(const int *order, int *out)
{
    int values[12];
    for (int k = 0; k < 12; ++k) {
        values[order[k]] = k * threadIdx.x;
    }
    int at = order[threadIdx.x % 4];
    out[threadIdx.x] = values[at] + values[at + 1] * 3 + values[at + 2] * 5;
}

int main(int argc, char **)
{
    const int n = 200;
    std::vector<Particle> particles(n);
    std::vector<int> which(n);
    for (int i = 0; i < n; ++i) {
        particles[i] = {float(i), {short(2 * i), short(3 * i)}, 4.0 * i, float(5 * i), float(6 * i)};
        which[i] = i * 77 % n;
    }
    const bool stray = argc > 1;
    Particle *d_particles;
    const size_t bytes = n * sizeof(Particle);
    CHECK(cudaMalloc(&d_particles, bytes - (stray ? 8 : 0)));
    CHECK(cudaMemcpy(d_particles, particles.data(), bytes - (stray ? 8 : 0), cudaMemcpyHostToDevice));
    Device<int> d_which(n);
    CHECK(cudaMemcpy(d_which, which.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    Device<double> sums(n);
    fields<<<4, 64>>>(d_particles, d_which, sums, n);
    move<<<4, 64>>>(d_particles, n);
    CHECK(cudaDeviceSynchronize());
    if (stray) {
        std::printf("PASS bundles\n");
        return 0;
    }
    std::vector<double> expected(n);
    for (int i = 0; i < n; ++i) {
        const Particle &p = particles[which[i]];
        expected[i] = p.x + p.charge[1] + p.mass + p.y + p.z;
    }
    expect_equal("fields", sums.read(), expected);
    for (Particle &p : particles) {
        p.x += 1, p.charge[0] += 2, p.z += 3;
    }
    Device<double> totals(64);
    generic<<<1, 64>>>(d_particles, totals);
    expected.resize(64);
    for (int i = 0; i < 64; ++i) {
        auto total_of = [](const Particle &p) { return p.x + p.charge[0] + p.mass + p.z; };
        expected[i] = total_of(particles[i % 3 == 0 ? 63 - i : i]) + total_of(particles[i]);
    }
    expect_equal("generic", totals.read(), expected);

    const int width = 40;
    std::vector<float> field(6 * width);
    for (int i = 0; i < 6 * width; ++i) {
        field[i] = float(i * i % 101);
    }
    Device<float> in(field.size()), out(4 * 32);
    CHECK(cudaMemcpy(in, field.data(), field.size() * sizeof(float), cudaMemcpyHostToDevice));
    neighbours<<<1, dim3(32, 4)>>>(in, out, width);
    std::vector<float> expected_field(4 * 32);
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 32; ++x) {
            auto at = [&](int row, int column) { return field[row * width + column]; };
            expected_field[y * 32 + x] = at(y, x + 1) + at(y + 2, x + 1) + at(y + 1, x) + at(y + 1, x + 2) -
                                         4 * at(y + 1, x + 1) + at(y + 1, x) + at(y + 1, x + 1) + at(y + 1, x + 2);
        }
    }
    expect_equal("neighbours", out.read(), expected_field);

    std::vector<int> order = {3, 0, 7, 9, 1, 2, 4, 5, 6, 8, 10, 11};
    Device<int> d_order(order.size()), picked(32);
    CHECK(cudaMemcpy(d_order, order.data(), order.size() * sizeof(int), cudaMemcpyHostToDevice));
    local<<<1, 32>>>(d_order, picked);
    std::vector<int> expected_picked(32);
    for (int i = 0; i < 32; ++i) {
        std::vector<int> values(12);
        for (int k = 0; k < 12; ++k) {
            values[order[k]] = k * i;
        }
        int at = order[i % 4];
        expected_picked[i] = values[at] + values[at + 1] * 3 + values[at + 2] * 5;
    }
    expect_equal("local", picked.read(), expected_picked);
    return done("bundles");
}
