/* Runs the 3x3 convolution of test/lowering/loops/peeled-convolution.mlir,
 * checks it against plain loops at some places and prints its speed beside the
 * core's measured peak: minimum over about half a second each. */
#include <immintrin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void conv(const float *x, const float *w, const float *bias, float *y);

enum { size = 56, channels = 64 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static float *randomFloats(size_t count) {
  float *floats = aligned_alloc(64, count * sizeof(float));
  for (size_t i = 0; i < count; i++)
    floats[i] = rand() / (float)RAND_MAX - 0.5f;
  return floats;
}

#define BEST(best, call)                                                       \
  for (double end = now() + 0.5, t; now() < end;) {                            \
    t = now();                                                                 \
    call;                                                                      \
    best = fmin(best, now() - t);                                              \
  }

/* Twelve independent sums hide the latency of two multiply-adds a cycle. */
static void multiplyAndAdd(void) {
  __m256 sums[12], x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-5f);
#pragma GCC unroll 12
  for (int i = 0; i < 12; i++)
    sums[i] = _mm256_set1_ps(i);
  for (int k = 0; k < 20000; k++) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++)
      sums[i] = _mm256_fmadd_ps(sums[i], x, y);
    __asm__ volatile("" : "+x"(x));
  }
#pragma GCC unroll 12
  for (int i = 0; i < 12; i++)
    __asm__ volatile("" ::"x"(sums[i]));
}

static double expected(const float *x, const float *w, const float *bias,
                       int row, int column, int o) {
  double sum = bias[o];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int h = row + i - 1, v = column + j - 1;
      if (h < 0 || v < 0 || h >= size || v >= size)
        continue;
      for (int k = 0; k < channels; k++)
        sum += (double)x[(h * size + v) * channels + k] *
               w[(((o / 16 * 3 + i) * 3 + j) * channels + k) * 16 + o % 16];
    }
  return fmax(sum, 0);
}

int main(void) {
  float *x = randomFloats(size * size * channels);
  float *w = randomFloats(9 * channels * channels);
  float *bias = randomFloats(channels);
  float *y = randomFloats(size * size * channels);
  double convolution = 1e9, peak = 1e9, worst = 0;
  BEST(convolution, conv(x, w, bias, y));
  BEST(peak, multiplyAndAdd());
  for (int t = 0; t < 1000; t++) {
    int row = rand() % size, column = rand() % size, o = rand() % channels;
    worst = fmax(worst, fabs(expected(x, w, bias, row, column, o) -
                             y[(row * size + column) * channels + o]));
  }
  double rate =
      2.0 * 9 * channels * channels * size * size / convolution * 1e-9;
  double most = 20000.0 * 12 * 16 / peak * 1e-9;
  printf("3x3 64->64 at 56x56: %.3f ms, %.1f GFLOP/s = %.0f %% of %.1f, "
         "largest error %.1e\n",
         convolution * 1e3, rate, 100 * rate / most, most, worst);
  return worst > 1e-3;
}
