// Several threads compile the same source at the same time, as programs that tune kernels do.
#include <cstdio>
#include <nvrtc.h>
#include <string>
#include <thread>
#include <vector>

int main() {
    const int count = 8;
    std::vector<std::string> results(count);
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
        threads.emplace_back([&results, i] {
            nvrtcProgram program;
            nvrtcCreateProgram(&program, "__global__ void k(int *x) { *x = 1; }\n", "source.cu", 0, nullptr, nullptr);
            nvrtcResult result = nvrtcCompileProgram(program, 0, nullptr);
            results[i] = nvrtcGetErrorString(result);
            size_t bytes = 0;
            if (result == NVRTC_SUCCESS && nvrtcGetPTXSize(program, &bytes) == NVRTC_SUCCESS) {
                std::string text(bytes, 'x');
                nvrtcGetPTX(program, &text[0]);
                results[i] += text;
            }
            nvrtcDestroyProgram(&program);
        });
    int equal = 0;
    for (int i = 0; i < count; ++i) {
        threads[i].join();
        equal += results[i] == results[0];
    }
    printf("%d of %d, %s\n", equal, count, results[0].substr(0, 13).c_str());
}
