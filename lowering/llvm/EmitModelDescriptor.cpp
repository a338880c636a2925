// Writes what a caller sees of the model, as runtime/include/onnxc/model.h
// declares it: the descriptor @model_model and the entries @model_call,
// @model_run and @model_arena_bytes. codegen puts the object's prefix in place
// of "model". All checks of a call are in one C function of the support library
// that interprets the descriptor, so the entries only move pointers about.
#include "dialects/onnxc/Onnxc.h"
#include "lowering/Passes.h"
#include "lowering/llvm/Abi.h"
#include "lowering/llvm/Interface.h"
#include "lowering/llvm/Table.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "runtime/include/onnxc/model.h"

using namespace mlir;

namespace onnxc {

#define GEN_PASS_DEF_EMITMODELDESCRIPTOR
#include "lowering/Passes.h.inc"

namespace {

// Distances in the descriptor that have no symbol yet: codegen knows them.
constexpr const char *weightsSymbol = "model_weights";

class Emitter {
public:
  Emitter(func::FuncOp model, Interface interface, TargetAttr target)
      : builder(model.getLoc(), model.getContext()),
        module(model->getParentOfType<ModuleOp>()), model(model),
        interface(std::move(interface)),
        indexType(builder.getIntegerType(target.getIndexBits())) {
    builder.setInsertionPointToEnd(module.getBody());
    ptr = LLVM::LLVMPointerType::get(builder.getContext());
    i32 = builder.getI32Type();
    i64 = builder.getI64Type();
  }

  LogicalResult emit();

private:
  void returnStatus();
  LogicalResult emitArenaBytes();
  FailureOr<func::FuncOp> takeFormula(StringRef name);
  void emitOverArray(StringRef name,
                     llvm::function_ref<Value(ArrayRef<Value>)> bytesOf);
  int64_t knownWorkerBytes();
  bool hasWorkerBytes();
  Value workerBytes(ArrayRef<Value> symbols);
  Value sharedBytes(Value bytes, ArrayRef<Value> symbols);
  Value checkedBytes(func::FuncOp formula, ArrayRef<Value> symbols);
  LogicalResult emitOutputDims();
  void emitDescriptor();
  void emitCall();
  void emitRun();
  void recordForHeader();

  unsigned outputDimCount() const;
  void addValue(Table &values, const InterfaceValue &value, int64_t firstDim,
                Type dimType);
  void addDims(Table &dims, const InterfaceValue &value);

  LLVM::LLVMFuncOp beginFunction(StringRef name, TypeRange inputs, Type result,
                                 LLVM::Linkage linkage);
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder,
                                    builder.getIntegerAttr(type, value));
  }
  Value array(Type element, int64_t count) {
    return LLVM::AllocaOp::create(builder, ptr, element,
                                  constant(i32, std::max<int64_t>(count, 1)));
  }
  Value element(Type type, Value base, int64_t index) {
    return LLVM::GEPOp::create(
        builder, ptr, type, base,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  }
  Value field(Type type, Value base, int64_t index, int64_t number) {
    return LLVM::GEPOp::create(
        builder, ptr, type, base,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index),
                               static_cast<int32_t>(number)});
  }
  Value load(Type type, Value from) {
    return LLVM::LoadOp::create(builder, type, from);
  }
  void store(Value value, Value to) {
    LLVM::StoreOp::create(builder, value, to);
  }
  Value toIndex(Value value) {
    return arith::IndexCastOp::create(builder, builder.getIndexType(), value);
  }
  Value fromIndex(Value value) {
    return arith::IndexCastOp::create(builder, i64, value);
  }

  ImplicitLocOpBuilder builder;
  ModuleOp module;
  func::FuncOp model;
  Interface interface;
  IntegerType indexType;
  Type ptr, i32, i64;
  bool hasOutputDims = false;
  func::FuncOp workerFormula; // null where a constant says it
};

LogicalResult Emitter::emit() {
  returnStatus();
  if (failed(emitArenaBytes()) || failed(emitOutputDims()))
    return failure();
  emitDescriptor();
  emitCall();
  if (interface.isTyped())
    emitRun();
  recordForHeader();
  return success();
}

