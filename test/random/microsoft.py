"""Random operators of com.microsoft."""

import ml_dtypes
import numpy as np

from draw import Case, integers

MICROSOFT = "com.microsoft"


def fused_product(draw):
    batch, m, k, n = 3, draw.pick(1, 4), draw.pick(5, 8), draw.pick(2, 9)
    flags = draw.attributes(alpha=0.5, transA=1, transB=1, transBatchA=1, transBatchB=1)
    left = [batch, k, m] if "transA" in flags else [batch, m, k]
    right = [batch, n, k] if "transB" in flags else [batch, k, n]
    if "transBatchA" in flags:
        left[:2] = reversed(left[:2])
    if "transBatchB" in flags:
        right[:2] = reversed(right[:2])
    return Case("FusedMatMul", [draw.numbers(left), draw.numbers(right)], flags, domain=MICROSOFT)


def attention(draw):
    batch, steps, heads, size = draw.below(3, 1), draw.pick(1, 4), draw.pick(1, 2), 4
    width, past = heads * size, draw.pick(0, 2)
    keys = steps + past
    mask = draw.pick(None, draw.random.integers(1, keys + 1, batch), draw.random.integers(0, 2, [batch, keys]),
                     draw.random.integers(0, 2, [batch, steps, keys]))
    return Case("Attention", [draw.numbers([batch, steps, 6]), draw.numbers([6, 3 * width], np.float32, -1, 1),
                              draw.numbers([3 * width]), None if mask is None else mask.astype(np.int32),
                              draw.numbers([2, batch, heads, past, size]) if past else None],
                {"num_heads": heads, **draw.attributes(unidirectional=1, scale=0.4)}, 2, MICROSOFT, constant=(1, 2))


def narrow_attention(draw):
    """Values of another width than the keys', and the six lists of a packed batch."""
    batch, steps, heads = draw.below(3, 1), draw.pick(1, 4), draw.pick(1, 2)
    keys, values = heads * 4, heads * draw.pick(2, 8)
    ends = draw.random.integers(1, steps + 1, batch)
    packed = np.concatenate([ends, *[steps * np.arange(batch + 1)] * 2])
    mask = draw.pick(None, ends, packed)
    return Case("Attention", [draw.numbers([batch, steps, 6]), draw.numbers([6, 2 * keys + values], np.float32, -1, 1),
                              draw.numbers([2 * keys + values]), None if mask is None else mask.astype(np.int32)],
                {"num_heads": heads, "qkv_hidden_sizes": [keys, keys, values], **draw.attributes(unidirectional=1)}, 1,
                MICROSOFT, constant=(1, 2))


def multi_head_attention(draw):
    """Scores too, as they are before the softmax."""
    batch, steps, keys, heads = draw.below(3, 1), draw.pick(1, 4), draw.pick(3, 5), draw.pick(1, 2)
    width, values = heads * 4, heads * draw.pick(4, 8)
    bias = draw.numbers([1, draw.pick(1, heads), steps, keys]) if draw.chance() else None
    mask = draw.random.integers(0, 2, [batch, keys]).astype(np.int32) if draw.chance() else None
    return Case("MultiHeadAttention", [
        draw.numbers([batch, steps, width]), draw.numbers([batch, keys, width]), draw.numbers([batch, keys, values]),
        draw.numbers([2 * width + values]) if draw.chance() else None, mask, bias],
        {"num_heads": heads, **draw.attributes(scale=0.4)}, 1, MICROSOFT)


