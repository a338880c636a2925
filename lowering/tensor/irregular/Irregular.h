// The patterns of operators that fit no family; each file offers its own.
#pragma once
#include "mlir/Transforms/DialectConversion.h"

namespace onnxc {

void addGridSamplePatterns(mlir::TypeConverter &types,
                           mlir::RewritePatternSet &patterns);
void addRecurrentPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns);
void addResizePatterns(mlir::TypeConverter &types,
                       mlir::RewritePatternSet &patterns);
void addScanPatterns(mlir::TypeConverter &types,
                     mlir::RewritePatternSet &patterns);
void addScatterPatterns(mlir::TypeConverter &types,
                        mlir::RewritePatternSet &patterns);
void addSelectionPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns);
void addShapePatterns(mlir::TypeConverter &types,
                      mlir::RewritePatternSet &patterns);

} // namespace onnxc
