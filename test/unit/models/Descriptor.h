// Words of a descriptor in assembly: what the compiler emits for onnxc_model,
// for models that are written by hand. `at` is the distance from the word to a
// label, as wide as an address.

#if __SIZEOF_POINTER__ == 8
#define OFFSET ".quad "
#else
#define OFFSET ".long "
#endif
#define AT(label) OFFSET label " - .\n"
#define NOTHING OFFSET "0\n"
#define WORD(value) ".long " #value "\n"
#define LONG(value) ".quad " #value "\n"
#define TEXT(label, text) label ": .asciz \"" text "\"\n"
#define OBJECT(label) ".globl " label "\n.type " label ", %object\n" label ":\n"

// kind, type, rank, flags, name, dims, parameter, reserved
#define VALUE(type, rank, flags, name, dims)                                   \
  WORD(1) WORD(type) WORD(rank) WORD(flags) AT(name) dims AT(name) NOTHING
#define DIM(extent, bound, symbol) LONG(extent) LONG(bound) WORD(symbol) WORD(0)
#define SYMBOL(hint, bound, name) LONG(hint) LONG(bound) AT(name) NOTHING
