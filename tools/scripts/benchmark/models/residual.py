"""ResNet-18 and -50, RegNetY-400MF, ConvNeXt-T."""

from graph import Graph, image


def shortcut(g, x, filters, stride):
    return x if g.shape(x)[1] == filters and stride == 1 else g.conv(x, filters, 1, stride, act=None)


def basic_block(g, x, width, stride):
    y = g.conv(x, width, 3, stride)
    y = g.conv(y, width, 3, act=None, gain=0.5)
    return g.act(g.add(y, shortcut(g, x, width, stride)), "Relu")


def bottleneck(g, x, width, stride):
    y = g.conv(x, width, 1)
    y = g.conv(y, width, 3, stride)
    y = g.conv(y, 4 * width, 1, act=None, gain=0.5)
    return g.act(g.add(y, shortcut(g, x, 4 * width, stride)), "Relu")


def resnet(name, block, depths, folded):
    g = Graph(name, folded)
    x = g.pool(g.conv(image(g), 64, 7, 2), 3, 2, 1)
    for stage, depth in enumerate(depths):
        for i in range(depth):
            x = block(g, x, 64 << stage, 2 if i == 0 and stage > 0 else 1)
    return g.model(g.classifier(x))


def squeeze_excite(g, x, squeezed, act="Relu", gate="Sigmoid"):
    """Global average, two 1x1 convolutions, a gate for every channel."""
    pooled = g.op("GlobalAveragePool", x, power=0.1)
    hidden = g.conv(pooled, squeezed, norm=False, act=act)
    scale = g.op(gate, g.conv(hidden, g.shape(x)[1], norm=False, act=None), power=1.0)
    return g.op("Mul", x, scale, power=0.35 * g.power(x))


def regnet_y_400mf():
    g = Graph("regnet_y_400mf")
    x = g.conv(image(g), 32, 3, 2)
    for width, depth in ((48, 1), (104, 3), (208, 6), (440, 6)):
        for i in range(depth):
            stride = 2 if i == 0 else 1
            before = g.shape(x)[1]
            y = g.conv(x, width, 1)
            y = g.conv(y, width, 3, stride, group=width // 8)
            y = squeeze_excite(g, y, round(before / 4))
            y = g.conv(y, width, 1, act=None, gain=0.5)
            x = g.act(g.add(shortcut(g, x, width, stride), y), "Relu")
    return g.model(g.classifier(x))


def channel_norm(g, x):
    """LayerNormalization over the channels of an image: channels last and back."""
    y = g.layer_norm(g.op("Transpose", x, perm=[0, 2, 3, 1]), 1e-6)
    return g.op("Transpose", y, perm=[0, 3, 1, 2])


def convnext_block(g, x, width):
    y = g.conv(x, width, 7, group=width, norm=False, act=None)
    y = g.layer_norm(g.op("Transpose", y, perm=[0, 2, 3, 1]), 1e-6)
    y = g.dense(g.act(g.dense(y, 4 * width), "Gelu"), width)
    y = g.op("Transpose", y, perm=[0, 3, 1, 2])
    return g.add(x, g.op("Mul", y, g.uniform(width, 1, 1, low=0.1, high=0.5), power=0.1))


def convnext_tiny():
    g = Graph("convnext_tiny")
    x = channel_norm(g, g.conv(image(g), 96, 4, 4, pads=[0] * 4, norm=False, act=None))
    for stage, (width, depth) in enumerate(((96, 3), (192, 3), (384, 9), (768, 3))):
        if stage:
            x = g.conv(channel_norm(g, x), width, 2, 2, pads=[0] * 4, norm=False, act=None)
        for _ in range(depth):
            x = convnext_block(g, x, width)
    pooled = channel_norm(g, g.op("GlobalAveragePool", x))
    return g.model(g.linear(g.op("Flatten", pooled), 1000))


MODELS = {
    "resnet18": lambda: resnet("resnet18", basic_block, (2, 2, 2, 2), folded=False),
    "resnet50": lambda: resnet("resnet50", bottleneck, (3, 4, 6, 3), folded=True),
    "regnet_y_400mf": regnet_y_400mf,
    "convnext_tiny": convnext_tiny,
}
