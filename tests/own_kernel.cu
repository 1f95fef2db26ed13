// A matrix product of one's own that writes down when and where each of its output tiles was computed.
//
//     nvcc -O3 -arch=native own_kernel.cu -o own_kernel && ./own_kernel > own-kernel.csv
//
// C[M,N] = A[M,K] B[K,N] in fp32, row-major. A thread block computes one tile of 128 x 128 from slices of A
// and B in shared memory, 16 deep; each of its 256 threads has 8 x 8 sums. Sizes are multiples of the tile's.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

struct Stamps { unsigned long long start, drain, end; unsigned cta, sm; };  // of one output tile

__device__ void stamp(unsigned long long& when) {  // called by the whole block: no thread is still at work
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(when) : : "memory");
}

__device__ void stamp_place(Stamps& stamps) {
    stamps.cta = blockIdx.x;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(stamps.sm));
}

void print_csv(const char* facts, const Stamps* stamps, int tiles) {
    cudaDeviceProp gpu;
    cudaGetDeviceProperties(&gpu, 0);
    printf("# %s sms=%d gpu=\"%s\"\n", facts, gpu.multiProcessorCount, gpu.name);
    printf("tile,cta,sm,start,drain,end\n");
    for (int i = 0; i < tiles; i++)
        printf("%d,%u,%u,%llu,%llu,%llu\n", i, stamps[i].cta, stamps[i].sm, stamps[i].start,
               stamps[i].drain, stamps[i].end);
}

constexpr int TILE = 128, DEPTH = 16, THREADS = 256, SIDE = 16, EACH = TILE / SIDE;

__global__ void __launch_bounds__(THREADS, 2)
matmul(const float* a, const float* b, float* c, int n, int k, Stamps* stamps) {
    __shared__ float a_slice[DEPTH][TILE + 4];  // transposed; padded, or its writes share banks
    __shared__ float b_slice[DEPTH][TILE];
    int tile = blockIdx.x, tiles_n = n / TILE;
    int row = tile / tiles_n * TILE, column = tile % tiles_n * TILE;
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    float sum[EACH][EACH] = {};

    stamp(stamps[tile].start);
    for (int depth = 0; depth < k; depth += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
            a_slice[i % DEPTH][i / DEPTH] = a[(size_t)(row + i / DEPTH) * k + depth + i % DEPTH];
            b_slice[i / TILE][i % TILE] = b[(size_t)(depth + i / TILE) * n + column + i % TILE];
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += a_slice[d][y + SIDE * i] * b_slice[d][x + SIDE * j];
        __syncthreads();
    }
    stamp(stamps[tile].drain);
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            c[(size_t)(row + y + SIDE * i) * n + column + x + SIDE * j] = sum[i][j];
    stamp(stamps[tile].end);
    if (threadIdx.x == 0) stamp_place(stamps[tile]);
}

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "error: %s\n", cudaGetErrorString(error));
    exit(1);
}

template <typename T>
T* on_gpu(const std::vector<T>& values) {
    T* copy;
    check(cudaMalloc(&copy, values.size() * sizeof(T)));
    check(cudaMemcpy(copy, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return copy;
}

// The largest error of 1000 elements against sums in double, as a share of the sum of the terms' sizes.
double error_of_sample(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c,
                       int n, int k, std::mt19937& random) {
    double worst = 0;
    for (int sample = 0; sample < 1000; sample++) {
        size_t place = random() % c.size();
        double sum = 0, size = 0;
        for (int i = 0; i < k; i++) {
            double term = (double)a[place / n * k + i] * b[(size_t)i * n + place % n];
            sum += term;
            size += std::abs(term);
        }
        double error = std::abs(c[place] - sum) / size;
        worst = error <= worst ? worst : error;  // a NaN is worst of all
    }
    return worst;
}

int main() {
    const int m = 4096, n = 2560, k = 1024, tiles = (m / TILE) * (n / TILE);
    std::mt19937 random(0);
    std::normal_distribution<float> normal;
    std::vector<float> a((size_t)m * k), b((size_t)k * n), c((size_t)m * n, NAN);
    for (float& value : a) value = normal(random);
    for (float& value : b) value = normal(random);
    std::vector<Stamps> stamps(tiles);
    float *gpu_a = on_gpu(a), *gpu_b = on_gpu(b), *gpu_c = on_gpu(c);
    Stamps* gpu_stamps = on_gpu(stamps);

    for (int launch = 0; launch < 20; launch++)  // the last one is kept, when clocks and caches have settled
        matmul<<<tiles, THREADS>>>(gpu_a, gpu_b, gpu_c, n, k, gpu_stamps);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(c.data(), gpu_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaMemcpy(stamps.data(), gpu_stamps, tiles * sizeof(Stamps), cudaMemcpyDeviceToHost));

    double error = error_of_sample(a, b, c, n, k, random);
    if (!(error < 1e-5)) {
        fprintf(stderr, "error: the product is wrong by %g\n", error);
        return 1;
    }
    char facts[200];
    snprintf(facts, sizeof facts, "m=%d n=%d k=%d tile=%dx%dx%d dtype=fp32 schedule=\"my matmul\"", m, n,
             k, TILE, TILE, DEPTH);
    print_csv(facts, stamps.data(), tiles);
}
