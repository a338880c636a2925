// The patterns of operators that fit no family; each file offers its own.
#pragma once
#include "mlir/Transforms/DialectConversion.h"

namespace onnxc {

void addDeterminantPatterns(mlir::TypeConverter &types,
                            mlir::RewritePatternSet &patterns);
void addDropoutPatterns(mlir::TypeConverter &types,
                        mlir::RewritePatternSet &patterns);
void addGridSamplePatterns(mlir::TypeConverter &types,
                           mlir::RewritePatternSet &patterns);
void addRecurrentPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns);
void addRegionPoolPatterns(mlir::TypeConverter &types,
                           mlir::RewritePatternSet &patterns);
void addRequirePatterns(mlir::TypeConverter &types,
                        mlir::RewritePatternSet &patterns);
void addResizePatterns(mlir::TypeConverter &types,
                       mlir::RewritePatternSet &patterns);
void addRoiAlignPatterns(mlir::TypeConverter &types,
                         mlir::RewritePatternSet &patterns);
void addScanPatterns(mlir::TypeConverter &types,
                     mlir::RewritePatternSet &patterns);
void addScatterPatterns(mlir::TypeConverter &types,
                        mlir::RewritePatternSet &patterns);
void addSelectionPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns);
void addShapePatterns(mlir::TypeConverter &types,
                      mlir::RewritePatternSet &patterns);
void addSuppressionPatterns(mlir::TypeConverter &types,
                            mlir::RewritePatternSet &patterns);
void addTopKPatterns(mlir::TypeConverter &types,
                     mlir::RewritePatternSet &patterns);
void addUniquePatterns(mlir::TypeConverter &types,
                       mlir::RewritePatternSet &patterns);
void addUnpoolingPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns);

} // namespace onnxc
