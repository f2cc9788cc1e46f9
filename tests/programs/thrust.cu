// flags: -O2 -std=c++17
// Thrust: containers, and algorithms with functions of the program's own.
#include "test.h"

#include <thrust/device_vector.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

struct Square {
    __host__ __device__ int operator()(int value) const { return value * value; }
};

int main()
{
    std::vector<int> numbers(5000), squares(numbers.size()), sums(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<int>(i * 37 % 101) - 50;
        squares[i] = numbers[i] * numbers[i];
        sums[i] = squares[i] + (i > 0 ? sums[i - 1] : 0);
    }
    thrust::device_vector<int> values(numbers.begin(), numbers.end()), results(numbers.size());
    thrust::transform(values.begin(), values.end(), results.begin(), Square());
    std::vector<int> found(numbers.size());
    thrust::copy(results.begin(), results.end(), found.begin());
    expect_equal("squares", found, squares);
    thrust::inclusive_scan(results.begin(), results.end(), values.begin());
    thrust::copy(values.begin(), values.end(), found.begin());
    expect_equal("sums", found, sums);
    results[3] = 17;
    expect_equal("one element", static_cast<int>(results[3]), 17);
    return done("thrust");
}
