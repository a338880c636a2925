"""Networks whose output is an image or boxes: a detector like YOLOv8n, a U-Net."""

import numpy as np

from graph import Graph, image


class Detector:
    """Backbone, path aggregation and decoupled heads of YOLOv8n at 640x640, boxes decoded, no suppression."""

    classes, bins, size = 80, 16, 640

    def __init__(self):
        self.g = Graph("yolov8n")

    def conv(self, x, filters, kernel=1, stride=1):
        return self.g.conv(x, filters, kernel, stride, act="Silu")

    def c2f(self, x, filters, depth, residual):
        g, half = self.g, filters // 2
        parts = list(g.op("Split", self.conv(x, filters), g.ints(half, half), outputs=2, axis=1))
        for _ in range(depth):
            y = self.conv(self.conv(parts[-1], half, 3), half, 3)
            parts.append(g.add(parts[-1], y) if residual else y)
        return self.conv(g.concat(*parts), filters)

    def pyramid_pool(self, x, filters):
        parts = [self.conv(x, filters // 2)]
        for _ in range(3):
            parts.append(self.g.pool(parts[-1], 5, 1, 2))
        return self.conv(self.g.concat(*parts), filters)

    def enlarge(self, x):
        scales = self.g.constant(np.array([1, 1, 2, 2], np.float32))
        return self.g.op("Resize", x, "", scales, mode="nearest", coordinate_transformation_mode="asymmetric",
                         nearest_mode="floor")

    def head(self, x):
        g = self.g
        box = self.conv(self.conv(x, 64, 3), 64, 3)
        box = g.conv(box, 4 * self.bins, norm=False, act=None)
        kind = self.conv(self.conv(x, 80, 3), 80, 3)
        joined = g.concat(box, g.conv(kind, self.classes, norm=False, act=None))
        return g.reshape(joined, 1, 4 * self.bins + self.classes, -1)

    def decode(self, heads, strides):
        """Softmax over 16 bins for each side, its expectation, boxes around the cells' centres."""
        g = self.g
        sides, kinds = g.op("Split", g.concat(*heads, axis=2), g.ints(4 * self.bins, self.classes), outputs=2, axis=1)
        cells = g.shape(sides)[2]
        sides = g.op("Transpose", g.reshape(sides, 1, 4, self.bins, cells), perm=[0, 2, 1, 3])
        expectation = g.constant(np.arange(self.bins, dtype=np.float32).reshape(1, self.bins, 1, 1))
        sides = g.reshape(g.op("Conv", g.op("Softmax", sides, axis=1), expectation), 1, 4, cells)
        near, far = g.op("Split", sides, g.ints(2, 2), outputs=2, axis=1)
        grids = [np.stack(np.meshgrid(*[np.arange(self.size // s) + 0.5] * 2)).reshape(2, -1) for s in strides]
        centres = g.constant(np.concatenate(grids, 1)[None].astype(np.float32))
        low, high = g.op("Sub", centres, near), g.op("Add", centres, far)
        middle = g.op("Div", g.op("Add", low, high), g.scalar(2))
        boxes = g.concat(middle, g.op("Sub", high, low))
        steps = np.concatenate([np.full(self.size // s * (self.size // s), s, np.float32) for s in strides])
        return g.concat(g.op("Mul", boxes, g.constant(steps)), g.op("Sigmoid", kinds))

    def model(self):
        g = self.g
        x = self.conv(self.conv(image(g, self.size), 16, 3, 2), 32, 3, 2)
        x = self.conv(self.c2f(x, 32, 1, True), 64, 3, 2)
        fine = self.c2f(x, 64, 2, True)
        middle = self.c2f(self.conv(fine, 128, 3, 2), 128, 2, True)
        coarse = self.c2f(self.conv(middle, 256, 3, 2), 256, 1, True)
        coarse = self.pyramid_pool(coarse, 256)
        middle = self.c2f(g.concat(self.enlarge(coarse), middle), 128, 1, False)
        fine = self.c2f(g.concat(self.enlarge(middle), fine), 64, 1, False)
        middle = self.c2f(g.concat(self.conv(fine, 64, 3, 2), middle), 128, 1, False)
        coarse = self.c2f(g.concat(self.conv(middle, 128, 3, 2), coarse), 256, 1, False)
        return g.model(self.decode([self.head(x) for x in (fine, middle, coarse)], (8, 16, 32)))


def unet():
    """The U-Net of five levels from 64 to 1024 channels, padded, transposed convolutions on the way up."""
    g = Graph("unet", folded=False)

    def double(x, width):
        return g.conv(g.conv(x, width, 3), width, 3)

    x, skipped = image(g, 256), []
    for width in (64, 128, 256, 512):
        x = double(x, width)
        skipped.append(x)
        x = g.pool(x, 2, 2)
    x = double(x, 1024)
    for width in (512, 256, 128, 64):
        weight = g.normal(2 * width, width, 2, 2, scale=1 / np.sqrt(2 * width * g.power(x)))
        up = g.op("ConvTranspose", x, weight, g.normal(width, scale=0.1), kernel_shape=[2, 2], strides=[2, 2],
                  power=1.0)
        x = double(g.concat(skipped.pop(), up), width)
    return g.model(g.conv(x, 2, norm=False, act=None))


MODELS = {"yolov8n": lambda: Detector().model(), "unet": unet}
