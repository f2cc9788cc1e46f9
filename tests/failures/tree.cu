// A program of several processes, each of which uses the device: forked before that, or started anew.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int *values, int by)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

static int work(int blocks)
{
    int *values;
    cudaMalloc(&values, blocks * 32 * sizeof(int));
    cudaMemset(values, 0, blocks * 32 * sizeof(int));
    add<<<blocks, 32>>>(values, 5);
    int last = 0;
    cudaMemcpy(&last, values + blocks * 32 - 1, sizeof last, cudaMemcpyDeviceToHost);
    cudaFree(values);
    return last == 5 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int failed = 0, status = 0;
    if (strcmp(mode, "fork") == 0) {
        // Four children at a time, and then the parent.
        for (int child = 1; child <= 4; child++) {
            if (fork() == 0) {
                exit(work(child));
            }
        }
        while (wait(&status) > 0) {
            failed += status != 0;
        }
        failed += work(10);
    } else if (strcmp(mode, "start") == 0) {
        // Other programs, one after the other; the parent is first.
        failed += work(1);
        for (int child = 2; child < argc; child++) {
            failed += system(argv[child]) != 0;
        }
    } else if (strcmp(mode, "crash") == 0) {
        if (fork() == 0) {
            work(3);
            abort();
        }
        wait(&status);
        failed += !WIFSIGNALED(status) + work(1);
    } else if (strcmp(mode, "late") == 0) {
        // CUDA does not work in a process that was forked from one which uses it.
        failed += work(1);
        if (fork() == 0) {
            exit(work(2));
        }
        wait(&status);
    } else if (strcmp(mode, "outlive") == 0) {
        int ends[2];
        char done;
        failed += pipe(ends);
        failed += work(1);
        // Started anew, as it uses the device after its parent.
        if (fork() == 0) {
            char number[16];
            snprintf(number, sizeof number, "%d", ends[1]);
            execl(argv[0], argv[0], "stay", number, nullptr);
        }
        failed += read(ends[0], &done, 1) != 1;
    } else if (strcmp(mode, "stay") == 0) {
        failed += work(2);
        failed += write(atoi(argv[2]), "", 1) != 1;
        sleep(5);
    } else {
        failed += work(argc > 1 ? atoi(mode) : 2);
    }
    printf("%s\n", failed ? "FAIL" : "PASS");
    return failed;
}
