// Global alignment of two sequences (Needleman–Wunsch). The score matrix is cut into 16 × 16 tiles;
// one launch per diagonal of tiles, one block of 16 threads per tile, and within a tile one thread
// per column while the anti-diagonals pass.
//
// Shows half-filled warps, a wavefront with barriers in a loop, and branches that let in one lane
// more each time. For a length n, a multiple of 16, with t = (n/16)² tiles of one warp of 16 lanes:
//   substitution scores: 16·t loads of 16 lanes, 2 sectors each
//   scores: 16·t stores of 16 lanes; rims: t loads of 16 lanes each, the western one 16 sectors
//   shared work: 31 steps per tile with 1, 2, … 16, … 2, 1 lanes, together 256
//
// usage: needleman_wunsch [length = 512] [gap penalty = 4]
#include "../common/common.h"

#include <algorithm>
#include <vector>

constexpr int TILE = 16;

// `scores` has a row and a column more than `substitution`, and rows of `pitch` elements.
__global__ void align_tile(const int *substitution, int *scores, int n, int pitch, int penalty, int diagonal,
                           int first_column)
{
    __shared__ int tile[TILE + 1][TILE + 1];
    __shared__ int match[TILE][TILE];
    int lane = threadIdx.x;
    int tile_x = first_column + blockIdx.x;
    int tile_y = diagonal - tile_x;
    int x = tile_x * TILE, y = tile_y * TILE;

    for (int row = 0; row < TILE; ++row) {
        match[row][lane] = substitution[(y + row) * n + x + lane];
    }
    tile[0][lane + 1] = scores[y * pitch + x + lane + 1];
    tile[lane + 1][0] = scores[(y + lane + 1) * pitch + x];
    if (lane == 0) {
        tile[0][0] = scores[y * pitch + x];
    }
    __syncthreads();

    for (int step = 0; step < 2 * TILE - 1; ++step) {
        int row = step - lane;
        if (row >= 0 && row < TILE) {
            int diagonal_score = tile[row][lane] + match[row][lane];
            int best_gap = max(tile[row][lane + 1], tile[row + 1][lane]) - penalty;
            tile[row + 1][lane + 1] = max(diagonal_score, best_gap);
        }
        __syncthreads();
    }

    for (int row = 0; row < TILE; ++row) {
        scores[(y + row + 1) * pitch + x + lane + 1] = tile[row + 1][lane + 1];
    }
}

static std::vector<int> align_on_host(const std::vector<int> &substitution, int n, int penalty)
{
    int pitch = n + 1;
    std::vector<int> scores(static_cast<size_t>(pitch) * pitch);
    for (int i = 0; i <= n; ++i) {
        scores[i] = -i * penalty;
        scores[static_cast<size_t>(i) * pitch] = -i * penalty;
    }
    for (int y = 1; y <= n; ++y) {
        for (int x = 1; x <= n; ++x) {
            size_t at = static_cast<size_t>(y) * pitch + x;
            int diagonal = scores[at - pitch - 1] + substitution[static_cast<size_t>(y - 1) * n + x - 1];
            scores[at] = std::max(diagonal, std::max(scores[at - pitch], scores[at - 1]) - penalty);
        }
    }
    return scores;
}

static void align_on_device(const std::vector<int> &substitution, std::vector<int> &scores, int n, int penalty)
{
    int pitch = n + 1;
    int *d_substitution, *d_scores;
    CUDA_CHECK(cudaMalloc(&d_substitution, substitution.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_scores, scores.size() * sizeof(int)));
    CUDA_CHECK(
        cudaMemcpy(d_substitution, substitution.data(), substitution.size() * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_scores, scores.data(), scores.size() * sizeof(int), cudaMemcpyHostToDevice));
    int tiles = n / TILE;
    for (int diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
        int first_column = std::max(0, diagonal - tiles + 1);
        int last_column = std::min(diagonal, tiles - 1);
        align_tile<<<last_column - first_column + 1, TILE>>>(d_substitution, d_scores, n, pitch, penalty, diagonal,
                                                             first_column);
        CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cudaMemcpy(scores.data(), d_scores, scores.size() * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_substitution));
    CUDA_CHECK(cudaFree(d_scores));
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "length", 512);
    int penalty = argument(argc, argv, 2, "gap penalty", 4, 0);
    if (n % TILE != 0) {
        std::fprintf(stderr, "%s: length must be a multiple of %d\n", argv[0], TILE);
        return 2;
    }
    Random random(17);
    std::vector<int> first(n), second(n), substitution(static_cast<size_t>(n) * n);
    for (int i = 0; i < n; ++i) {
        first[i] = static_cast<int>(random.below(20));
        second[i] = random.below(4) == 0 ? static_cast<int>(random.below(20)) : first[i];
    }
    for (int y = 0; y < n; ++y) {
        for (int x = 0; x < n; ++x) {
            int distance = std::abs(second[y] - first[x]);
            substitution[static_cast<size_t>(y) * n + x] = distance == 0 ? 6 : 2 - distance % 7;
        }
    }
    std::vector<int> scores(static_cast<size_t>(n + 1) * (n + 1), 0);
    for (int i = 0; i <= n; ++i) {
        scores[i] = -i * penalty;
        scores[static_cast<size_t>(i) * (n + 1)] = -i * penalty;
    }
    align_on_device(substitution, scores, n, penalty);
    std::vector<int> expected = align_on_host(substitution, n, penalty);
    std::printf("score %d\n", scores.back());
    return finish("needleman_wunsch", all_equal("scores", scores.data(), expected.data(), expected.size()));
}
