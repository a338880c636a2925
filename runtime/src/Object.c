// Maps a relocatable ELF object, so that what the compiler wrote runs without
// a linker. The image is one reservation:
//
//   | code, read + execute | constants, read | large sections of the file, read
//
// Code and small constants are copied and relocated while they are writable,
// then protected; nothing is ever writable and executable at once. Large
// sections without relocations, which means weights, are mapped from the file:
// a gigabyte of them costs no copy and is shared between processes. Code comes
// first and weights last, because code reaches constants with 32-bit distances
// and weights with 64-bit ones.
//
// The file is not trusted. All numbers in it are checked where they are read,
// against the file's size and the section's, and all sums cannot overflow
// because their parts were bounded first.

#include "Loaded.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Nobody has more; bounds the work that a hostile header can ask for.
#define MAX_SECTIONS 65279u
#define MAX_IMAGE_BYTES ((uint64_t)1 << 46)
// Readable bytes before the first function: sanitizers of the caller's code
// look there for the type of what they call.
#define LEAD_BYTES 64u
// Sections from this size on are mapped instead of copied.
#define MAP_FROM_BYTES ((uint64_t)1 << 16)

typedef struct elf_file {
  const char *bytes;
  uint64_t size;
  Elf64_Ehdr header;
  uint32_t section_count;
} elf_file;

typedef struct image {
  char *begin; // the reservation
  uint64_t bytes;
  uint64_t code_bytes;     // [0, code_bytes) in whole pages
  uint64_t constant_bytes; // [0, constant_bytes) are copied, the rest is mapped
  char **addresses;        // of every section; null: not loaded
} image;

static bool inside(const elf_file *elf, uint64_t offset, uint64_t bytes) {
  return offset <= elf->size && bytes <= elf->size - offset;
}

static Elf64_Shdr section_at(const elf_file *elf, uint32_t index) {
  Elf64_Shdr section;
  memcpy(&section,
         elf->bytes + elf->header.e_shoff + (uint64_t)index * sizeof section,
         sizeof section);
  return section;
}

static bool is_loaded(const Elf64_Shdr *section) {
  return (section->sh_flags & SHF_ALLOC) && section->sh_size;
}

static bool is_code(const Elf64_Shdr *section) {
  return section->sh_flags & SHF_EXECINSTR;
}

// Reads the header; false where this is no 64-bit little-endian ELF file whose
// table of sections lies inside the file.
static bool read_header(const void *bytes, uint64_t size, elf_file *elf) {
  elf->bytes = bytes;
  elf->size = size;
  if (size < sizeof elf->header)
    return false;
  memcpy(&elf->header, bytes, sizeof elf->header);
  const Elf64_Ehdr *header = &elf->header;
  elf->section_count = header->e_shnum;
  return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
         header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_ident[EI_DATA] == ELFDATA2LSB &&
         header->e_shentsize == sizeof(Elf64_Shdr) &&
         elf->section_count <= MAX_SECTIONS &&
         inside(elf, header->e_shoff,
                (uint64_t)elf->section_count * sizeof(Elf64_Shdr));
}

// What may be loaded at all: code and constants that lie inside the file.
static int32_t check_section(const elf_file *elf, const Elf64_Shdr *section,
                             onnxc_message *message) {
  uint64_t align = section->sh_addralign;
  if (section->sh_flags & (SHF_WRITE | SHF_TLS) ||
      section->sh_type == SHT_NOBITS)
    return onnxc_fail(message, ONNXC_FORMAT, "object has a writable section");
  if (section->sh_flags & SHF_COMPRESSED)
    return onnxc_fail(message, ONNXC_FORMAT, "object has compressed sections");
  if (!inside(elf, section->sh_offset, section->sh_size))
    return onnxc_fail(message, ONNXC_FORMAT, "section lies outside the file");
  if ((align & (align - 1)) || align > 4096)
    return onnxc_fail(message, ONNXC_FORMAT, "section has alignment %llu",
                      (unsigned long long)align);
  return ONNXC_OK;
}

// Marks the sections that relocations change.
static void mark_relocated(const elf_file *elf, char *relocated) {
  for (uint32_t i = 0; i < elf->section_count; ++i) {
    Elf64_Shdr section = section_at(elf, i);
    if ((section.sh_type == SHT_RELA || section.sh_type == SHT_REL) &&
        section.sh_info < elf->section_count)
      relocated[section.sh_info] = 1;
  }
}

