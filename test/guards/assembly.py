"""What a compiler's assembly for x86-64 says about its loops.

`innermost_loops` reads text as onnxc -S writes it: functions of basic blocks. A loop is a strongly connected part of the
graph of blocks, so neither the order of blocks nor the form of the jumps matters.
"""

import re
from dataclasses import dataclass, field

JUMP = re.compile(r"^j\w+\s+(\.\w+)")
LABEL = re.compile(r"^(\.LBB\w+):")
FUNCTION = re.compile(r"^([\w.$]+):.*# @")
FMA = re.compile(r"^vfn?m(add|sub)\w*p[sd]\b")
OPERATIONS = r"(fn?m(add|sub)\w*|add|sub|mul|div|sqrt|min|max|round|rndscale|cmp\w*|u?comi|rcp|rsqrt|getexp|scalef)"
VECTOR_ARITHMETIC = re.compile(rf"^v?{OPERATIONS}p[sd]\b")
SCALAR_ARITHMETIC = re.compile(rf"^v?({OPERATIONS}s[sd]\b|cvtt?(s[sd]2|u?si2s[sd]))")
# Of an element; constants lie behind the instruction pointer, and spilled values on the stack.
SCALAR_READ = re.compile(rf"^v?(mov|{OPERATIONS})s[sd]\s+[^,]*\((?!%rip|%rsp)[^)]*\)")
SPILL = re.compile(r"# (16|32|64)-byte (Folded )?(Spill|Reload)")


@dataclass
class Block:
    instructions: list = field(default_factory=list)
    successors: list = field(default_factory=list)
    is_done: bool = False  # what follows is another block


@dataclass
class Loop:
    function: str
    instructions: list

    def count(self, pattern):
        return sum(bool(pattern.search(line)) for line in self.instructions)


def functions(text):
    """(name, {label: Block}) of each function."""
    name = None
    for line in text.splitlines():
        start = FUNCTION.match(line)
        if start:
            name, blocks, block = start.group(1), {}, None
        elif name and line.startswith(".Lfunc_end"):
            yield name, blocks
            name = None
        elif name:
            block = read(line, blocks, block)


def read(line, blocks, block):
    """Adds a line to the blocks; `block` is the one that control comes from, and so is the result."""
    mark = LABEL.match(line)
    instruction = line.strip()
    is_instruction = line.startswith("\t") and not instruction.startswith((".", "#"))
    if mark or (block is None and is_instruction) or (block and block.is_done):
        label = mark.group(1) if mark else f"after {len(blocks)} blocks"
        if block:
            block.successors.append(label)  # falls through
        block = blocks[label] = Block()
    if not is_instruction:
        return block
    block.instructions.append(instruction)
    jump = JUMP.match(instruction)
    if jump:
        block.successors.append(jump.group(1))
        block.is_done = True
    return None if instruction.startswith(("jmp", "ret", "ud2")) else block


def components(blocks, labels):
    """Strongly connected sets of two or more blocks, or of one that follows itself (Tarjan, without recursion)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in labels:
        if root in index:
            continue
        work = [(root, iter(blocks[root].successors))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            label, following = work[-1]
            for after in following:
                if after not in labels:
                    continue
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    on_stack.add(after)
                    work.append((after, iter(blocks[after].successors)))
                    break
                if after in on_stack:
                    low[label] = min(low[label], index[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[label])
                if low[label] == index[label]:
                    part = set()
                    while label not in part:
                        part.add(stack.pop())
                    on_stack -= part
                    if len(part) > 1 or label in blocks[label].successors:
                        found.append(part)
    return found


def innermost(blocks, labels):
    """The loops of the blocks that hold no further loop once their entry is taken away."""
    for part in components(blocks, labels):
        entries = {after for label, block in blocks.items() if label not in part for after in block.successors}
        rest = part - entries
        inner = list(innermost(blocks, rest)) if rest != part else []
        if inner:
            yield from inner
        else:
            yield part


def innermost_loops(text):
    for name, blocks in functions(text):
        for part in innermost(blocks, set(blocks)):
            yield Loop(name, [line for label in blocks if label in part for line in blocks[label].instructions])
