#include "lowering/tensor/irregular/Irregular.h"
#include "lowering/tensor/OnnxToLinalg.h"

namespace onnxc {

void addIrregularPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns) {
  addDeterminantPatterns(types, patterns);
  addDropoutPatterns(types, patterns);
  addGridSamplePatterns(types, patterns);
  addRecurrentPatterns(types, patterns);
  addRegionPoolPatterns(types, patterns);
  addRequirePatterns(types, patterns);
  addResizePatterns(types, patterns);
  addRoiAlignPatterns(types, patterns);
  addScanPatterns(types, patterns);
  addScatterPatterns(types, patterns);
  addSelectionPatterns(types, patterns);
  addShapePatterns(types, patterns);
  addSuppressionPatterns(types, patterns);
  addTopKPatterns(types, patterns);
  addUniquePatterns(types, patterns);
  addUnpoolingPatterns(types, patterns);
}

} // namespace onnxc