enum { CODE, CONSTANTS, MAPPED, GROUPS };

static int group_of(const Elf64_Shdr *section, bool relocated, int file) {
  if (is_code(section))
    return CODE;
  bool map = file >= 0 && !relocated && section->sh_size >= MAP_FROM_BYTES &&
             (!section->sh_addralign ||
              section->sh_offset % section->sh_addralign == 0);
  return map ? MAPPED : CONSTANTS;
}

static uint64_t round_up(uint64_t value, uint64_t align) {
  return align > 1 ? (value + align - 1) / align * align : value;
}

// Chooses the distance of every section from the image's begin, stored in
// `offsets`, group by group; each group begins on a page.
static int32_t lay_out(const elf_file *elf, const char *relocated, int file,
                       uint64_t page, uint64_t *offsets, image *image,
                       onnxc_message *message) {
  uint64_t end = LEAD_BYTES;
  for (int group = 0; group < GROUPS; ++group) {
    for (uint32_t i = 0; i < elf->section_count; ++i) {
      Elf64_Shdr section = section_at(elf, i);
      if (!is_loaded(&section) ||
          group_of(&section, relocated[i], file) != group)
        continue;
      int32_t status = check_section(elf, &section, message);
      if (status)
        return status;
      // A mapped section keeps its place within a page of the file.
      end = group == MAPPED ? round_up(end, page) + section.sh_offset % page
                            : round_up(end, section.sh_addralign);
      offsets[i] = end;
      end += section.sh_size;
      if (end > MAX_IMAGE_BYTES)
        return onnxc_fail(message, ONNXC_FORMAT, "object is too large");
    }
    end = round_up(end, page);
    if (group == CODE)
      image->code_bytes = end;
    if (group == CONSTANTS)
      image->constant_bytes = end;
  }
  image->bytes = end;
  return ONNXC_OK;
}

static bool fill_section(const elf_file *elf, const Elf64_Shdr *section,
                         char *address, bool map, int file, uint64_t page) {
  if (!map) {
    memcpy(address, elf->bytes + section->sh_offset, section->sh_size);
    return true;
  }
  uint64_t lead = section->sh_offset % page;
  return mmap(address - lead, section->sh_size + lead, PROT_READ,
              MAP_PRIVATE | MAP_FIXED, file,
              (off_t)(section->sh_offset - lead)) != MAP_FAILED;
}

// Reserves the image and fills it with the bytes of the sections.
static int32_t fill(const elf_file *elf, const char *relocated, int file,
                    image *image, uint64_t *offsets, onnxc_message *message) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  int32_t status = lay_out(elf, relocated, file, page, offsets, image, message);
  if (status)
    return status;
  void *begin = mmap(NULL, image->bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    return onnxc_fail(message, ONNXC_MEMORY, "out of memory");
  image->begin = begin;
  for (uint32_t i = 0; i < elf->section_count; ++i) {
    Elf64_Shdr section = section_at(elf, i);
    if (!is_loaded(&section))
      continue;
    image->addresses[i] = image->begin + offsets[i];
    bool map = group_of(&section, relocated[i], file) == MAPPED;
    if (!fill_section(elf, &section, image->addresses[i], map, file, page))
      return onnxc_fail(message, ONNXC_MEMORY, "cannot map the weights");
  }
  return ONNXC_OK;
}

typedef struct symbol_table {
  const char *entries;
  uint64_t count;
  const char *names;
  uint64_t names_bytes;
} symbol_table;

static bool read_symbols(const elf_file *elf, uint32_t type,
                         symbol_table *table) {
  for (uint32_t i = 0; i < elf->section_count; ++i) {
    Elf64_Shdr section = section_at(elf, i);
    if (section.sh_type != type)
      continue;
    if (!inside(elf, section.sh_offset, section.sh_size) ||
        section.sh_entsize != sizeof(Elf64_Sym) ||
        section.sh_link >= elf->section_count)
      return false;
    Elf64_Shdr names = section_at(elf, section.sh_link);
    if (names.sh_type != SHT_STRTAB || !names.sh_size ||
        !inside(elf, names.sh_offset, names.sh_size))
      return false;
    table->entries = elf->bytes + section.sh_offset;
    table->count = section.sh_size / sizeof(Elf64_Sym);
    table->names = elf->bytes + names.sh_offset;
    table->names_bytes = names.sh_size;
    return table->names[names.sh_size - 1] == '\0';
  }
  return false;
}

