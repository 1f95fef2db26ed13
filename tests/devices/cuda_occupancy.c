/* What the occupancy calculator of the CUDA Toolkit says, for each device and a grid of kernels, as CSV.
   cc -I CUDA/include cuda_occupancy.c -o cuda_occupancy && ./cuda_occupancy > cuda_occupancy.csv */
#include <stdio.h>
#include <cuda_occupancy.h>
struct { const char *name; int major, minor, threads, shared_kb, optin_kb, reserved; } DEVICES[] = {
  {"t4", 7, 5, 1024, 64, 64, 0}, {"v100", 7, 0, 2048, 96, 96, 0}, {"a100", 8, 0, 2048, 164, 163, 1024},
  {"a100-40gb", 8, 0, 2048, 164, 163, 1024}, {"rtx4090", 8, 9, 1536, 100, 99, 1024}, {"h100", 9, 0, 2048, 228, 227, 1024},
  {"h100-pcie", 9, 0, 2048, 228, 227, 1024}, {"h200", 9, 0, 2048, 228, 227, 1024}, {"b200", 10, 0, 2048, 228, 227, 1024}};
int THREADS[] = {32, 64, 96, 128, 320, 512, 768, 1024};
int REGISTERS[] = {16, 37, 40, 64, 65, 88, 96, 128, 168, 255};
int SHARED[] = {0, 1, 1024, 24576, 49152, 57344, 58368, 98304, 115712, 232448};
#define N(x) (sizeof(x) / sizeof(*x))
int main(void) {
  printf("device,threads,registers,shared_bytes,residents\n");
  for (int d = 0; d < N(DEVICES); d++)
    for (int t = 0; t < N(THREADS); t++)
      for (int r = 0; r < N(REGISTERS); r++)
        for (int s = 0; s < N(SHARED); s++) {
          struct cudaOccDeviceProp p = {0};
          struct cudaOccFuncAttributes a = {0};
          struct cudaOccDeviceState state = {0};
          struct cudaOccResult result;
          p.computeMajor = DEVICES[d].major; p.computeMinor = DEVICES[d].minor;
          p.maxThreadsPerBlock = 1024; p.maxThreadsPerMultiprocessor = DEVICES[d].threads;
          p.regsPerBlock = p.regsPerMultiprocessor = 65536; p.warpSize = 32;
          p.sharedMemPerBlock = 49152; p.sharedMemPerMultiprocessor = DEVICES[d].shared_kb * 1024;
          p.sharedMemPerBlockOptin = DEVICES[d].optin_kb * 1024; p.numSms = 100;
          p.reservedSharedMemPerBlock = DEVICES[d].reserved;
          a.maxThreadsPerBlock = 1024; a.numRegs = REGISTERS[r]; a.numBlockBarriers = 1;
          a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; a.maxDynamicSharedSizeBytes = SHARED[s];
          state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
          int e = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &p, &a, &state, THREADS[t], SHARED[s]);
          printf("%s,%d,%d,%d,%d\n", DEVICES[d].name, THREADS[t], REGISTERS[r], SHARED[s], e ? -e : result.activeBlocksPerMultiprocessor);
        }
}
