// What accesses touch, in the words of the source, and how their addresses change from thread to thread.
#include "cuda.h"

struct Particle { float x, y; float velocity[2]; };

struct Mass { double x, y, z, mass; };
struct Bodies { Mass *bodies; int count; };

// CHECK-LABEL: kernel 0 _Z5namesPKfP8ParticlePKiPfi
__global__ void names(const float *matrix, Particle *particles, const int *index, float *out, int pitch) {
    __shared__ float tile[32][32];
    int x = __nvvm_read_ptx_sreg_tid_x(), y = __nvvm_read_ptx_sreg_tid_y();
    tile[x][y] = matrix[x * pitch + y];
    __nvvm_barrier_sync(0);
    particles[x].velocity[1] = tile[y][x];
    out[x] = matrix[index[x]];
}

__global__ void by_value(Bodies system, double *out) { out[__nvvm_read_ptx_sreg_tid_x()] = system.bodies[__nvvm_read_ptx_sreg_tid_x()].mass; }

// CHECK: operand of site [[#]] matrix x times pitch y 4 bytes
// CHECK: operand of site [[#]] tile x 128 bytes y 4 bytes
// CHECK: operand of site [[#]] tile x 4 bytes y 128 bytes
// CHECK: operand of site [[#]] particles member .velocity[] of Particle of 16 bytes x 16 bytes
// CHECK: operand of site [[#]] index x 4 bytes
// CHECK: operand of site [[#]] matrix x other loaded
// CHECK: operand of site [[#]] out x 4 bytes
// CHECK: operand of site [[#]] system.bodies member .mass of Mass of 32 bytes x 32 bytes
// CHECK: operand of site [[#]] out x 8 bytes