static Elf64_Sym symbol_at(const symbol_table *table, uint64_t index) {
  Elf64_Sym symbol;
  memcpy(&symbol, table->entries + index * sizeof symbol, sizeof symbol);
  return symbol;
}

// Valid as long as the file's bytes: the table ends with a zero.
static const char *symbol_name(const symbol_table *table,
                               const Elf64_Sym *symbol) {
  return symbol->st_name < table->names_bytes ? table->names + symbol->st_name
                                              : "";
}

// The address of a symbol, null where it is not inside a loaded section.
static char *symbol_address(const elf_file *elf, const image *image,
                            const Elf64_Sym *symbol) {
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= elf->section_count)
    return NULL;
  char *begin = image->addresses[symbol->st_shndx];
  Elf64_Shdr section = section_at(elf, symbol->st_shndx);
  return begin && symbol->st_value <= section.sh_size ? begin + symbol->st_value
                                                      : NULL;
}

static int32_t relocate_section(const elf_file *elf, const image *image,
                                const symbol_table *symbols,
                                const Elf64_Shdr *relocations,
                                onnxc_message *message) {
  Elf64_Shdr section = section_at(elf, relocations->sh_info);
  char *begin = image->addresses[relocations->sh_info];
  if (!inside(elf, relocations->sh_offset, relocations->sh_size) ||
      relocations->sh_entsize != sizeof(Elf64_Rela))
    return onnxc_fail(message, ONNXC_FORMAT, "malformed relocation table");
  uint64_t count = relocations->sh_size / sizeof(Elf64_Rela);
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Rela entry;
    memcpy(&entry, elf->bytes + relocations->sh_offset + i * sizeof entry,
           sizeof entry);
    uint32_t type = (uint32_t)ELF64_R_TYPE(entry.r_info);
    if (type == 0)
      continue;
    if (entry.r_offset >= section.sh_size ||
        ELF64_R_SYM(entry.r_info) >= symbols->count)
      return onnxc_fail(message, ONNXC_FORMAT, "malformed relocation");
    Elf64_Sym symbol = symbol_at(symbols, ELF64_R_SYM(entry.r_info));
    const char *address = symbol_address(elf, image, &symbol);
    if (!address)
      return onnxc_fail(message, ONNXC_FORMAT, "undefined symbol '%.64s'",
                        symbol_name(symbols, &symbol));
    uint64_t target = (uint64_t)(uintptr_t)address + (uint64_t)entry.r_addend;
    if (!onnxc_relocate(elf->header.e_machine, type, begin + entry.r_offset,
                        section.sh_size - entry.r_offset, target))
      return onnxc_fail(message, ONNXC_FORMAT,
                        "relocation of type %u cannot be applied", type);
  }
  return ONNXC_OK;
}

static int32_t relocate(const elf_file *elf, const image *image,
                        const symbol_table *symbols, onnxc_message *message) {
  for (uint32_t i = 0; i < elf->section_count; ++i) {
    Elf64_Shdr section = section_at(elf, i);
    bool applies = section.sh_info < elf->section_count &&
                   image->addresses[section.sh_info];
    if (section.sh_type == SHT_REL && applies)
      return onnxc_fail(message, ONNXC_FORMAT, "relocations without addends");
    if (section.sh_type != SHT_RELA || !applies)
      continue;
    int32_t status = relocate_section(elf, image, symbols, &section, message);
    if (status)
      return status;
  }
  return ONNXC_OK;
}

static bool protect(const image *image) {
  uint64_t constants = image->constant_bytes - image->code_bytes;
  if (image->code_bytes &&
      mprotect(image->begin, image->code_bytes, PROT_READ | PROT_EXEC))
    return false;
#if defined(__GNUC__)
  __builtin___clear_cache(image->begin, image->begin + image->code_bytes);
#endif
  if (constants &&
      mprotect(image->begin + image->code_bytes, constants, PROT_READ))
    return false;
  // Rounding leaves pages between mapped sections that nobody fills.
  uint64_t mapped = image->bytes - image->constant_bytes;
  return !mapped ||
         !mprotect(image->begin + image->constant_bytes, mapped, PROT_READ);
}

