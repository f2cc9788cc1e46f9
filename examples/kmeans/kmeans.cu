// k-means clustering: assignment to the nearest centre, then new centres, a fixed number of rounds.
//
// Shows the layout of records: the features of a point lie together, so that neighbouring lanes are
// a whole record apart. Centres are in constant memory and the same for all lanes. For n points (a
// multiple of 256), f = 8 features or more, k clusters, r rounds:
//   assign: features: r·n/32 · k·f loads of 32 sectors (ideal 4); centres: as many constant loads of
//           one word; membership: r·n/32 stores of 4 sectors
//   accumulate: membership: r·n/32 loads of 4 sectors; features: r·n/32 · f loads of 32 sectors;
//           atomics on the sums: r·n/32 · f, and on the sizes: r·n/32, each of 32 lanes
//
// usage: kmeans [points = 8192] [features = 8] [clusters = 5] [rounds = 3]
#include "../common/common.h"

#include <vector>

constexpr int MAX_CENTRES = 4096;
constexpr int THREADS = 256;

__constant__ float c_centres[MAX_CENTRES];

__global__ void assign(const float *features, int *membership, int points, int dimensions, int clusters)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) {
        return;
    }
    int best = 0;
    float best_distance = INFINITY;
    for (int cluster = 0; cluster < clusters; ++cluster) {
        float distance = 0;
        for (int d = 0; d < dimensions; ++d) {
            float centre = c_centres[cluster * dimensions + d];
            float feature = features[point * dimensions + d];
            distance += (feature - centre) * (feature - centre);
        }
        if (distance < best_distance) {
            best_distance = distance;
            best = cluster;
        }
    }
    membership[point] = best;
}

__global__ void accumulate(const float *features, const int *membership, float *sums, int *sizes, int points,
                           int dimensions)
{
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= points) {
        return;
    }
    int cluster = membership[point];
    atomicAdd(&sizes[cluster], 1);
    for (int d = 0; d < dimensions; ++d) {
        float feature = features[point * dimensions + d];
        atomicAdd(&sums[cluster * dimensions + d], feature);
    }
}

class Clustering {
public:
    Clustering(const std::vector<float> &features, int points, int dimensions, int clusters)
        : points_(points), dimensions_(dimensions), clusters_(clusters)
    {
        CUDA_CHECK(cudaMalloc(&d_features_, features.size() * sizeof(float)));
        CUDA_CHECK(cudaMalloc(&d_membership_, points * sizeof(int)));
        CUDA_CHECK(cudaMalloc(&d_sums_, clusters * dimensions * sizeof(float)));
        CUDA_CHECK(cudaMalloc(&d_sizes_, clusters * sizeof(int)));
        CUDA_CHECK(
            cudaMemcpy(d_features_, features.data(), features.size() * sizeof(float), cudaMemcpyHostToDevice));
        centres.assign(features.begin(), features.begin() + clusters * dimensions);
        membership.resize(points);
        sizes.resize(clusters);
    }

    ~Clustering()
    {
        cudaFree(d_features_);
        cudaFree(d_membership_);
        cudaFree(d_sums_);
        cudaFree(d_sizes_);
    }

    Clustering(const Clustering &) = delete;
    Clustering &operator=(const Clustering &) = delete;

