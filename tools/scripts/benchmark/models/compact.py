"""Networks for small machines: MobileNetV2, MobileNetV3-Large, EfficientNet-B0, ShuffleNetV2."""

from graph import Graph, image

from .residual import squeeze_excite


def mobilenet_v2():
    g = Graph("mobilenet_v2", folded=False)
    x = g.conv(image(g), 32, 3, 2, act="Relu6")
    for expand, filters, depth, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                          (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(depth):
            stride, wide = first if i == 0 else 1, g.shape(x)[1] * expand
            y = g.conv(x, wide, act="Relu6") if expand > 1 else x
            y = g.conv(y, wide, 3, stride, group=wide, act="Relu6")
            y = g.conv(y, filters, act=None)
            x = g.add(x, y) if stride == 1 and g.shape(x)[1] == filters else y
    return g.model(g.classifier(g.conv(x, 1280, act="Relu6")))


def rounded(channels):
    """The multiple of eight near it that loses no more than a tenth."""
    near = max(8, (channels + 4) // 8 * 8)
    return near + 8 if near < 0.9 * channels else near


MOBILENET_V3 = (  # kernel, expanded, filters, squeeze and excite, activation, stride
    (3, 16, 16, False, "Relu", 1), (3, 64, 24, False, "Relu", 2), (3, 72, 24, False, "Relu", 1),
    (5, 72, 40, True, "Relu", 2), (5, 120, 40, True, "Relu", 1), (5, 120, 40, True, "Relu", 1),
    (3, 240, 80, False, "HardSwish", 2), (3, 200, 80, False, "HardSwish", 1), (3, 184, 80, False, "HardSwish", 1),
    (3, 184, 80, False, "HardSwish", 1), (3, 480, 112, True, "HardSwish", 1), (3, 672, 112, True, "HardSwish", 1),
    (5, 672, 160, True, "HardSwish", 2), (5, 960, 160, True, "HardSwish", 1), (5, 960, 160, True, "HardSwish", 1))


def mobilenet_v3():
    g = Graph("mobilenet_v3")
    x = g.conv(image(g), 16, 3, 2, act="HardSwish")
    for kernel, wide, filters, excited, act, stride in MOBILENET_V3:
        y = g.conv(x, wide, act=act) if wide != g.shape(x)[1] else x
        y = g.conv(y, wide, kernel, stride, group=wide, act=act)
        y = squeeze_excite(g, y, rounded(wide // 4), gate="HardSigmoid") if excited else y
        y = g.conv(y, filters, act=None)
        x = g.add(x, y) if stride == 1 and g.shape(x)[1] == filters else y
    x = g.op("Flatten", g.op("GlobalAveragePool", g.conv(x, 960, act="HardSwish")), power=0.2)
    return g.model(g.linear(g.act(g.linear(x, 1280), "HardSwish"), 1000))


def efficientnet_b0():
    g = Graph("efficientnet_b0")
    x = g.conv(image(g), 32, 3, 2, act="Silu")
    for expand, filters, depth, first, kernel in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5),
                                                  (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
                                                  (6, 320, 1, 1, 3)):
        for i in range(depth):
            before, stride = g.shape(x)[1], first if i == 0 else 1
            y = g.conv(x, before * expand, act="Silu") if expand > 1 else x
            y = g.conv(y, before * expand, kernel, stride, group=before * expand, act="Silu")
            y = squeeze_excite(g, y, max(1, before // 4), act="Silu")
            y = g.conv(y, filters, act=None)
            x = g.add(y, x) if stride == 1 and before == filters else y
    return g.model(g.classifier(g.conv(x, 1280, act="Silu")))


def shuffle(g, left, right):
    """Joins two images and mixes their channels, as in every channel shuffle of two groups."""
    x = g.concat(left, right)
    batch, channels, height, width = g.shape(x)
    x = g.op("Transpose", g.reshape(x, batch, 2, channels // 2, height, width), perm=[0, 2, 1, 3, 4])
    return g.reshape(x, batch, channels, height, width)


def shufflenet_v2():
    g = Graph("shufflenet_v2")
    x = g.pool(g.conv(image(g), 24, 3, 2), 3, 2, 1)
    for width, depth in ((116, 4), (232, 8), (464, 4)):
        half = width // 2
        left = g.conv(x, g.shape(x)[1], 3, 2, group=g.shape(x)[1], act=None)
        left = g.conv(left, half)
        right = g.conv(x, half)
        right = g.conv(g.conv(right, half, 3, 2, group=half, act=None), half)
        x = shuffle(g, left, right)
        for _ in range(depth - 1):
            left, right = g.op("Split", x, g.ints(half, half), outputs=2, axis=1)
            right = g.conv(right, half)
            right = g.conv(g.conv(right, half, 3, group=half, act=None), half)
            x = shuffle(g, left, right)
    x = g.conv(x, 1024)
    return g.model(g.linear(g.op("ReduceMean", x, axes=[2, 3], keepdims=0, power=0.3), 1000))


MODELS = {"mobilenet_v2": mobilenet_v2, "mobilenet_v3": mobilenet_v3, "efficientnet_b0": efficientnet_b0,
          "shufflenet_v2": shufflenet_v2}
