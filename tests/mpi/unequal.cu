// Ranks of MPI that do unequal work: rank r sweeps its array r + 1 times, and the rank of the second argument ends as
// the first requests: `exit`, `abort` or `fault` (an access out of bounds).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <mpi.h>

__global__ void sweep(const float *input, float *output, int n, int sweeps) { // PLANTED
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int s = 0; s < sweeps; s++)
    sum += input[(i * 8 + s * 32) % n];
  output[i] = sum;
}

__global__ void last_only(float *output) { output[threadIdx.x * 2] += 1; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  const char *how = argc > 1 ? argv[1] : "well";
  int failing = argc > 2 ? atoi(argv[2]) : -1;
  const int n = 1 << 14;
  float *d_input, *d_output;
  cudaMalloc(&d_input, n * sizeof(float));
  cudaMalloc(&d_output, n * sizeof(float));
  cudaMemset(d_input, 0, n * sizeof(float));
#ifdef CURED
  int sweeps = (count + 1) / 2;
#else
  int sweeps = rank + 1;
#endif
  sweep<<<n / 256, 256>>>(d_input, d_output, n, sweeps);
  if (rank == count - 1)
    last_only<<<1, 64>>>(d_output);
  if (rank == failing && !strcmp(how, "fault"))
    sweep<<<n / 256, 256>>>(d_input, d_output + n, n, 1);
  bool bad = cudaDeviceSynchronize() != cudaSuccess;
  int mine = rank + 1, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("sweeps: %d\n", all);
  MPI_Finalize();
  cudaFree(d_input);
  cudaFree(d_output);
  if (rank == failing && !strcmp(how, "abort"))
    abort();
  return rank == failing && !strcmp(how, "exit") ? 3 : bad ? 4 : 0;
}