def quantized_lstm(draw):
    steps, batch, width, hidden = draw.pick(1, 5), draw.pick(1, 3), draw.pick(4, 16), draw.pick(4, 8)
    direction = draw.pick("forward", "reverse", "bidirectional")
    count, element = 1 + (direction == "bidirectional"), draw.pick(np.int8, np.uint8)
    scales = [count, 4 * hidden] if draw.chance() else [count]
    zero = np.zeros(scales, np.int8) if element == np.int8 else np.full(scales, 128, np.uint8)
    state = [draw.numbers([count, batch, hidden], np.float32, -1, 1) if draw.chance() else None for _ in range(2)]
    lengths = draw.random.integers(0, steps + 1, batch).astype(np.int32) if draw.chance(0.7) else None
    return Case("DynamicQuantizeLSTM", [
        draw.numbers([steps, batch, width]), draw.whole_range([count, width, 4 * hidden], element),
        draw.whole_range([count, hidden, 4 * hidden], element),
        draw.numbers([count, 8 * hidden], np.float32, -1, 1) if draw.chance() else None, lengths, *state,
        draw.numbers([count, 3 * hidden], np.float32, -1, 1) if draw.chance() else None,
        draw.numbers(scales, np.float32, 0.001, 0.01), zero, draw.numbers(scales, np.float32, 0.001, 0.01), zero],
        {"hidden_size": hidden, "direction": direction}, 3, MICROSOFT, constant=tuple(range(1, 12)))


