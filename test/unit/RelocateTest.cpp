// Single relocations: the bits that they change, and what does not fit. The
// instructions are never run, so both machines are tested on any.

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <elf.h>

// runtime/src/Loaded.h, which is C only.
extern "C" bool onnxc_relocate(uint32_t machine, uint32_t type, char *place,
                               uint64_t room, uint64_t target);

namespace {

// A place in memory with 8 bytes, `before` in the first word.
struct Place {
  explicit Place(uint32_t before) { std::memcpy(bytes, &before, 4); }

  bool relocate(uint32_t machine, uint32_t type, uint64_t target) {
    return onnxc_relocate(machine, type, bytes, sizeof bytes, target);
  }
  uint64_t address() const { return reinterpret_cast<uintptr_t>(bytes); }
  uint32_t word() const {
    uint32_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  alignas(8) char bytes[8] = {};
};

constexpr uint32_t bl = 0x94000000, adrp = 0x90000000, ldr = 0xf9400000,
                   tbz = 0x36000000;

} // namespace

TEST_CASE("x86-64 distances must fit 32 bits") {
  Place place(0);
  CHECK(place.relocate(EM_X86_64, R_X86_64_PC32, place.address() - 4));
  CHECK(place.word() == 0xfffffffc);
  CHECK(place.relocate(EM_X86_64, R_X86_64_PC32, place.address() + INT32_MAX));
  uint64_t far = uint64_t{1} << 31;
  CHECK_FALSE(place.relocate(EM_X86_64, R_X86_64_PC32, place.address() + far));
  CHECK_FALSE(
      place.relocate(EM_X86_64, R_X86_64_PLT32, place.address() - far - 1));
  CHECK(place.relocate(EM_X86_64, R_X86_64_PC64, place.address() + 16 * far));
}

TEST_CASE("x86-64 addresses must fit their field") {
  Place place(0);
  CHECK(place.relocate(EM_X86_64, R_X86_64_32, 0xffffffff));
  CHECK_FALSE(place.relocate(EM_X86_64, R_X86_64_32S, 0xffffffff));
  CHECK_FALSE(place.relocate(EM_X86_64, R_X86_64_32, 0x100000000));
}

TEST_CASE("AArch64 branches reach 128 MiB in whole words") {
  Place place(bl);
  CHECK(place.relocate(EM_AARCH64, R_AARCH64_CALL26, place.address() + 8));
  CHECK(place.word() == (bl | 2));
  CHECK(place.relocate(EM_AARCH64, R_AARCH64_CALL26, place.address() - 4));
  CHECK(place.word() == (bl | 0x03ffffff));
  uint64_t far = uint64_t{1} << 27;
  CHECK(place.relocate(EM_AARCH64, R_AARCH64_JUMP26, place.address() - far));
  CHECK_FALSE(
      place.relocate(EM_AARCH64, R_AARCH64_JUMP26, place.address() + far));
  CHECK_FALSE(
      place.relocate(EM_AARCH64, R_AARCH64_CALL26, place.address() + 2));
}

TEST_CASE("AArch64 short branches keep register and bit") {
  Place place(tbz | 0x1f);
  CHECK(place.relocate(EM_AARCH64, R_AARCH64_TSTBR14, place.address() + 4));
  CHECK(place.word() == (tbz | 0x1f | 1 << 5));
  CHECK_FALSE(
      place.relocate(EM_AARCH64, R_AARCH64_TSTBR14, place.address() + 32768));
}

TEST_CASE("AArch64 pages are counted from the page of the instruction") {
  Place place(adrp);
  uint64_t page = place.address() & ~uint64_t{0xfff};
  CHECK(place.relocate(EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21,
                       page + 5 * 4096 + 0xabc));
  CHECK(place.word() == (adrp | 1u << 29 | 1 << 5)); // 5 = 1 * 4 + 1
  CHECK_FALSE(place.relocate(EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21,
                             page + (uint64_t{1} << 32)));
}

TEST_CASE("AArch64 offsets of loads are scaled and aligned") {
  Place place(ldr);
  CHECK(place.relocate(EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, 0x12348));
  CHECK(place.word() == (ldr | (0x348 / 8) << 10));
  CHECK_FALSE(
      place.relocate(EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, 0x12344));
}

TEST_CASE("a relocation needs room and a known type") {
  Place place(0);
  CHECK_FALSE(onnxc_relocate(EM_X86_64, R_X86_64_PC32, place.bytes, 3, 0));
  CHECK_FALSE(onnxc_relocate(EM_X86_64, R_X86_64_64, place.bytes, 7, 0));
  CHECK_FALSE(onnxc_relocate(EM_AARCH64, R_AARCH64_CALL26, place.bytes, 3,
                             place.address()));
  CHECK_FALSE(place.relocate(EM_X86_64, R_X86_64_GOTPCREL, 0));
  CHECK_FALSE(place.relocate(EM_AARCH64, R_AARCH64_TLSLE_ADD_TPREL_HI12, 0));
  CHECK_FALSE(place.relocate(EM_ARM, R_ARM_ABS32, 0));
}
