// A whole program for a Cortex-M without operating system and without C
// library: vectors, start-up, and the model's answers through semihosting.

#include "../answer.h"

extern const onnxc_model MODEL;

// From the linker script.
extern char stack_top[], data_load[], data_begin[], data_end[];
extern char bss_begin[], bss_end[], memory_begin[], memory_end[];

// The held-out digits, in flash.
__asm__(".section .rodata.records,\"a\"\n"
        "records: .incbin \"" RECORDS "\"\n"
        "records_end:\n"
        ".text\n");
extern const unsigned char records[], records_end[];

enum {
  SYS_WRITE0 = 0x04,
  SYS_EXIT_EXTENDED = 0x20,
  APPLICATION_EXIT = 0x20026
};

static uint32_t semihost(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void put(const char *text) { semihost(SYS_WRITE0, text); }

static void leave(uint32_t code) {
  uint32_t reason[2] = {APPLICATION_EXIT, code};
  semihost(SYS_EXIT_EXTENDED, reason);
  for (;;)
    ;
}

// Compilers call these even where there is no library. The model does not: it
// has no undefined symbol.
void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    ((volatile char *)to)[i] = (char)value;
  return to;
}

void __aeabi_memclr8(void *to, size_t bytes) { memset(to, 0, bytes); }

void reset(void) {
  // Floating point, where there is any, is off after reset.
  *(volatile uint32_t *)0xe000ed88 |= 0xf << 20;
  __asm__ volatile("dsb\nisb");
  memcpy(data_begin, data_load, (size_t)(data_end - data_begin));
  memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
  int32_t status =
      answer(&MODEL, records, (uint32_t)(records_end - records), TIMES,
             memory_begin, (uint64_t)(memory_end - memory_begin));
  leave((uint32_t)status);
}

static void fault(void) {
  put("fault\n");
  leave(99);
}

__attribute__((section(".vectors"),
               used)) static const void *const vectors[16] = {
    stack_top,     (void *)reset, (void *)fault, (void *)fault,
    (void *)fault, (void *)fault, (void *)fault};