def grouped_attention(draw):
    """With a cache that grows, or one of the longest sequence's size; sequences of one length, or each of its own."""
    keyHeads, size, past, steps = draw.pick(1, 2), 16, draw.pick(0, 3), draw.pick(1, 4)
    heads, batch = keyHeads * draw.pick(1, 3), 1 if past and steps > 1 else draw.pick(1, 3)
    keys = steps + past
    room = draw.pick(past, keys, keys + 5)
    cache = [draw.numbers([batch, keyHeads, room, size]) for _ in range(2)] if room else [None, None]
    rotation = [draw.numbers([16, size // 2], np.float32, -1, 1) for _ in range(2)]
    attributes = draw.attributes(local_window_size=2, softcap=3.0, scale=0.4, do_rotary=1, smooth_softmax=1)
    lengths = np.full(batch, keys - 1)
    # ONNX Runtime's answer for a padded query that a window keeps from all keys is what the memory held.
    if steps == 1 or (batch > 1 and not {"softcap", "local_window_size"} & set(attributes)):
        lengths = draw.random.integers(0, keys, batch)
    new = [draw.numbers([batch, steps, n * size]) for n in (heads, keyHeads, keyHeads)]
    if draw.chance(0.3):
        new = [np.concatenate(new, 2), None, None]
    return Case("GroupQueryAttention", [
        *new, *cache, lengths.astype(np.int32), np.asarray(keys, np.int32),
        *(rotation if "do_rotary" in attributes else [])],
        {"num_heads": heads, "kv_num_heads": keyHeads, **attributes}, 3, MICROSOFT)


def packed_product(draw):
    bits, block, columns, rows = draw.pick(2, 4, 4, 8), draw.pick(16, 32), draw.pick(3, 8), 64
    blocks = rows // block
    zeros = draw.whole_range([columns * (-(-blocks * bits // 8))], np.uint8) if draw.chance() else None
    isGrouped = bits == 4 and zeros is None and draw.chance()
    groups = draw.random.integers(0, blocks, rows).astype(np.int32) if isGrouped else None
    return Case("MatMulNBits", [draw.numbers([2, rows], np.float32, -1, 1),
                                draw.whole_range([columns, blocks, block * bits // 8], np.uint8),
                                draw.numbers([columns * blocks], np.float32, 0.001, 0.01), zeros, groups],
                {"K": rows, "N": columns, "bits": bits, "block_size": block}, domain=MICROSOFT, constant=(1, 2, 3, 4))


def quantized_elements(draw):
    op, element = draw.pick("QLinearAdd", "QLinearMul", "QLinearWhere"), draw.pick(np.uint8, np.int8)
    shape = draw.shape(1)
    x, y, zero = draw.whole_range(shape, element), draw.whole_range(shape, element), draw.numbers([], element)
    operands = [x, np.float32(0.02), zero, y, np.float32(0.03), zero, np.float32(0.11), zero]
    choice = [draw.numbers(shape, np.bool_)] if op == "QLinearWhere" else []
    return Case(op, choice + operands, domain=MICROSOFT, element=element)


def microsoft(draw):
    op = draw.pick("CDist", "Inverse", "NhwcMaxPool", "QLinearAveragePool", "QLinearGlobalAveragePool", "Trilu",
                   "GatherBlockQuantized")
    if op == "CDist":
        return Case(op, [draw.numbers([3, 5]), draw.numbers([4, 5])], {"metric": draw.pick("euclidean", "sqeuclidean")},
                    domain=MICROSOFT)
    if op == "Inverse":
        size = draw.pick(1, 2, 5)
        return Case(op, [draw.numbers([2, size, size]) + 9 * np.eye(size, dtype=np.float32)], domain=MICROSOFT)
    if op == "NhwcMaxPool":
        return Case(op, [draw.whole_range([1, 7, 6, 3], np.uint8)], {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1]},
                    domain=MICROSOFT)
    if op == "QLinearAveragePool":  # means that are whole numbers: how a half is rounded is another matter
        x, scale, zero = draw.whole_range([1, 2, 5, 6], np.uint8) // 4 * 4, np.float32(0.5), np.uint8(0)
        return Case(op, [x, scale, zero, scale, zero], {
            "kernel_shape": [2, 2], "strides": [draw.pick(1, 2, 3)] * 2, "count_include_pad": 1, "ceil_mode": draw.pick(0, 1),
            "pads": draw.pick([0] * 4, [1] * 4, [0, 1, 1, 0])}, domain=MICROSOFT, constant=(1, 2, 3, 4))
    if op == "QLinearGlobalAveragePool":  # of four, so that halves are many
        x, zero = draw.whole_range([2, 9, 2, 2], draw.pick(np.uint8, np.int8)), draw.pick(0, 5)
        scale, steps = np.float32(draw.pick(0.5, 0.037)), np.asarray(zero, x.dtype)
        last = draw.pick(0, 1)
        return Case(op, [np.moveaxis(x, 1, -1).copy() if last else x, scale, steps, scale, steps], {"channels_last": last},
                    domain=MICROSOFT, constant=(1, 2, 3, 4), element=x.dtype)
    if op == "Trilu":
        return Case(op, [draw.numbers([4, 5]), np.asarray(draw.below(3, -2), np.int64)], draw.attributes(upper=0),
                    domain=MICROSOFT)
    scales = draw.numbers([5, 2], np.float32, 0.01, 0.1)
    table = draw.pick(np.uint8, ml_dtypes.int4, ml_dtypes.uint4)
    if table != np.uint8:
        return Case(op, [draw.whole_range([5, 32], np.uint8).astype(table), integers([4, 0, 3]), scales], {
            "block_size": 16, "gather_axis": 0, "quantize_axis": 1}, domain=MICROSOFT, element=np.float32, constant=(0,))
    bits = draw.pick(2, 4, 8)
    return Case(op, [draw.whole_range([5, 32 * bits // 8], np.uint8), integers([4, 0, 3]), scales],
                {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}, domain=MICROSOFT,
                element=np.float32)


def quantized_softmax(draw):
    element, shape = draw.pick(np.uint8, np.int8), [3, 4, draw.pick(5, 12)]
    zero = np.asarray(np.iinfo(element).min, element)
    step = np.float32(draw.pick(1 / 256, 0.0036, 0.00391))
    return Case("QLinearSoftmax", [draw.whole_range(shape, element), np.float32(0.02), zero, step, zero],
                {"axis": draw.pick(-1, 1), "opset": draw.pick(11, 13)}, domain=MICROSOFT, constant=(1, 2, 3, 4))


FAMILIES = [fused_product, attention, attention, grouped_attention, grouped_attention, packed_product,
            quantized_elements, microsoft, microsoft, narrow_attention, multi_head_attention, quantized_lstm,
            quantized_softmax]