    // Assigns all points to `centres`, which become `previous`, and moves the centres.
    void round()
    {
        int blocks = (points_ + THREADS - 1) / THREADS;
        previous = centres;
        CUDA_CHECK(cudaMemcpyToSymbol(c_centres, centres.data(), centres.size() * sizeof(float)));
        assign<<<blocks, THREADS>>>(d_features_, d_membership_, points_, dimensions_, clusters_);
        CUDA_CHECK(cudaMemset(d_sums_, 0, centres.size() * sizeof(float)));
        CUDA_CHECK(cudaMemset(d_sizes_, 0, clusters_ * sizeof(int)));
        accumulate<<<blocks, THREADS>>>(d_features_, d_membership_, d_sums_, d_sizes_, points_, dimensions_);
        CUDA_CHECK(cudaGetLastError());

        std::vector<float> sums(centres.size());
        CUDA_CHECK(cudaMemcpy(sums.data(), d_sums_, sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(sizes.data(), d_sizes_, clusters_ * sizeof(int), cudaMemcpyDeviceToHost));
        CUDA_CHECK(cudaMemcpy(membership.data(), d_membership_, points_ * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < clusters_ * dimensions_; ++i) {
            int size = sizes[i / dimensions_];
            centres[i] = size > 0 ? sums[i] / static_cast<float>(size) : previous[i];
        }
    }

    std::vector<float> centres, previous;
    std::vector<int> membership, sizes;

private:
    int points_, dimensions_, clusters_;
    float *d_features_ = nullptr, *d_sums_ = nullptr;
    int *d_membership_ = nullptr, *d_sizes_ = nullptr;
};

// Points round one centre per cluster, far apart.
static std::vector<float> generate(int points, int dimensions, int clusters)
{
    Random random(77);
    std::vector<float> middles(static_cast<size_t>(clusters) * dimensions);
    for (float &value : middles) {
        value = 10.0f * random.uniform();
    }
    std::vector<float> features(static_cast<size_t>(points) * dimensions);
    for (size_t i = 0; i < features.size(); ++i) {
        int cluster = static_cast<int>(i / dimensions % clusters);
        features[i] = middles[cluster * dimensions + i % dimensions] + random.uniform();
    }
    return features;
}

// Is every point with its nearest centre, and every centre the mean of its points? Rounding may
// decide between two centres that are equally near.
static bool check(const std::vector<float> &features, const Clustering &result, int dimensions, int clusters)
{
    std::vector<double> sums(static_cast<size_t>(clusters) * dimensions, 0.0);
    std::vector<int> sizes(clusters, 0);
    for (size_t point = 0; point < result.membership.size(); ++point) {
        auto distance = [&](int cluster) {
            double sum = 0;
            for (int d = 0; d < dimensions; ++d) {
                double difference =
                    features[point * dimensions + d] - result.previous[cluster * dimensions + d];
                sum += difference * difference;
            }
            return sum;
        };
        int chosen = result.membership[point];
        if (chosen < 0 || chosen >= clusters) {
            std::fprintf(stderr, "membership[%zu] is %d\n", point, chosen);
            return false;
        }
        for (int cluster = 0; cluster < clusters; ++cluster) {
            if (distance(chosen) > distance(cluster) * (1 + 1e-5) + 1e-6) {
                std::fprintf(stderr, "point %zu is nearer to %d than to %d\n", point, cluster, chosen);
                return false;
            }
        }
        ++sizes[chosen];
        for (int d = 0; d < dimensions; ++d) {
            sums[chosen * dimensions + d] += features[point * dimensions + d];
        }
    }
    std::vector<float> means(sums.size());
    for (size_t i = 0; i < sums.size(); ++i) {
        int size = sizes[i / dimensions];
        means[i] = size > 0 ? static_cast<float>(sums[i] / size) : result.previous[i];
    }
    return all_equal("size", result.sizes.data(), sizes.data(), sizes.size()) &&
           all_close("centre", result.centres.data(), means.data(), means.size(), 1e-3f);
}

int main(int argc, char **argv)
{
    int points = argument(argc, argv, 1, "points", 8192);
    int dimensions = argument(argc, argv, 2, "features", 8);
    int clusters = argument(argc, argv, 3, "clusters", 5);
    int rounds = argument(argc, argv, 4, "rounds", 3);
    if (clusters > points || static_cast<long>(clusters) * dimensions > MAX_CENTRES) {
        std::fprintf(stderr, "%s: too many clusters\n", argv[0]);
        return 2;
    }
    std::vector<float> features = generate(points, dimensions, clusters);
    Clustering clustering(features, points, dimensions, clusters);
    for (int round = 0; round < rounds; ++round) {
        clustering.round();
    }
    return finish("kmeans", check(features, clustering, dimensions, clusters));
}
