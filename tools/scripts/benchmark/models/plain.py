"""VGG-16, SqueezeNet 1.1, Inception-v3, DenseNet-121."""

from graph import Graph, image


def vgg16():
    g = Graph("vgg16")
    x = image(g)
    for width, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(depth):
            x = g.conv(x, width, 3, norm=False)
        x = g.pool(x, 2, 2)
    x = g.op("Flatten", x)
    for _ in range(2):
        x = g.act(g.linear(x, 4096), "Relu")
    return g.model(g.linear(x, 1000))


def squeezenet():
    g = Graph("squeezenet")

    def fire(x, squeezed, expanded):
        s = g.conv(x, squeezed, norm=False)
        return g.concat(g.conv(s, expanded, norm=False), g.conv(s, expanded, 3, norm=False))

    x = g.conv(image(g), 64, 3, 2, norm=False, pads=[0] * 4)
    for i, (squeezed, expanded) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192),
                                              (64, 256), (64, 256))):
        if i in (0, 2, 4):
            x = g.pool(x, 3, 2, ceil_mode=1)
        x = fire(x, squeezed, expanded)
    x = g.conv(x, 1000, norm=False)
    return g.model(g.op("Flatten", g.op("GlobalAveragePool", x)))


class Inception:
    """The five modules of Inception-v3; each takes and returns an image."""

    def __init__(self):
        self.g = Graph("inception_v3", folded=False)

    def valid(self, x, filters, kernel, stride=1):
        return self.g.conv(x, filters, kernel, stride, pads=[0] * 4)

    def average(self, x):
        return self.g.pool(x, 3, 1, 1, kind="AveragePool", count_include_pad=1)

    def a(self, x, features):
        c = self.g.conv
        five = c(c(x, 48), 64, 5)
        three = c(c(c(x, 64), 96, 3), 96, 3)
        return self.g.concat(c(x, 64), five, three, c(self.average(x), features))

    def b(self, x):
        double = self.valid(self.g.conv(self.g.conv(x, 64), 96, 3), 96, 3, 2)
        return self.g.concat(self.valid(x, 384, 3, 2), double, self.g.pool(x, 3, 2))

    def c(self, x, width):
        c, row, column = self.g.conv, (1, 7), (7, 1)
        seven = c(c(c(x, width), width, row), 192, column)
        double = c(c(c(c(c(x, width), width, column), width, row), width, column), 192, row)
        return self.g.concat(c(x, 192), seven, double, c(self.average(x), 192))

    def d(self, x):
        c = self.g.conv
        three = self.valid(c(x, 192), 320, 3, 2)
        seven = self.valid(c(c(c(x, 192), 192, (1, 7)), 192, (7, 1)), 192, 3, 2)
        return self.g.concat(three, seven, self.g.pool(x, 3, 2))

    def e(self, x):
        c = self.g.conv

        def both(y):
            return self.g.concat(c(y, 384, (1, 3)), c(y, 384, (3, 1)))

        return self.g.concat(c(x, 320), both(c(x, 384)), both(c(c(x, 448), 384, 3)), c(self.average(x), 192))

    def model(self):
        g = self.g
        x = self.valid(self.valid(image(g, 299), 32, 3, 2), 32, 3)
        x = g.pool(g.conv(x, 64, 3), 3, 2)
        x = g.pool(self.valid(self.valid(x, 80, 1), 192, 3), 3, 2)
        for features in (32, 64, 64):
            x = self.a(x, features)
        x = self.b(x)
        for width in (128, 160, 160, 192):
            x = self.c(x, width)
        x = self.e(self.e(self.d(x)))
        return g.model(g.classifier(x))


def densenet121():
    """BatchNormalization stands before its convolution and stays, the convolutions have no bias."""
    g = Graph("densenet121", folded=False)

    def layer(x, filters, kernel):
        return g.conv(g.act(g.batch_norm(x), "Relu"), filters, kernel, norm=False, act=None, bias=False)

    x = g.pool(g.conv(image(g), 64, 7, 2), 3, 2, 1)
    for stage, depth in enumerate((6, 12, 24, 16)):
        for _ in range(depth):
            x = g.concat(x, layer(layer(x, 128, 1), 32, 3))
        if stage < 3:
            x = g.pool(layer(x, g.shape(x)[1] // 2, 1), 2, 2, kind="AveragePool")
    return g.model(g.classifier(g.act(g.batch_norm(x), "Relu")))


MODELS = {"vgg16": vgg16, "squeezenet": squeezenet, "inception_v3": lambda: Inception().model(),
          "densenet121": densenet121}
