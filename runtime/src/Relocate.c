// The relocations of an object that is loaded at its final address. Only those
// that refer to addresses are here: no GOT, no PLT, no thread-local storage,
// because an object of ours has no undefined symbol. The types are those that
// compilers emit for the small code model, and the 64-bit ones that reach
// weights beyond 2 GB.
//
// Every store is checked against the room that is left in the section and every
// value against the width of its field: a file may claim anything.

#include "Loaded.h"

#include <elf.h>
#include <string.h>

// Older elf.h lack some names.
#ifndef R_AARCH64_PLT32
#define R_AARCH64_PLT32 314
#endif

static bool fits_signed(int64_t value, unsigned bits) {
  int64_t limit = (int64_t)1 << (bits - 1);
  return value >= -limit && value < limit;
}

static bool store(char *place, uint64_t room, const void *bytes, size_t count) {
  if (room < count)
    return false;
  memcpy(place, bytes, count);
  return true;
}

static bool store64(char *place, uint64_t room, uint64_t value) {
  return store(place, room, &value, sizeof value);
}

static bool store_signed32(char *place, uint64_t room, int64_t value) {
  int32_t narrow = (int32_t)value;
  return fits_signed(value, 32) && store(place, room, &narrow, sizeof narrow);
}

static bool relocate_x86_64(uint32_t type, char *place, uint64_t room,
                            uint64_t target) {
  int64_t distance = (int64_t)(target - (uint64_t)(uintptr_t)place);
  uint32_t low = (uint32_t)target;
  switch (type) {
  case R_X86_64_NONE:
    return true;
  case R_X86_64_64:
    return store64(place, room, target);
  case R_X86_64_PC64:
    return store64(place, room, (uint64_t)distance);
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    return store_signed32(place, room, distance);
  case R_X86_64_32:
    return target == low && store(place, room, &low, sizeof low);
  case R_X86_64_32S:
    return store_signed32(place, room, (int64_t)target);
  default:
    return false;
  }
}

// Replaces `bits` bits of the instruction at `place`, from bit `shift` on.
static bool patch(char *place, uint64_t room, uint32_t value, unsigned bits,
                  unsigned shift) {
  uint32_t word;
  if (room < sizeof word)
    return false;
  memcpy(&word, place, sizeof word);
  uint32_t mask = ((uint32_t)1 << bits) - 1;
  word = (word & ~(mask << shift)) | ((value & mask) << shift);
  memcpy(place, &word, sizeof word);
  return true;
}

// A branch: a distance in words, `bits` wide.
static bool patch_branch(char *place, uint64_t room, int64_t distance,
                         unsigned bits, unsigned shift) {
  return distance % 4 == 0 && fits_signed(distance, bits + 2) &&
         patch(place, room, (uint32_t)((uint64_t)distance >> 2), bits, shift);
}

// ADR and ADRP: the lowest two bits stand apart from the others.
static bool patch_adr(char *place, uint64_t room, int64_t value) {
  return fits_signed(value, 21) && patch(place, room, (uint32_t)value, 2, 29) &&
         patch(place, room, (uint32_t)((uint64_t)value >> 2), 19, 5);
}

// A load or store of 1 << scale bytes: the offset within a 4 KiB page, scaled.
static bool patch_offset(char *place, uint64_t room, uint64_t target,
                         unsigned scale) {
  uint32_t offset = (uint32_t)(target & 0xfff);
  return offset % (1u << scale) == 0 &&
         patch(place, room, offset >> scale, 12, 10);
}

static bool relocate_aarch64(uint32_t type, char *place, uint64_t room,
                             uint64_t target) {
  uint64_t here = (uint64_t)(uintptr_t)place;
  int64_t distance = (int64_t)(target - here);
  int64_t pages =
      (int64_t)((target & ~(uint64_t)0xfff) - (here & ~(uint64_t)0xfff)) >> 12;
  switch (type) {
  case R_AARCH64_NONE:
    return true;
  case R_AARCH64_ABS64:
    return store64(place, room, target);
  case R_AARCH64_PREL64:
    return store64(place, room, (uint64_t)distance);
  case R_AARCH64_PREL32:
  case R_AARCH64_PLT32:
    return store_signed32(place, room, distance);
  case R_AARCH64_CALL26:
  case R_AARCH64_JUMP26:
    return patch_branch(place, room, distance, 26, 0);
  case R_AARCH64_CONDBR19:
  case R_AARCH64_LD_PREL_LO19:
    return patch_branch(place, room, distance, 19, 5);
  case R_AARCH64_TSTBR14:
    return patch_branch(place, room, distance, 14, 5);
  case R_AARCH64_ADR_PREL_LO21:
    return patch_adr(place, room, distance);
  case R_AARCH64_ADR_PREL_PG_HI21:
    return patch_adr(place, room, pages);
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return patch_offset(place, room, target, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return patch_offset(place, room, target, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return patch_offset(place, room, target, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC:
    return patch_offset(place, room, target, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return patch_offset(place, room, target, 4);
  default:
    return false;
  }
}

bool onnxc_relocate(uint32_t machine, uint32_t type, char *place, uint64_t room,
                    uint64_t target) {
  switch (machine) {
  case EM_X86_64:
    return relocate_x86_64(type, place, room, target);
  case EM_AARCH64:
    return relocate_aarch64(type, place, room, target);
  default:
    return false;
  }
}
