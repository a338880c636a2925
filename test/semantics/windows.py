from rows import *

EDGES = f32([[[[1, 2], [3, 4]]]])
POOL = {"kernel_shape": [1, 2], "strides": [1, 2]}
LINE = f32([[[0, 10, 20]]])
SIZES = i64(1, 1, 6)


def grid(*points):
    return f32([[[list(point) for point in points]]])


FAMILY = "Windows and sampling", """\
NaN goes through a maximum. Padding of a MaxPool is no element; a window that holds nothing else gives the lowest value.""", [
    Row("MaxPool", "NaN wins", [f32([[[[1, nan, 3, 4]]]])], f32([[[[nan, 4]]]]), reference=f32([[[[1, 4]]]]), attributes=POOL),
    Row("MaxPool", "only -inf", [f32([[[[-inf, -inf]]]])], f32([[[[-inf]]]]), attributes=POOL),
    Row("MaxPool", "pads are no elements", [f32([[[[-5, -6]]]])], f32([[[[-5, -5]]]]), reference=REFUSES,
        attributes={"kernel_shape": [1, 2], "pads": [0, 1, 0, 0]}),
    Row("MaxPool", "no batch", [f32(shape=(0, 1, 2, 2))], f32(shape=(0, 1, 2, 1)), attributes=POOL),
    Row("AveragePool", "inf and -inf", [f32([[[[inf, -inf, 1, nan]]]])], f32([[[[nan, nan]]]]), reference=f32([[[[nan, 1]]]]), attributes=POOL),
    Row("AveragePool", "pads are left out of the count", [f32([[[[4, 6]]]])], f32([[[[4, 5]]]]),
        attributes={"kernel_shape": [1, 2], "pads": [0, 1, 0, 0]}),
    Row("AveragePool", "count_include_pad", [f32([[[[4, 6]]]])], f32([[[[2, 5]]]]),
        attributes={"kernel_shape": [1, 2], "pads": [0, 1, 0, 0], "count_include_pad": 1}),
    Row("GlobalMaxPool", "NaN wins", [f32([[[1, nan]]])], f32([[[nan]]]), ort=f32([[[1]]]), reference=OPEN,
        why="as ReduceMax and MaxPool"),
    Row("GlobalAveragePool", "no batch", [f32(shape=(0, 2, 3))], f32(shape=(0, 2, 1)), reference=REFUSES),
    Row("LpPool", "of infinities", [f32([[[[-inf, 1]]]])], f32([[[[inf]]]]), attributes=POOL),
    Row("Conv", "no batch", [f32(shape=(0, 1, 3)), f32([[[1, 1]]])], f32(shape=(0, 1, 2))),
    Row("Conv", "0 * inf", [f32([[[inf, 1]]]), f32([[[0, 1]]])], f32([[[nan]]])),
    Row("ConvTranspose", "SAME_UPPER, strides beyond the kernel", [f32([[[1, 2, 3]]]), f32([[[1]]])],
        f32([[[1, 0, 2, 0, 3]]]), reference=f32([[[0, 1, 0, 2, 0, 3]]]), why="ONNX's shape inference has 5",
        attributes={"auto_pad": "SAME_UPPER", "strides": [2]}),
    Row("Conv", "pads are zeros and meet no infinity", [f32([[[1, 2]]]), f32([[[1, 1]]])], f32([[[1, 3, 2]]]),
        attributes={"pads": [1, 1]}),
    Row("Resize", "nearest, half_pixel, round_prefer_floor", [LINE, None, None, SIZES], f32([[[0, 0, 10, 10, 20, 20]]]),
        constants=(3,)),
    Row("Resize", "linear, half_pixel: borders repeat", [LINE, None, None, SIZES],
        f32([[[0, 2.5, 7.5, 12.5, 17.5, 20]]]), attributes={"mode": "linear"}, constants=(3,)),
    Row("Resize", "linear, asymmetric", [LINE, None, None, SIZES], f32([[[0, 5, 10, 15, 20, 20]]]),
        attributes={"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, constants=(3,)),
    Row("Resize", "align_corners, one element", [LINE, None, None, i64(1, 1, 1)], f32([[[0]]]),
        attributes={"mode": "linear", "coordinate_transformation_mode": "align_corners"}, constants=(3,)),
    Row("Resize", "pytorch_half_pixel, one element", [LINE, None, None, i64(1, 1, 1)], f32([[[0]]]),
        attributes={"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}, constants=(3,)),
    Row("Resize", "tf_half_pixel_for_nn, of opset 11", [LINE, f32(shape=(0,)), f32(1, 1, 2)],
        f32([[[0, 10, 10, 20, 20, 20]]]), reference=REFUSES, opset=11, constants=(1, 2),
        attributes={"coordinate_transformation_mode": "tf_half_pixel_for_nn"}),
    Row("Resize", "tf_crop_and_resize outside", [LINE, f32(0, 0, -1, 1, 1, 2), None, i64(1, 1, 4)],
        f32([[[7, 0, 20, 7]]]), constants=(1, 3),
        attributes={"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}),
    Row("Resize", "nearest, ceil at the end", [LINE, None, None, SIZES], f32([[[0, 10, 10, 20, 20, 20]]]),
        attributes={"nearest_mode": "ceil", "coordinate_transformation_mode": "asymmetric"}, constants=(3,)),
    Row("Resize", "NaN spreads to its neighbours", [f32([[[0, nan, 20]]]), None, None, SIZES],
        f32([[[0, nan, nan, nan, nan, 20]]]),
        ort=f32([[[nan, nan, nan, nan, nan, 20]]]), attributes={"mode": "linear"}, constants=(3,)),
    Row("GridSample", "outside, zeros", [EDGES, grid((-1, -1), (-3, 0), (1, 1))], f32([[[[0.25, 0, 1]]]])),
    Row("GridSample", "outside, border", [EDGES, grid((-1, -1), (-3, 0), (5, 5))], f32([[[[1, 2, 4]]]]),
        attributes={"padding_mode": "border"}),
    Row("GridSample", "outside, reflection", [EDGES, grid((-1.5, -0.5), (2.5, 0.5))], f32([[[[1, 3]]]]),
        attributes={"padding_mode": "reflection"}),
    Row("GridSample", "NaN and infinite points, border", [EDGES, grid((nan, 0), (inf, 0), (-1e30, 0))],
        f32([[[[nan, 3, 2]]]]), ort=OPEN, reference=REFUSES, why="nowhere is NaN", attributes={"padding_mode": "border"}),
    Row("GridSample", "NaN and infinite points, zeros", [EDGES, grid((nan, 0), (inf, 0), (-1e30, 0))],
        f32([[[[nan, nan, 0]]]]), ort=OPEN, reference=REFUSES, why="nowhere is NaN"),
    Row("GridSample", "nearest, halves to even", [EDGES, grid((0, -0.5), (-0.5, 0))], f32([[[[1, 1]]]]),
        attributes={"mode": "nearest"}),
    Row("RoiAlign", "a region outside of the image", [EDGES, f32([[10, 10, 12, 12]]), i64(0)], f32([[[[0]]]]),
        ort=OPEN, attributes={"output_height": 1, "output_width": 1, "sampling_ratio": 1}),
    Row("RoiAlign", "batch index out of range", [EDGES, f32([[0, 0, 1, 1]]), i64(1)], INDEX_ERROR,
        ort=OPEN, attributes={"output_height": 1, "output_width": 1}),
    Row("NonMaxSuppression", "equal scores: the lower index first", [f32([[[0, 0, 1, 1], [0, 0, 1, 1]]]),
        f32([[[0.5, 0.5]]]), i64(2), f32(0.5), f32(0)], i64([[0, 0, 0]])),
]
