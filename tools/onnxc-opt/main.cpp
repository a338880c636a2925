// Every pass of ours and of MLIR, one at a time.
#include "compiler/Fatal.h"
#include "compiler/Input.h"
#include "lowering/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;

static int fail(const Twine &why) {
  errs() << "onnxc-opt: error: " << why << '\n';
  return EXIT_FAILURE;
}

// As MlirOptMain does with the names of files, but without reading on from what
// has no end.
static int run(const std::string &input, const std::string &output,
               mlir::DialectRegistry &registry,
               const mlir::MlirOptMainConfig &config) {
  auto bytes = onnxc::readInput(input);
  if (!bytes)
    return fail("'" + input + "': " + toString(bytes.takeError()));
  if ((*bytes)->getBufferSize() > onnxc::largestMessageBytes)
    return fail("'" + input + "' exceeds 2 GB");
  std::string problem;
  auto file = mlir::openOutputFile(output, &problem);
  if (!file)
    return fail(problem);
  // The parser wants a null at the end.
  auto terminated = MemoryBuffer::getMemBufferCopy(
      (*bytes)->getBuffer(), input == "-" ? "<stdin>" : input);
  if (failed(mlir::MlirOptMain(file->os(), std::move(terminated), registry,
                               config)))
    return EXIT_FAILURE;
  file->keep();
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  onnxc::reportFatalErrors("onnxc-opt");
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<onnxc::OnnxDialect, onnxc::OnnxcDialect>();
  onnxc::registerOnnxcPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "onnxc's passes, one at a time\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldListPasses() || config.shouldShowDialects())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));
  InitLLVM init(argc, argv);
  return run(input, output, registry, config);
}
