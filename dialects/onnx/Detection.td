// Operators on boxes and regions of images.
include "dialects/onnx/OnnxBase.td"

def NonMaxSuppressionOp : SizedOp<"NonMaxSuppression", [10, 11]> {
  let summary = "The boxes of the highest scores that do not overlap one chosen before";
  let family = "irregular";
  let alike = [["boxes", "scores"]];
  let arguments = (ins FloatTensor:$boxes, FloatTensor:$scores, Optional<IntTensor>:$max_output_boxes_per_class,
                   Optional<FloatTensor>:$iou_threshold, Optional<FloatTensor>:$score_threshold,
                   IntOr<"0">:$center_point_box);
  let results = (outs IntTensor:$selected_indices);
  let elementType = "int64(context)";
}

def MaxRoiPoolOp : SizedOp<"MaxRoiPool", [1, 22]> {
  let family = "irregular";
  let summary = "The greatest elements of the cells of regions";
  let alike = [["x", "rois"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$rois, Ints:$pooled_shape, FloatOr<"1.0f">:$spatial_scale);
  let results = (outs FloatTensor:$y);
}

def RoiAlignOp : SizedOp<"RoiAlign", [16, 22]> {
  let family = "irregular";
  let summary = "Means, or greatest, of samples in the cells of regions";
  let alike = [["x", "rois"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$rois, IntTensor:$batch_indices,
                   OneOfOr<"half_pixel", ["output_half_pixel"]>:$coordinate_transformation_mode,
                   OneOfOr<"avg", ["max"]>:$mode,
                   IntOr<"1">:$output_height, IntOr<"1">:$output_width, IntOr<"0">:$sampling_ratio,
                   FloatOr<"1.0f">:$spatial_scale);
  let results = (outs FloatTensor:$y);
}

// Before it could shift positions by half a pixel.
def RoiAlign10Op : LegacyOp<"RoiAlign", [10]> {
  let alike = [["x", "rois"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$rois, IntTensor:$batch_indices, OneOfOr<"avg", ["max"]>:$mode,
                   IntOr<"1">:$output_height, IntOr<"1">:$output_width, IntOr<"0">:$sampling_ratio,
                   FloatOr<"1.0f">:$spatial_scale);
  let results = (outs FloatTensor:$y);
  let formula = [{op<RoiAlignOp>({x, rois, batch_indices}, {{"mode", mode}, {"output_height", output_height},
      {"output_width", output_width}, {"sampling_ratio", sampling_ratio}, {"spatial_scale", spatial_scale},
      {"coordinate_transformation_mode", "output_half_pixel"}})}];
}

// The image is sampled where the kernel's elements were moved to; the rest is a product.
def DeformConvOp : CompositeOp<"DeformConv", [19, 22]> {
  let summary = "A convolution whose kernel is moved apart at every position";
  let alike = [["x", "w", "offset", "b", "mask"]];
  let arguments = (ins FloatTensor:$x, FloatTensor:$w, FloatTensor:$offset, Optional<FloatTensor>:$b,
                   Optional<FloatTensor>:$mask, OptionalAttr<Ints>:$dilations, IntOr<"1">:$group,
                   OptionalAttr<Ints>:$kernel_shape, IntOr<"1">:$offset_group, OptionalAttr<Ints>:$pads,
                   OptionalAttr<Ints>:$strides);
  let results = (outs FloatTensor:$y);
  let body = [{
    return deformableConvolution(graph, {x, w, offset, b, mask, dilations, pads, strides, group, offset_group});
  }];
}