// From here on the model is a function of the object and says how it went.
void Emitter::returnStatus() {
  model.setPrivate();
  model.setFunctionType(
      builder.getFunctionType(model.getArgumentTypes(), {i32}));
  model.walk([&](func::ReturnOp op) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    op.getOperandsMutable().assign(
        arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0)));
  });
}

LLVM::LLVMFuncOp Emitter::beginFunction(StringRef name, TypeRange inputs,
                                        Type result, LLVM::Linkage linkage) {
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, SmallVector<Type>(inputs));
  auto func = LLVM::LLVMFuncOp::create(builder, name, type, linkage);
  func.setDsoLocal(true);
  builder.setInsertionPointToStart(func.addEntryBlock(builder));
  return func;
}

//===-- Sizes -------------------------------------------------------------===//

// Stage memory's formulas take indices. The descriptor's take an array of
// symbols, the header's one argument per symbol.
LogicalResult Emitter::emitArenaBytes() {
  FailureOr<func::FuncOp> formula = takeFormula(arenaBytesName),
                          own = takeFormula(workerBytesName);
  if (failed(formula) || failed(own))
    return failure();
  workerFormula = *own;
  if (workerFormula)
    emitOverArray("model_worker_bytes_of", [&](ArrayRef<Value> symbols) {
      return workerBytes(symbols);
    });
  if (!*formula)
    return success();
  emitOverArray("model_arena_bytes_of", [&](ArrayRef<Value> symbols) {
    return sharedBytes(checkedBytes(*formula, symbols), symbols);
  });
  SmallVector<Type> inputs(interface.symbols.size(), i64);
  LLVM::LLVMFuncOp typed =
      beginFunction("model_arena_bytes", inputs, i64, LLVM::Linkage::External);
  SmallVector<Value> values(typed.args_begin(), typed.args_end());
  LLVM::ReturnOp::create(builder, checkedBytes(*formula, values));
  return success();
}

// Null where there is none; its name is free then.
FailureOr<func::FuncOp> Emitter::takeFormula(StringRef name) {
  auto formula = module.lookupSymbol<func::FuncOp>(name);
  if (!formula)
    return formula;
  size_t symbols = interface.symbols.size();
  if (formula.getNumArguments() != symbols)
    return formula.emitError()
           << "expected " << symbols << " arguments, one for each symbol, got "
           << formula.getNumArguments();
  formula.setName((name + "_formula").str());
  formula.setPrivate();
  return formula;
}

void Emitter::emitOverArray(
    StringRef name, llvm::function_ref<Value(ArrayRef<Value>)> bytesOf) {
  LLVM::LLVMFuncOp function =
      beginFunction(name, ptr, i64, LLVM::Linkage::Internal);
  SmallVector<Value> values;
  for (size_t i = 0; i < interface.symbols.size(); ++i)
    values.push_back(load(i64, element(i64, function.getArgument(0), i)));
  LLVM::ReturnOp::create(builder, bytesOf(values));
}

// The formula answers the largest index where something does not fit; callers
// are told the largest number, on machines of any width.
Value Emitter::checkedBytes(func::FuncOp formula, ArrayRef<Value> symbols) {
  SmallVector<Value> args;
  Value none = constant(i64, -1), fits;
  auto both = [&](Value condition) {
    fits = fits ? arith::AndIOp::create(builder, fits, condition) : condition;
  };
  auto same = arith::CmpIPredicate::eq;
  for (Value symbol : symbols) {
    args.push_back(toIndex(symbol));
    both(arith::CmpIOp::create(builder, same, fromIndex(args.back()), symbol));
  }
  Value bytes =
      fromIndex(func::CallOp::create(builder, formula, args).getResult(0));
  Value largest = constant(i64, llvm::maxIntN(indexType.getWidth()));
  both(
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, bytes, largest));
  return arith::SelectOp::create(builder, fits, bytes, none);
}

int64_t Emitter::knownWorkerBytes() {
  auto bytes = module->getAttrOfType<IntegerAttr>(workerBytesAttrName);
  return bytes ? bytes.getInt() : 0;
}

