// What this CPU can do, in the bits of onnxc_model.cpu_features. A model that
// needs more is refused when it is opened, instead of dying on an illegal
// instruction in the middle of a run. A bit that no list here knows counts as
// missing.

#include "Loaded.h"

#define FEATURE_NAME(bit, name) [bit] = name,

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>

uint32_t onnxc_this_machine(void) { return ONNXC_MACHINE_X86_64; }

enum { EAX, EBX, ECX, EDX };
// Registers that the operating system must save for the feature to be usable.
enum { NONE = 0, AVX = 0x6, AVX512 = 0xe6, AMX = 0x60000 };

typedef struct cpuid_bit {
  uint32_t leaf;
  uint8_t subleaf;
  uint8_t reg;
  uint8_t bit;
  uint32_t state;
} cpuid_bit;

// In the order of ONNXC_X86_FEATURES.
static const cpuid_bit bits[] = {
    {1, 0, ECX, 0, NONE},           // sse3
    {1, 0, ECX, 9, NONE},           // ssse3
    {1, 0, ECX, 19, NONE},          // sse4.1
    {1, 0, ECX, 20, NONE},          // sse4.2
    {1, 0, ECX, 23, NONE},          // popcnt
    {1, 0, ECX, 28, AVX},           // avx
    {1, 0, ECX, 29, AVX},           // f16c
    {1, 0, ECX, 12, AVX},           // fma
    {1, 0, ECX, 22, NONE},          // movbe
    {7, 0, EBX, 5, AVX},            // avx2
    {7, 0, EBX, 3, NONE},           // bmi
    {7, 0, EBX, 8, NONE},           // bmi2
    {0x80000001, 0, ECX, 5, NONE},  // lzcnt
    {7, 0, EBX, 16, AVX512},        // avx512f
    {7, 0, EBX, 17, AVX512},        // avx512dq
    {7, 0, EBX, 30, AVX512},        // avx512bw
    {7, 0, EBX, 31, AVX512},        // avx512vl
    {7, 0, EBX, 28, AVX512},        // avx512cd
    {7, 0, ECX, 11, AVX512},        // avx512vnni
    {7, 1, EAX, 5, AVX512},         // avx512bf16
    {7, 0, EDX, 23, AVX512},        // avx512fp16
    {7, 0, ECX, 1, AVX512},         // avx512vbmi
    {7, 0, ECX, 6, AVX512},         // avx512vbmi2
    {7, 0, ECX, 12, AVX512},        // avx512bitalg
    {7, 0, ECX, 14, AVX512},        // avx512vpopcntdq
    {7, 0, EBX, 21, AVX512},        // avx512ifma
    {7, 1, EAX, 4, AVX},            // avxvnni
    {7, 1, EDX, 4, AVX},            // avxvnniint8
    {7, 1, EDX, 5, AVX},            // avxneconvert
    {7, 1, EAX, 23, AVX},           // avxifma
    {7, 0, ECX, 8, NONE},           // gfni
    {7, 0, ECX, 9, AVX},            // vaes
    {7, 0, ECX, 10, AVX},           // vpclmulqdq
    {7, 0, EBX, 19, NONE},          // adx
    {0x80000001, 0, ECX, 6, NONE},  // sse4a
    {0x80000001, 0, ECX, 11, AVX},  // xop
    {0x80000001, 0, ECX, 16, AVX},  // fma4
    {0x80000001, 0, ECX, 21, NONE}, // tbm
    {7, 0, EDX, 24, AMX},           // amx-tile
    {7, 0, EDX, 25, AMX},           // amx-int8
    {7, 0, EDX, 22, AMX},           // amx-bf16
    {1, 0, ECX, 25, NONE},          // aes
    {1, 0, ECX, 1, NONE},           // pclmul
    {1, 0, ECX, 13, NONE},          // cx16
    {0x80000001, 0, ECX, 0, NONE},  // sahf
};
static const char *const names[] = {ONNXC_X86_FEATURES(FEATURE_NAME)};
_Static_assert(sizeof bits / sizeof *bits == sizeof names / sizeof *names,
               "one row for every feature");

static bool leaf_bit(uint32_t leaf, uint32_t subleaf, int reg, int bit) {
  unsigned values[4] = {0};
  return __get_cpuid_count(leaf, subleaf, &values[EAX], &values[EBX],
                           &values[ECX], &values[EDX]) &&
         (values[reg] >> bit & 1);
}

// The registers that the operating system saves; 0 where it saves none.
static uint32_t saved_state(void) {
  if (!leaf_bit(1, 0, ECX, 27)) // OSXSAVE
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static bool has_feature(unsigned index) {
  const cpuid_bit *entry = &bits[index];
  return (saved_state() & entry->state) == entry->state &&
         leaf_bit(entry->leaf, entry->subleaf, entry->reg, entry->bit);
}

#elif defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

uint32_t onnxc_this_machine(void) { return ONNXC_MACHINE_AARCH64; }

// Bits of AT_HWCAP and AT_HWCAP2, in the order of ONNXC_AARCH64_FEATURES.
static const struct {
  uint32_t first, second;
} bits[] = {
    {1u << 8, 0},            // lse
    {1u << 7, 0},            // crc
    {1u << 12, 0},           // rdm
    {1u << 9 | 1u << 10, 0}, // fullfp16
    {1u << 20, 0},           // dotprod
    {1u << 23, 0},           // fp16fml
    {1u << 13, 0},           // jsconv
    {1u << 14, 0},           // complxnum
    {1u << 15, 0},           // rcpc
    {0, 1u << 13},           // i8mm
    {0, 1u << 14},           // bf16
    {1u << 22, 0},           // sve
    {0, 1u << 1},            // sve2
    {0, 1u << 23},           // sme
    {0, 1u << 8},            // fptoint
    {0, 1u << 7},            // altnzcv
    {1u << 26, 0},           // rcpc-immo
};
static const char *const names[] = {ONNXC_AARCH64_FEATURES(FEATURE_NAME)};
_Static_assert(sizeof bits / sizeof *bits == sizeof names / sizeof *names,
               "one row for every feature");

static bool has_feature(unsigned index) {
  uint32_t first = (uint32_t)getauxval(AT_HWCAP);
  uint32_t second = (uint32_t)getauxval(AT_HWCAP2);
  return (first & bits[index].first) == bits[index].first &&
         (second & bits[index].second) == bits[index].second;
}

#else

uint32_t onnxc_this_machine(void) { return ONNXC_MACHINE_ANY; }

static const char *const names[] = {NULL};
static bool has_feature(unsigned index) {
  (void)index;
  return true;
}

#endif

const char *onnxc_missing_feature(uint64_t required) {
  unsigned known = sizeof names / sizeof *names;
  for (unsigned i = 0; i < 64; ++i)
    if (required >> i & 1) {
      if (i >= known)
        return "unknown to this runtime";
      if (!has_feature(i))
        return names[i];
    }
  return NULL;
}
