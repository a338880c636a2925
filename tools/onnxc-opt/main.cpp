// Every pass of ours and of MLIR, one at a time.
#include "lowering/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  registry.insert<onnxc::OnnxDialect, onnxc::OnnxcDialect>();
  onnxc::registerOnnxcPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "onnxc's passes, one at a time\n", registry));
}