bool Emitter::hasWorkerBytes() { return workerFormula || knownWorkerBytes(); }

Value Emitter::workerBytes(ArrayRef<Value> symbols) {
  Value known = constant(i64, knownWorkerBytes());
  return workerFormula
             ? arith::MaxUIOp::create(builder, known,
                                      checkedBytes(workerFormula, symbols))
             : known;
}

// What stays where one worker's part is taken off; there may be no number.
Value Emitter::sharedBytes(Value bytes, ArrayRef<Value> symbols) {
  if (!hasWorkerBytes())
    return bytes;
  Value none = constant(i64, -1);
  Value exists =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, bytes, none);
  Value rest = arith::SubIOp::create(builder, bytes, workerBytes(symbols));
  return arith::SelectOp::create(builder, exists, rest, none);
}

// @model_output_dims gives the extents that are no symbol's, one result for
// each dynamic dimension of the output arguments in their order.
LogicalResult Emitter::emitOutputDims() {
  auto formula = module.lookupSymbol<func::FuncOp>("model_output_dims");
  SmallVector<InterfaceValue *> byArgument;
  bool hasUnknown = false;
  for (InterfaceValue &output : interface.outputs) {
    if (!output.argument)
      continue;
    byArgument.push_back(&output);
    hasUnknown |= llvm::any_of(output.dims, [](const InterfaceDim &dim) {
      return dim.extent == ShapedType::kDynamic && !dim.symbol;
    });
  }
  hasOutputDims = formula != nullptr;
  if (hasUnknown && !formula)
    return model.emitError() << "an output has an extent that is no symbol's, "
                                "and there is no @model_output_dims";
  if (!formula)
    return success();
  llvm::sort(byArgument,
             [](auto *a, auto *b) { return a->argument < b->argument; });
  formula.setPrivate();
  formula.setName("model_output_dims_formula");
  LLVM::LLVMFuncOp overArray = beginFunction("model_output_dims_of", {ptr, ptr},
                                             i32, LLVM::Linkage::Internal);
  Value symbols = overArray.getArgument(0), dims = overArray.getArgument(1);
  SmallVector<Value> args;
  for (size_t i = 0; i < formula.getNumArguments(); ++i)
    args.push_back(toIndex(load(i64, element(i64, symbols, i))));
  auto call = func::CallOp::create(builder, formula, args);
  unsigned next = 0;
  llvm::DenseMap<InterfaceValue *, unsigned> firstResult;
  for (InterfaceValue *output : byArgument) {
    firstResult[output] = next;
    next += llvm::count_if(output->dims, [](const InterfaceDim &dim) {
      return dim.extent == ShapedType::kDynamic;
    });
  }
  if (next != call.getNumResults())
    return formula.emitError()
           << "expected " << next << " results, got " << call.getNumResults();
  unsigned place = 0;
  for (InterfaceValue &output : interface.outputs) {
    unsigned result = output.argument ? firstResult[&output] : 0;
    for (const InterfaceDim &dim : output.dims) {
      Value extent = dim.extent != ShapedType::kDynamic
                         ? constant(i64, dim.extent)
                     : output.argument ? fromIndex(call.getResult(result++))
                                       : constant(i64, -1);
      store(extent, element(i64, dims, place++));
    }
  }
  LLVM::ReturnOp::create(builder, constant(i32, ONNXC_OK));
  return success();
}

unsigned Emitter::outputDimCount() const {
  unsigned count = 0;
  for (const InterfaceValue &output : interface.outputs)
    count += output.dims.size();
  return count;
}

//===-- The descriptor ----------------------------------------------------===//

void Emitter::addDims(Table &dims, const InterfaceValue &value) {
  for (const InterfaceDim &dim : value.dims) {
    bool isFixed = dim.extent != ShapedType::kDynamic;
    dims.addInteger(64, isFixed ? dim.extent : -1);
    dims.addInteger(64, isFixed ? dim.extent : -1); // bound
    dims.addInteger(32, dim.symbol ? int64_t(*dim.symbol) : -1);
    dims.addInteger(32, 0);
  }
}

