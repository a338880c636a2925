/* What this machine can do, measured beside the models: multiply-adds a second
 * and bytes read a second. */
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __AVX512F__
typedef __m512 vector;
#define SET1 _mm512_set1_ps
#define FMA _mm512_fmadd_ps
#define ADD(sum, p) _mm512_add_ps(sum, _mm512_load_ps(p))
enum { registers = 24 };
#else
typedef __m256 vector;
#define SET1 _mm256_set1_ps
#define FMA _mm256_fmadd_ps
#define ADD(sum, p) _mm256_add_ps(sum, _mm256_load_ps(p))
enum { registers = 12 };
#endif
enum { lanes = sizeof(vector) / sizeof(float), steps = 20000 };

double benchmark_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Independent sums hide the latency of two multiply-adds a cycle. */
static void multiplyAndAdd(void) {
  vector sums[registers], x = SET1(0.999f), y = SET1(1e-5f);
#pragma GCC unroll 24
  for (int i = 0; i < registers; i++)
    sums[i] = SET1(i);
  for (int k = 0; k < steps; k++) {
#pragma GCC unroll 24
    for (int i = 0; i < registers; i++)
      sums[i] = FMA(sums[i], x, y);
    __asm__ volatile("" : "+v"(x));
  }
#pragma GCC unroll 24
  for (int i = 0; i < registers; i++)
    __asm__ volatile("" ::"v"(sums[i]));
}

static void readAll(const float *data, size_t count) {
  vector sums[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
    sums[i] = SET1(0);
  for (size_t k = 0; k < count; k += 8 * lanes) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
      sums[i] = ADD(sums[i], data + k + i * lanes);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
    __asm__ volatile("" ::"v"(sums[i]));
}

typedef struct share {
  float *data;   /* null: multiply and add */
  float *target; /* null: read only */
  size_t bytes;
  double best, end;
} share;

static void *work(void *argument) {
  share *mine = argument;
  while (benchmark_now() < mine->end) {
    double start = benchmark_now();
    if (!mine->data)
      multiplyAndAdd();
    else if (mine->target)
      memcpy(mine->target, mine->data, mine->bytes);
    else
      readAll(mine->data, mine->bytes / sizeof(float));
    double took = benchmark_now() - start;
    mine->best = took < mine->best ? took : mine->best;
  }
  return NULL;
}

static double best(share *shares, int threads, double seconds) {
  pthread_t others[64];
  double sum = 0;
  for (int i = 0; i < threads; i++) {
    shares[i].best = 1e9;
    shares[i].end = benchmark_now() + seconds;
    if (i + 1 < threads)
      pthread_create(&others[i], NULL, work, &shares[i]);
  }
  work(&shares[threads - 1]);
  for (int i = 0; i + 1 < threads; i++)
    pthread_join(others[i], NULL);
  for (int i = 0; i < threads; i++)
    sum += 1 / shares[i].best;
  return sum;
}

/* GFLOP/s of all threads together. */
double benchmark_peak(int threads, double seconds) {
  share shares[64] = {{0}};
  return best(shares, threads, seconds) * steps * registers * lanes * 2 * 1e-9;
}

/* GB/s of all threads together, each in `bytes` of its own: read, or with
 * `copy` read and written. */
double benchmark_bandwidth(int threads, double seconds, size_t bytes,
                           int copy) {
  share shares[64] = {{0}};
  bytes = (bytes + 4095) / 4096 * 4096;
  for (int i = 0; i < threads; i++) {
    shares[i].bytes = bytes;
    shares[i].data = memset(aligned_alloc(4096, bytes), 1, bytes);
    shares[i].target =
        copy ? memset(aligned_alloc(4096, bytes), 2, bytes) : NULL;
  }
  double rate = best(shares, threads, seconds) * bytes * (copy ? 2 : 1) * 1e-9;
  for (int i = 0; i < threads; i++) {
    free(shares[i].data);
    free(shares[i].target);
  }
  return rate;
}
