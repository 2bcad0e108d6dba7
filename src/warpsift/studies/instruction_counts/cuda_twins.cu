// CUDA twins of three warpsift kernels, for comparing instruction counts (see ../ptx_counts.py).
// Written as a CUDA programmer would; compiled with nvcc -ptx, never run.
#include <cstdint>
#define CTA 256
#define INFINITE (1 << 30)
#define WARP_TABLE 128
#define HISTORY 1024

__device__ __forceinline__ int warp_inclusive_scan(int v) {
  int lane = threadIdx.x & 31;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    int up = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += up;
  }
  return v;
}

// exclusive scan over the CTA; total by reference
__device__ __forceinline__ int cta_scan(int value, int* totals, int& total) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int inclusive = warp_inclusive_scan(value);
  if (lane == 31) totals[warp] = inclusive;
  __syncthreads();
  if (threadIdx.x < CTA / 32) totals[lane] = warp_inclusive_scan(totals[lane]);
  __syncthreads();
  int base = 0;
  if (warp > 0) base = totals[warp - 1];
  total = totals[CTA / 32 - 1];
  return base + (inclusive - value);
}

extern "C" __global__ void contract(const int* edges, int count, unsigned char* visited, int* labels, int depth,
                                    int* frontier, int* frontier_count) {
  __shared__ int warp_table[CTA / 32 * WARP_TABLE];
  __shared__ volatile int history[HISTORY];
  __shared__ int totals[32];
  __shared__ int box;
#pragma unroll
  for (int k = 0; k < HISTORY; k += CTA) history[threadIdx.x + k] = -1;
  __syncthreads();
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  int fresh = 0, vertex = 0;
  if (at < count) {
    vertex = edges[at];
    int byte = visited[vertex >> 3], bit = 1 << (vertex & 7);
    if ((byte & bit) == 0) {
      visited[vertex >> 3] = byte | bit;
      if (labels[vertex] == INFINITE) {
        labels[vertex] = depth;
        fresh = 1;
      }
    }
  }
  volatile int* table = warp_table;
  if (fresh == 1) {
    int slot = (threadIdx.x >> 5) * WARP_TABLE + (vertex & (WARP_TABLE - 1));
    table[slot] = vertex;
    if (table[slot] == vertex) {
      table[slot] = threadIdx.x;
      if (table[slot] != threadIdx.x) fresh = 0;
    }
  }
  if (fresh == 1) {
    int slot = vertex & (HISTORY - 1);
    int before = history[slot];
    history[slot] = vertex;
    if (before == vertex) fresh = 0;
  }
  int total;
  int offset = cta_scan(fresh, totals, total);
  if (threadIdx.x == 0) box = atomicAdd(frontier_count, total);
  __syncthreads();
  if (fresh == 1) frontier[box + offset] = vertex;
}

extern "C" __global__ void pull(const int* in_offsets, const int* in_sources, const float* shares, float* total,
                                float base, float factor, int n) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  float sum = 0.f;
  int end = in_offsets[u + 1];
#pragma unroll 1
  for (int e = in_offsets[u]; e < end; e++) sum += shares[in_sources[e]];
  total[u] = sum * factor + base;
}

extern "C" __global__ void sssp_contract(const int* nodes, const int* costs, int* distance, int* lookup, int* flags,
                                         int threshold, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int node = nodes[i], cost = costs[i], flag = 0;
  if (cost < distance[node]) {
    if (cost < threshold) {
      if (atomicMin(&distance[node], cost) > cost) {
        lookup[node] = i;
        flag = 1;
      }
    } else {
      flag = 2;
    }
  }
  flags[i] = flag;
}
