// Lists the moves of a knight and takes the best. Planted: the list is an array whose place the data decides. Fixed: the best is kept
// as they come.
#include <cstdio>
#include <vector>

__device__ int worth(int square, unsigned board) { return (int)((board >> (square & 31)) & 15u) * 8 + (square & 7); }

__global__ void search(const unsigned *boards, int *best, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count) return;
    unsigned board = boards[id];
#ifdef CURED
    int top = -1;
    for (int square = 0; square < 64; ++square)
        if ((board >> (square & 31)) & 1u) top = max(top, worth(square, board));
    best[id] = top;
#else
    int moves[64];
    int listed = 0;
    for (int square = 0; square < 64; ++square)
        if ((board >> (square & 31)) & 1u) moves[listed++] = worth(square, board); // PLANTED
    int top = -1;
    for (int i = 0; i < listed; ++i) top = max(top, moves[i]); // PLANTED
    best[id] = top;
#endif
}

int main() {
    const int count = 1 << 15;
    std::vector<unsigned> host(count);
    unsigned state = 9;
    for (unsigned &board : host) board = state = state * 1664525u + 1013904223u;
    unsigned *boards;
    int *best;
    cudaMalloc(&boards, count * sizeof(unsigned));
    cudaMalloc(&best, count * sizeof(int));
    cudaMemcpy(boards, host.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice);
    search<<<count / 128, 128>>>(boards, best, count);
    std::vector<int> found(count);
    cudaMemcpy(found.data(), best, count * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", found[5]);
}