void Emitter::addValue(Table &values, const InterfaceValue &value,
                       int64_t firstDim, Type dimType) {
  values.addInteger(32, ONNXC_KIND_TENSOR);
  values.addInteger(32, value.type);
  values.addInteger(32, value.dims.size());
  bool isOutput =
      &value >= interface.outputs.begin() && &value < interface.outputs.end();
  bool dependsOnData = isOutput && !value.argument;
  values.addInteger(32, dependsOnData ? ONNXC_VALUE_DATA_DEPENDENT : 0);
  values.addOffset(internText(module, value.name));
  if (value.dims.empty())
    values.addAbsent();
  else
    values.addOffset("onnxc_dims", dimType, firstDim);
  values.addOffset(internText(module, value.parameter));
  values.addAbsent();
}

void Emitter::emitDescriptor() {
  builder.setInsertionPointToStart(module.getBody());
  Table inputs(indexType), outputs(indexType), dims(indexType),
      symbols(indexType), descriptor(indexType);
  Type dimType = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                  {i64, i64, i32, i32});
  int64_t firstDim = 0;
  auto addValues = [&](Table &values, ArrayRef<InterfaceValue> list) {
    for (const InterfaceValue &value : list) {
      addValue(values, value, firstDim, dimType);
      addDims(dims, value);
      firstDim += value.dims.size();
    }
  };
  addValues(inputs, interface.inputs);
  addValues(outputs, interface.outputs);
  for (const InterfaceSymbol &symbol : interface.symbols) {
    symbols.addInteger(64, 1);  // hint
    symbols.addInteger(64, -1); // bound
    symbols.addOffset(internText(module, symbol.name));
    symbols.addAbsent();
  }
  auto arena = module->getAttrOfType<IntegerAttr>(arenaBytesAttrName);
  int64_t weightsBytes = onnxc::weightsBytes(module);

  descriptor.addInteger(32, ONNXC_MAGIC);
  descriptor.addInteger(32, ONNXC_ABI_VERSION);
  descriptor.addInteger(32, indexType.getWidth() == 64 ? 192 : 128);
  descriptor.addInteger(32, ONNXC_MACHINE_ANY); // codegen fills it
  descriptor.addInteger(32, 0);
  descriptor.addInteger(32, interface.inputs.size());
  descriptor.addInteger(32, interface.outputs.size());
  descriptor.addInteger(32, interface.symbols.size());
  descriptor.addInteger(64, 0); // cpu_features: codegen fills it
  descriptor.addInteger(64, arena ? arena.getInt() - knownWorkerBytes() : 0);
  descriptor.addInteger(64, knownWorkerBytes());
  descriptor.addInteger(64, weightsBytes);
  descriptor.addAbsent(); // name: codegen fills it
  descriptor.addOffset(internText(module, "onnxc 0.1.0"));
  auto addTable = [&](Table &table, StringRef name) {
    if (table.isEmpty())
      return descriptor.addAbsent();
    table.emit(builder, name, LLVM::Linkage::Internal);
    descriptor.addOffset(name);
  };
  if (!dims.isEmpty())
    dims.emit(builder, "onnxc_dims", LLVM::Linkage::Internal);
  addTable(inputs, "onnxc_inputs");
  addTable(outputs, "onnxc_outputs");
  addTable(symbols, "onnxc_symbols");
  descriptor.addOffset("model_call");
  interface.isTyped() ? descriptor.addOffset("model_run")
                      : descriptor.addAbsent();
  module.lookupSymbol("model_arena_bytes_of")
      ? descriptor.addOffset("model_arena_bytes_of")
      : descriptor.addAbsent();
  hasOutputDims ? descriptor.addOffset("model_output_dims_of")
                : descriptor.addAbsent();
  weightsBytes ? descriptor.addOffset(weightsSymbol) : descriptor.addAbsent();
  descriptor.addAbsent(); // weights_file: codegen fills it
  workerFormula ? descriptor.addOffset("model_worker_bytes_of")
                : descriptor.addAbsent();
  for (int i = 0; i < 4; ++i) // reserved
    descriptor.addAbsent();
  if (weightsBytes) {
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), weightsBytes);
    auto weights = LLVM::GlobalOp::create(builder, type, /*isConstant=*/true,
                                          LLVM::Linkage::External,
                                          weightsSymbol, Attribute());
    weights.setDsoLocal(true);
    weights.setAlignment(ONNXC_WEIGHTS_ALIGN);
  }
  descriptor.emit(builder, "model_model", LLVM::Linkage::External)
      .setAlignment(8);
}