static bool ends_in_model(const char *name) {
  size_t length = strlen(name);
  return length > 6 && !strcmp(name + length - 6, "_model");
}

static bool names_model(const symbol_table *symbols, const Elf64_Sym *symbol) {
  return ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
         symbol->st_shndx != SHN_UNDEF &&
         ends_in_model(symbol_name(symbols, symbol));
}

// The first global symbol P_model that lies where a descriptor can lie.
static const onnxc_model *find_model(const elf_file *elf, const image *image,
                                     const symbol_table *symbols) {
  for (uint64_t i = 0; i < symbols->count; ++i) {
    Elf64_Sym symbol = symbol_at(symbols, i);
    if (!names_model(symbols, &symbol))
      continue;
    const char *address = symbol_address(elf, image, &symbol);
    if (!address || (uintptr_t)address % _Alignof(onnxc_model))
      continue;
    Elf64_Shdr section = section_at(elf, symbol.st_shndx);
    uint32_t magic = 0;
    if (section.sh_size - symbol.st_value >= sizeof(onnxc_model))
      memcpy(&magic, address, sizeof magic);
    if (magic == ONNXC_MAGIC)
      return (const onnxc_model *)address;
  }
  return NULL;
}

static uint64_t count_code(const elf_file *elf) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < elf->section_count; ++i) {
    Elf64_Shdr section = section_at(elf, i);
    if (is_loaded(&section) && is_code(&section))
      bytes += section.sh_size;
  }
  return bytes;
}

static int32_t load(const elf_file *elf, int file, const char *relocated,
                    uint64_t *offsets, image *image, onnxc_loaded *loaded,
                    onnxc_message *message) {
  symbol_table symbols;
  if (!read_symbols(elf, SHT_SYMTAB, &symbols))
    return onnxc_fail(message, ONNXC_FORMAT, "object has no symbol table");
  int32_t status = fill(elf, relocated, file, image, offsets, message);
  if (!status)
    status = relocate(elf, image, &symbols, message);
  if (status)
    return status;
  if (!protect(image))
    return onnxc_fail(message, ONNXC_MEMORY, "cannot protect the code");
  loaded->model = find_model(elf, image, &symbols);
  if (!loaded->model)
    return onnxc_fail(message, ONNXC_FORMAT, "object has no model");
  onnxc_extent extent = {image->begin, image->bytes, image->begin,
                         image->code_bytes};
  return onnxc_check_model(loaded->model, &extent, message);
}

int32_t onnxc_map_object(const void *bytes, uint64_t size, int file,
                         onnxc_loaded *loaded, onnxc_message *message) {
  elf_file elf;
  if (!read_header(bytes, size, &elf) || elf.header.e_type != ET_REL)
    return onnxc_fail(message, ONNXC_FORMAT, "not a relocatable ELF object");
  if (elf.header.e_machine != onnxc_this_machine())
    return onnxc_fail(message, ONNXC_MACHINE,
                      "object is for ELF machine %u, this is %u",
                      elf.header.e_machine, onnxc_this_machine());
  size_t count = elf.section_count ? elf.section_count : 1;
  image image = {0};
  image.addresses = calloc(count, sizeof *image.addresses);
  uint64_t *offsets = calloc(count, sizeof *offsets);
  char *relocated = calloc(count, 1);
  int32_t status;
  if (!image.addresses || !offsets || !relocated) {
    status = onnxc_fail(message, ONNXC_MEMORY, "out of memory");
  } else {
    mark_relocated(&elf, relocated);
    status = load(&elf, file, relocated, offsets, &image, loaded, message);
  }
  free(image.addresses);
  free(offsets);
  free(relocated);
  loaded->image.begin = image.begin;
  loaded->image.bytes = image.begin ? image.bytes : 0;
  loaded->code_bytes = count_code(&elf);
  return status;
}

const char *onnxc_exported_model(const void *bytes, uint64_t size,
                                 uint64_t *code_bytes) {
  elf_file elf;
  symbol_table symbols;
  if (!read_header(bytes, size, &elf) ||
      !read_symbols(&elf, SHT_DYNSYM, &symbols))
    return NULL;
  *code_bytes = count_code(&elf);
  for (uint64_t i = 0; i < symbols.count; ++i) {
    Elf64_Sym symbol = symbol_at(&symbols, i);
    if (names_model(&symbols, &symbol))
      return symbol_name(&symbols, &symbol);
  }
  return NULL;
}
