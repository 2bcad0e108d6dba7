// CUDA twins of twin_kernels.py, written as a CUDA programmer would; compiled with nvcc -ptx, and its PTX is run.

// Push along the edges of active vertices.
extern "C" __global__ void relax(const int* offsets, const int* targets, const int* weights, const int* cost,
                                 int* update, int* active, int n) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  if (active[u] == 0) return;
  active[u] = 0;
  int mine = cost[u];
  int end = offsets[u + 1];
#pragma unroll 1
  for (int e = offsets[u]; e < end; e++) atomicMin(&update[targets[e]], mine + weights[e]);
}

// Sum of every `stride`th element.
extern "C" __global__ void stride_sum(const float* a, float* out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int t = i;
  float sum = 0.f;
#pragma unroll 1
  while (i < n) {
    sum += a[i];
    i += stride;
  }
  out[t] = sum;
}

// Binary search.
extern "C" __global__ void lower_bound(const int* keys, const int* wanted, int* out, int size, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int low = 0, high = size, key = wanted[i];
#pragma unroll 1
  while (low < high) {
    int middle = (low + high) >> 1;
    if (keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = low;
}

// Gather of bytes.
extern "C" __global__ void bytes(const unsigned char* mask, const int* index, unsigned char* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = mask[index[i]];
}

// Root of a tree by pointer jumping.
extern "C" __global__ void jump(const int* parent, int* root, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int p = i, q = parent[p];
#pragma unroll 1
  while (q != p) {
    p = q;
    q = parent[p];
  }
  root[i] = p;
}

// First place of a key from a start on.
extern "C" __global__ void scan_until(const int* a, const int* start, int* out, int key, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int e = start[i];
#pragma unroll 1
  while (a[e] != key) e++;
  out[i] = e;
}

// A level of breadth-first search, a thread per vertex.
extern "C" __global__ void bfs_step(const int* offsets, const int* targets, int* levels, int* changed, int current,
                                    int n) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  if (levels[u] != current) return;
  int end = offsets[u + 1];
#pragma unroll 1
  for (int e = offsets[u]; e < end; e++) {
    int v = targets[e];
    if (levels[v] == (1 << 30)) {
      levels[v] = current + 1;
      *changed = 1;
    }
  }
}

// Counts of byte classes: each thread looks up its symbol's class and adds to that class's counter, spaces leave early.
extern "C" __global__ void classify(const unsigned char* text, const unsigned char* classes, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char symbol = text[i];
  if (symbol == 32) return;
  atomicAdd(&counts[classes[symbol]], 1);
}

// Open addressing: probe until the key or an empty place is found.
extern "C" __global__ void probe(const int* keys, const int* table, const int* values, int* found, int mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int key = keys[i];
  int place = key & mask;
  int there = table[place];
#pragma unroll 1
  while (there != key && there != -1) {
    place = (place + 1) & mask;
    there = table[place];
  }
  if (there == key) found[i] = values[place];
}

// Common neighbours of the two ends of an edge: a merge of two sorted lists.
extern "C" __global__ void common(const int* sources, const int* targets, const int* offsets, const int* lists,
                                  int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int u = sources[i], v = targets[i];
  int a = offsets[u], a_end = offsets[u + 1], b = offsets[v], b_end = offsets[v + 1];
  int count = 0;
#pragma unroll 1
  while (a < a_end && b < b_end) {
    int x = lists[a], y = lists[b];
    if (x == y) count++;
    if (x <= y) a++;
    if (y <= x) b++;
  }
  counts[i] = count;
}

// Rows of a matrix: marked ones are scaled and summed, others leave.
extern "C" __global__ void scaled_rows(const int* marked, const int* offsets, const int* columns, const float* values,
                                       const float* x, const float* scale, float* y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  if (marked[row] == 0) return;
  float sum = 0.f;
  int end = offsets[row + 1];
#pragma unroll 1
  for (int e = offsets[row]; e < end; e++) sum += values[e] * x[columns[e]];
  y[row] = sum * scale[row];
}

// Histogram of bytes, each thread striding over the text.
extern "C" __global__ void strided_bytes(const unsigned char* text, int* counts, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  while (i < n) {
    atomicAdd(&counts[text[i]], 1);
    i += stride;
  }
}

// Two arrays at a stride, one written.
extern "C" __global__ void strided_axpy(const float* x, float* y, float a, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  while (i < n) {
    y[i] = a * x[i] + y[i];
    i += stride;
  }
}
