// Included before CUDA source whose functions without an execution space are the device's.
#pragma GCC system_header
#pragma clang force_cuda_host_device begin