//===-- The entries -------------------------------------------------------===//

// The generic entry: check everything, find the buffers, run.
void Emitter::emitCall() {
  LLVM::LLVMFuncOp func =
      beginFunction("model_call", ptr, i32, LLVM::Linkage::External);
  Value call = func.getArgument(0);
  Value symbols = array(i64, interface.symbols.size());
  Value dims = array(i64, outputDimCount());
  Value descriptor = LLVM::AddressOfOp::create(builder, ptr, "model_model");
  Value status = abi::callSupport(builder, "onnxc_prepare", i32,
                                  {descriptor, call, symbols, dims});
  Block *ready = func.addBlock(), *done = func.addBlock();
  Value isReady = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                        status, constant(i32, ONNXC_OK));
  cf::CondBranchOp::create(builder, isReady, ready, ValueRange(), done,
                           ValueRange());
  builder.setInsertionPointToStart(done);
  LLVM::ReturnOp::create(builder, status);

  builder.setInsertionPointToStart(ready);
  Type callType = abi::callStruct(builder.getContext());
  Type tensorType = abi::tensorStruct(builder.getContext());
  auto fieldOfCall = [&](abi::CallField number) {
    return load(ptr, field(callType, call, 0, number));
  };
  SmallVector<Value> args(model.getNumArguments());
  auto bind = [&](const InterfaceValue &value, Value tensors, size_t index,
                  unsigned firstDim, bool isOutput) {
    if (!value.argument)
      return;
    auto type = cast<MemRefType>(model.getArgumentTypes()[*value.argument]);
    Value data = load(ptr, field(tensorType, tensors, index, abi::tensorData));
    SmallVector<Value> sizes;
    for (auto [i, dim] : llvm::enumerate(value.dims))
      if (dim.extent == ShapedType::kDynamic)
        sizes.push_back(
            toIndex(load(i64, isOutput ? element(i64, dims, firstDim + i)
                                       : element(i64, symbols, *dim.symbol))));
    args[*value.argument] =
        abi::memrefAt(builder, type, data, sizes, indexType);
  };
  if (!interface.inputs.empty()) {
    Value tensors = fieldOfCall(abi::callInputs);
    for (auto [i, input] : llvm::enumerate(interface.inputs))
      bind(input, tensors, i, 0, /*isOutput=*/false);
  }
  unsigned firstDim = 0;
  Value tensors = fieldOfCall(abi::callOutputs);
  for (auto [i, output] : llvm::enumerate(interface.outputs)) {
    bind(output, tensors, i, firstDim, /*isOutput=*/true);
    firstDim += output.dims.size();
  }
  size_t count = args.size();
  Value arena = hasWorkerBytes() ? abi::callSupport(builder, "onnxc_arena", ptr,
                                                    {descriptor, call, symbols})
                                 : fieldOfCall(abi::callArena);
  args[count - 3] = abi::bytesAt(builder, arena, indexType);
  Value weights =
      abi::callSupport(builder, "onnxc_weights", ptr, {descriptor, call});
  args[count - 2] = abi::bytesAt(builder, weights, indexType);
  args[count - 1] = call;
  auto run = func::CallOp::create(builder, model, args);
  LLVM::ReturnOp::create(builder, run.getResult(0));
}

