// Moves particles for a time step. A particle is a structure of 48 bytes of which the kernel needs half; neighbouring threads are
// 48 bytes apart. -DFIXED keeps each member in an array of its own. Read with docs/cases/array-of-structures.md.
//
// usage: particles [count = 262144] [steps = 1]
#include "../common/common.h"

#include <vector>

struct Particle {
    float x, y, z;
    float vx, vy, vz;
    float mass, charge;
    int kind, cell, id, padding;
};

#ifdef FIXED
struct Particles {
    float *x, *y, *z, *vx, *vy, *vz;
};

__global__ void move(Particles all, int count, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        all.x[i] += step * all.vx[i];
        all.y[i] += step * all.vy[i];
        all.z[i] += step * all.vz[i];
    }
}
#else
__global__ void move(Particle *all, int count, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        all[i].x += step * all[i].vx;
        all[i].y += step * all[i].vy;
        all[i].z += step * all[i].vz;
    }
}
#endif

int main(int argc, char **argv)
{
    int count = argument(argc, argv, 1, "count", 262144);
    int steps = argument(argc, argv, 2, "steps", 1);
    constexpr float STEP = 0.125f;
    Random random(6);
    std::vector<Particle> particles(count);
    for (Particle &p : particles) {
        p = {random.uniform(), random.uniform(), random.uniform(), random.uniform(), random.uniform(),
             random.uniform(), 1, 0, 0, 0, 0, 0};
    }
    int blocks = (count + 255) / 256;
    std::vector<float> result(count), wanted(count);
#ifdef FIXED
    float *members[6];
    for (int member = 0; member < 6; ++member) {
        std::vector<float> values(count);
        for (int i = 0; i < count; ++i) values[i] = (&particles[i].x)[member];
        CUDA_CHECK(cudaMalloc(&members[member], count * sizeof(float)));
        CUDA_CHECK(cudaMemcpy(members[member], values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    }
    Particles d_particles{members[0], members[1], members[2], members[3], members[4], members[5]};
    for (int step = 0; step < steps; ++step) {
        move<<<blocks, 256>>>(d_particles, count, STEP);
    }
    CUDA_CHECK(cudaMemcpy(result.data(), d_particles.y, count * sizeof(float), cudaMemcpyDeviceToHost));
#else
    Particle *d_particles;
    CUDA_CHECK(cudaMalloc(&d_particles, count * sizeof(Particle)));
    CUDA_CHECK(cudaMemcpy(d_particles, particles.data(), count * sizeof(Particle), cudaMemcpyHostToDevice));
    for (int step = 0; step < steps; ++step) {
        move<<<blocks, 256>>>(d_particles, count, STEP);
    }
    std::vector<Particle> moved(count);
    CUDA_CHECK(cudaMemcpy(moved.data(), d_particles, count * sizeof(Particle), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) result[i] = moved[i].y;
#endif
    CUDA_CHECK(cudaGetLastError());
    for (int i = 0; i < count; ++i) wanted[i] = particles[i].y + steps * STEP * particles[i].vy;
    return finish("particles", all_close("y", result.data(), wanted.data(), count));
}
