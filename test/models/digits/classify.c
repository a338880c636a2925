/* The quick start's program: one compiled network, no library beside it.
 *
 *   classify HELDOUT.BIN     records of 65 bytes: 8x8 grey values 0..16, label
 *
 * Prints the first digits as pictures with the network's answer, then the
 * accuracy over all of them. Exit 1 below 90 %. */
#include "digits.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { side = 8, pixels = side * side, record = pixels + 1, shown = 2 };

static void show(const unsigned char *grey) {
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      char shade = " .:-=+*#@"[grey[row * side + column] / 2];
      printf("%c%c", shade, shade);
    }
    printf("\n");
  }
}

/* Returns the digit with the highest probability, or -1. */
static int classify(const unsigned char *grey, void *arena) {
  float image[pixels], probabilities[10];
  for (int i = 0; i < pixels; ++i)
    image[i] = grey[i];
  if (digits_run(image, probabilities, arena) != 0)
    return -1;
  int best = 0;
  for (int i = 1; i < 10; ++i)
    best = probabilities[i] > probabilities[best] ? i : best;
  return best;
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  void *arena = aligned_alloc(64, (digits_arena_bytes() + 63) / 64 * 64 + 64);
  if (!file || !arena) {
    fprintf(stderr, "usage: classify HELDOUT.BIN\n");
    return 2;
  }
  int total = 0, right = 0;
  double fastest = 1;
  unsigned char digit[record];
  while (fread(digit, record, 1, file) == 1) {
    double start = seconds();
    int answer = classify(digit, arena);
    double spent = seconds() - start;
    fastest = spent < fastest ? spent : fastest;
    right += answer == digit[pixels];
    if (total++ < shown) {
      show(digit);
      printf("answer: %d, label: %d\n\n", answer, digit[pixels]);
    }
  }
  fclose(file);
  free(arena);
  printf("accuracy: %d of %d held-out digits\n", right, total);
  printf("arena: %llu bytes, time: %.1f us a digit\n",
         (unsigned long long)digits_arena_bytes(), 1e6 * fastest);
  return total > 0 && right * 10 >= total * 9 ? 0 : 1;
}