// The typed entry is the generic one with the structs on the stack. It cannot
// know how large the buffers are, so they are as large as they have to be.
void Emitter::emitRun() {
  size_t symbols = interface.symbols.size(), inputs = interface.inputs.size(),
         outputs = interface.outputs.size();
  SmallVector<Type> types(symbols, i64);
  types.append(inputs + outputs + 1, ptr);
  LLVM::LLVMFuncOp func =
      beginFunction("model_run", types, i32, LLVM::Linkage::External);
  Type callType = abi::callStruct(builder.getContext());
  Type tensorType = abi::tensorStruct(builder.getContext());
  Value null = LLVM::ZeroOp::create(builder, ptr);
  Value unlimited = constant(i64, -1);
  unsigned argument = symbols;

  auto fill = [&](Value tensors, ArrayRef<InterfaceValue> values) {
    for (auto [i, value] : llvm::enumerate(values)) {
      Value dims = array(i64, value.dims.size());
      for (auto [j, dim] : llvm::enumerate(value.dims))
        store(dim.symbol ? func.getArgument(*dim.symbol)
              : dim.extent == ShapedType::kDynamic ? constant(i64, 0)
                                                   : constant(i64, dim.extent),
              element(i64, dims, j));
      auto set = [&](abi::TensorField number, Value value) {
        store(value, field(tensorType, tensors, i, number));
      };
      set(abi::tensorData, func.getArgument(argument++));
      set(abi::tensorDims, dims);
      set(abi::tensorCapacity, unlimited);
      set(abi::tensorRank, constant(i32, value.dims.size()));
      set(abi::tensorType, constant(i32, value.type));
    }
  };
  Value inputTensors = array(tensorType, inputs);
  Value outputTensors = array(tensorType, outputs);
  fill(inputTensors, interface.inputs);
  fill(outputTensors, interface.outputs);
  Value call = array(callType, 1);
  auto set = [&](abi::CallField number, Value value) {
    store(value, field(callType, call, 0, number));
  };
  set(abi::callSize, constant(i32, indexType.getWidth() == 64 ? 88 : 64));
  set(abi::callFlags, constant(i32, 0));
  set(abi::callInputCount, constant(i32, inputs));
  set(abi::callOutputCount, constant(i32, outputs));
  set(abi::callInputs, inputTensors);
  set(abi::callOutputs, outputTensors);
  set(abi::callArena, func.getArgument(argument));
  set(abi::callArenaBytes, unlimited);
  for (abi::CallField absent :
       {abi::callParallel, abi::callAlloc, abi::callUser, abi::callWeights,
        abi::callError})
    set(absent, null);
  auto run = LLVM::CallOp::create(builder, TypeRange(i32), "model_call", call);
  LLVM::ReturnOp::create(builder, run.getResult());
}

// The header is written from the module after the types of the arguments are
// gone: symbols, then inputs, then outputs by parameter and element type.
void Emitter::recordForHeader() {
  auto names = [&](auto &list) {
    SmallVector<Attribute> attrs;
    for (auto &entry : list)
      attrs.push_back(builder.getStringAttr(entry.parameter));
    return builder.getArrayAttr(attrs);
  };
  auto types = [&](ArrayRef<InterfaceValue> list) {
    SmallVector<int32_t> numbers;
    for (const InterfaceValue &value : list)
      numbers.push_back(value.type);
    return builder.getDenseI32ArrayAttr(numbers);
  };
  module->setAttr(
      "onnxc.interface",
      builder.getDictionaryAttr({
          builder.getNamedAttr("symbols", names(interface.symbols)),
          builder.getNamedAttr("inputs", names(interface.inputs)),
          builder.getNamedAttr("outputs", names(interface.outputs)),
          builder.getNamedAttr("input_types", types(interface.inputs)),
          builder.getNamedAttr("output_types", types(interface.outputs)),
      }));
}

struct EmitModelDescriptor
    : impl::EmitModelDescriptorBase<EmitModelDescriptor> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto model = module.lookupSymbol<func::FuncOp>("model");
    auto target = module->getAttrOfType<TargetAttr>(targetAttrName);
    if (!model || !target) {
      module.emitError() << "expected a function @model and the attribute "
                         << targetAttrName;
      return signalPassFailure();
    }
    FailureOr<Interface> interface = readInterface(model);
    if (failed(interface) ||
        failed(Emitter(model, std::move(*interface), target).emit()))
      signalPassFailure();
  }
};

} // namespace
} // namespace onnxc
