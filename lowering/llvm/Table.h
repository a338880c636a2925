// A constant of the object that refers to other symbols by signed distances
// from the field that holds them, so that it needs no dynamic relocation.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc {

class Table {
public:
  // `offsetType` is as wide as an address.
  Table(mlir::IntegerType offsetType) : offsetType(offsetType) {}

  void addInteger(unsigned bits, int64_t value);
  // Distance to `symbol` + `index` * sizeof(`element`).
  void addOffset(mlir::StringRef symbol, mlir::Type element = {},
                 int64_t index = 0);
  void addAbsent() { addInteger(offsetType.getWidth(), 0); }

  bool isEmpty() const { return fields.empty(); }
  mlir::LLVM::LLVMStructType type() const;
  // Writes the global at the builder's insertion point.
  mlir::LLVM::GlobalOp emit(mlir::ImplicitLocOpBuilder &builder,
                            mlir::StringRef name, mlir::LLVM::Linkage linkage);

private:
  struct Field {
    unsigned bits;
    int64_t value; // or the index, where there is a symbol
    std::string symbol;
    mlir::Type element;
  };
  mlir::Value distance(mlir::ImplicitLocOpBuilder &builder, mlir::StringRef own,
                       unsigned position, const Field &field);

  mlir::IntegerType offsetType;
  llvm::SmallVector<Field> fields;
};

// A private constant that holds `text` and a terminating zero; one per text.
std::string internText(mlir::ModuleOp module, llvm::StringRef text);

} // namespace onnxc
