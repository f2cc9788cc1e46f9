// A process that forks before it uses the device: both use it.
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int *values, int by)
{
    values[threadIdx.x] += by;
}

static int work(int by)
{
    Device<int> values(32);
    add<<<1, 32>>>(values, by);
    expect_equal("values", values.read(), std::vector<int>(32, by));
    return failures;
}

int main()
{
    pid_t child = fork();
    if (child == 0) {
        int wrong = work(5);
        std::exit(wrong ? 1 : 0);
    }
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    work(9);
    return done("fork");
}
