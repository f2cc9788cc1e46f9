// What NVRTC answers to what does not compile. Prints the logs.
#include <cstdio>
#include <cstring>
#include <nvrtc.h>
#include <string>

static std::string log_of(nvrtcProgram program) {
    size_t bytes = 0;
    nvrtcGetProgramLogSize(program, &bytes);
    std::string text(bytes, 'x');
    nvrtcGetProgramLog(program, &text[0]);
    return text.c_str();
}

static void attempt(const char *source, const char *option, const char *expression = nullptr) {
    nvrtcProgram program;
    if (nvrtcCreateProgram(&program, source, "source.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
        return;
    if (expression)
        nvrtcAddNameExpression(program, expression);
    nvrtcResult result = nvrtcCompileProgram(program, option ? 1 : 0, &option);
    size_t bytes = 0;
    printf("%s, PTX %d\n%s", nvrtcGetErrorString(result), nvrtcGetPTXSize(program, &bytes), log_of(program).c_str());
    size_t cubin = 99;
    if (result == NVRTC_SUCCESS && (nvrtcGetCUBINSize(program, &cubin) != NVRTC_SUCCESS || cubin != 0))
        puts("a cubin of a virtual architecture");
    nvrtcDestroyProgram(&program);
}

int main(int, char **arguments) {
    attempt("__global__ void k(int *x) {\n  *x = undefined;\n}\n", nullptr);
    attempt("__global__ void k(int *x) { *x = 1; }\n", "--no-such-option");
    attempt("__global__ void k(int *x) { *x = 1; }\n", "--gpu-architecture=sm_1");
    attempt("#include \"absent.h\"\n", nullptr);
    attempt("__global__ void k(int *x) { *x = 1; }\n", nullptr, "absent<int>");
    // Names of the program's own, where the standard library has the same; functions without an execution space.
    attempt("float twice(float x) { return 2 * x; }\n__global__ void k(float *x) { *x = twice(*x); }\n", "-default-device");
    attempt("#warning careful\n__global__ void k(float *x) { *x = 1; }\n", "--gpu-architecture=compute_75");
    // A header that lies in a folder, by a relative name.
    attempt("#include <value.h>\n__global__ void k(float *x) { *x = VALUE; }\n", arguments[1]);
    int major, minor, count;
    nvrtcProgram program = nullptr;
    nvrtcVersion(&major, &minor);
    nvrtcGetNumSupportedArchs(&count);
    int all[64];
    nvrtcGetSupportedArchs(all);
    printf("%d.%d %d %d %s\n", major, minor, all[0], all[count - 1], nvrtcGetErrorString(nvrtcCompileProgram(program, 0, nullptr)));
    const char *header = "", *outside = "../outside.h";
    nvrtcCreateProgram(&program, "", "x.cu", 1, &header, &outside);
    printf("%s\n", nvrtcGetErrorString(nvrtcCompileProgram(program, 0, nullptr)));
    fputs(log_of(program).c_str(), stdout);
    printf("%s\n", nvrtcGetErrorString(nvrtcCreateProgram(&program, nullptr, nullptr, 0, nullptr, nullptr)));
    std::string name;
    nvrtcGetTypeName<const int *>(&name);
    puts(name.c_str());
}
