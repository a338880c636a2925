from rows import *

EDGES = f32([[[[1, 2], [3, 4]]]])
POOL = {"kernel_shape": [1, 2], "strides": [1, 2]}
STEPS = u8([[[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]]])
LINE = f32([[[0, 10, 20]]])
SIZES = i64(1, 1, 6)


def grid(*points):
    return f32([[[list(point) for point in points]]])


FAMILY = "Windows and sampling", """\
NaN goes through a maximum. Padding of a MaxPool is no element; a window that holds nothing else gives the lowest value.
A linear Resize goes along one axis after the other, where ONNX Runtime adds up four products: both are within the last
bits of f32. Between DequantizeLinear and QuantizeLinear of one scale, many an exact result lies halfway between two steps
(one in twelve where an image doubles); which of the two it becomes is up to these bits, and may differ from ONNX Runtime.
A transposed convolution to few maps multiplies elements with zeros that other positions of its result meet, as Winograd's
filtering does around each element: an infinity makes NaN of them. Not with `--numerics=strict`.""", [
    Row("MaxPool", "NaN wins", [f32([[[[1, nan, 3, 4]]]])], f32([[[[nan, 4]]]]), reference=f32([[[[1, 4]]]]), attributes=POOL),
    Row("MaxPool", "only -inf", [f32([[[[-inf, -inf]]]])], f32([[[[-inf]]]]), attributes=POOL),
    Row("MaxPool", "a window larger than the image: no result",
        [f32([[[[1, 2]]]])], f32(shape=(1, 1, 1, 0)), reference=REFUSES,
        attributes={"kernel_shape": [1, 3]}),
    Row("MaxPool", "a window larger than the image, strides: no result", [f32([[[[1, 2]]]])], f32(shape=(1, 1, 1, 0)),
        ort=f32([[[[2]]]]), attributes={"kernel_shape": [1, 3], "strides": [1, 2]}),
    Row("MaxPool", "a window larger than the image, ceil_mode: what there is", [f32([[[[1, 2]]]])], f32([[[[2]]]]),
        attributes={"kernel_shape": [1, 3], "strides": [1, 2], "ceil_mode": 1}),
    Row("AveragePool", "a window larger than the image, ceil_mode: the mean of what there is", [f32([[[[1, 2]]]])],
        f32([[[[1.5]]]]), attributes={"kernel_shape": [1, 3], "strides": [1, 2], "ceil_mode": 1}),
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
    Row("ConvTranspose", "one map: an infinity reaches what shares its window", [f32([[[1, inf, 1]]]), f32([[[1, 2, 1]]])],
        f32([[[1, 2, inf, inf, inf, nan, 1]]]), ort=f32([[[1, 2, inf, inf, inf, 2, 1]]]),
        reference=f32([[[1, 2, inf, inf, inf, 2, 1]]]), why="a zero is multiplied", attributes={"strides": [2]}),
    Row("Conv", "pads are zeros and meet no infinity", [f32([[[1, 2]]]), f32([[[1, 1]]])], f32([[[1, 3, 2]]]),
        attributes={"pads": [1, 1]}),
    Row("Resize", "nearest, half_pixel, round_prefer_floor", [LINE, None, None, SIZES], f32([[[0, 0, 10, 10, 20, 20]]]),
        constants=(3,)),
    Row("Resize", "nearest: positions are in single precision, 6 / f32(1.2) is 5",
        [f32([[[0, 1, 2, 3, 4, 5]]]), None, f32(1, 1, 1.2)], f32([[[0, 0, 1, 2, 3, 4, 5]]]),
        reference=f32([[[0, 0, 1, 2, 3, 4, 4]]]), constants=(2,),
        attributes={"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}),
    Row("Resize", "linear, half_pixel: borders repeat", [LINE, None, None, SIZES],
        f32([[[0, 2.5, 7.5, 12.5, 17.5, 20]]]), attributes={"mode": "linear"}, constants=(3,)),
    Row("Resize", "linear, asymmetric", [LINE, None, None, SIZES], f32([[[0, 5, 10, 15, 20, 20]]]),
        attributes={"mode": "linear", "coordinate_transformation_mode": "asymmetric"}, constants=(3,)),
    Row("Resize", "align_corners, one element", [LINE, None, None, i64(1, 1, 1)], f32([[[0]]]),
        attributes={"mode": "linear", "coordinate_transformation_mode": "align_corners"}, constants=(3,)),
    Row("Resize", "align_corners: the exact length counts, 4 * 0.6, as in ONNX's tests", [
            f32([[[0, 10, 20, 30]]]), None, f32(1, 1, 0.6)], f32([[[0, 21.4285698]]]), ort=f32([[[0, 30]]]),
        attributes={"mode": "linear", "coordinate_transformation_mode": "align_corners"}, constants=(2,)),
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
    Row("Resize", "integers are rounded once, at the end", [STEPS, None, f32(1, 1, 0.8, 0.8)],
        u8([[[[2, 3, 4], [7, 8, 9], [12, 13, 14]]]]), ort=u8([[[[1, 2, 4], [6, 7, 9], [11, 12, 14]]]]),
        attributes={"mode": "linear"}, constants=(2,)),
    Row("Resize", "integers, cubic", [STEPS, None, f32(1, 1, 0.8, 0.8)],
        u8([[[[1, 3, 4], [7, 8, 9], [12, 13, 15]]]]), ort=REFUSES, attributes={"mode": "cubic"}, constants=(2,)),
    Row("Resize", "a size is the floor of the exact product: 5 * f32(1.4) is below 7",
        [i32([[[1, 2, 3, 4, 5]]]), None, f32(1, 1, 1.4)],
        i32([[[1, 2, 2, 3, 4, 4]]]), ort=i32([[[1, 2, 2, 3, 4, 4, 5]]]), constants=(2,)),
    Row("Resize", "tf_crop_and_resize in a region of NaN", [LINE, f32(0, 0, nan, 1, 1, 1), None, i64(1, 1, 2)],
        f32([[[7, 7]]]), ort=OPEN, reference=f32([[[nan, nan]]]), why="nowhere is outside", constants=(3,),
        attributes={"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}),
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
