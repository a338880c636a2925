// #onnxc.target: what passes may know of the machine. codegen fills it; no pass sees a triple's name.
#ifndef ONNXC_TARGET
#define ONNXC_TARGET

include "dialects/onnxc/OnnxcBase.td"
include "mlir/IR/AttrTypeBase.td"

def TargetAttr : AttrDef<OnnxcDialect, "Target"> {
  let mnemonic = "target";
  let summary = "Facts of the machine that passes decide by";
  let description = [{
    Each fact names its readers. `triple`, `cpu` and `features` are for codegen alone.
    - `vector_bits`: width of a vector register, 0 where there is none (tile choice, vectorization).
    - `vector_registers`: how many (register tiles: MR * NV + NV + 1 <= vector_registers).
    - `fma_per_cycle`: full-width FMA a core issues per cycle (wide or tall register tiles, prefetching).
    - `l1_bytes`, `l2_bytes`: data caches of a core (register tiles, recurrent inputs; the roofline of a report).
    - `l3_bytes`: the cache that a group of cores shares, 0 where it is not known (prefetching, Strassen's products,
      rows by matrices of the run, the roofline of a report).
    - `block_bytes`: how much of L2 kernels count on, 0 for all of it (panels or pixels outermost, Winograd's blocks).
    - `l2_bytes_per_cycle`: what L1 gets from L2 at most (register tiles, prefetching, the roofline of a report).
    - `l3_bytes_per_cycle`: what one core gets from behind its L2 beside multiplications (Winograd's filtering, panels
      of a line for single rows).
    - `memory_bytes_per_cycle`: what one core gets from memory beside multiplications (Winograd's filtering,
      prefetching).
    - `stream_bytes`: a result of as many is written past the caches, 0 where none is (expand-vector-loops).
    - `index_bits`: 64 or 32 (index type, descriptor offsets).
    - `heap`: whether values of unbounded size may come from the caller's allocator.
    - `has_f16`: 16-bit float conversions in hardware.
    - `has_scale`: x86's vscalefps, which multiplies f32, scalar or vector, by a power of two (expand-math).
    - `has_fma`: one instruction multiplies and adds floats, scalar or vector, and rounds once (expand-math).
    - `has_permute`: one instruction takes f32 lanes by a vector of indices (expand-vector-loops).
  }];
  let parameters = (ins StringRefParameter<>:$triple, StringRefParameter<>:$cpu, StringRefParameter<>:$features,
    "int64_t":$vector_bits, "int64_t":$vector_registers, "int64_t":$fma_per_cycle,
    "int64_t":$l1_bytes, "int64_t":$l2_bytes, "int64_t":$index_bits, "bool":$heap, "bool":$has_f16,
    DefaultValuedParameter<"bool", "false">:$has_scale, DefaultValuedParameter<"bool", "false">:$has_fma,
    DefaultValuedParameter<"bool", "false">:$has_permute,
    DefaultValuedParameter<"int64_t", "0">:$l3_bytes, DefaultValuedParameter<"int64_t", "0">:$block_bytes,
    DefaultValuedParameter<"int64_t", "64">:$l2_bytes_per_cycle,
    DefaultValuedParameter<"int64_t", "8">:$l3_bytes_per_cycle,
    DefaultValuedParameter<"int64_t", "8">:$memory_bytes_per_cycle,
    DefaultValuedParameter<"int64_t", "0">:$stream_bytes);
  let extraClassDeclaration = [{
    int64_t getL2ForBlocks() const { return getBlockBytes() ? getBlockBytes() : getL2Bytes(); }
  }];
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
