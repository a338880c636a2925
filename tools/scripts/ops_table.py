"""docs/ops.md: the table of operators, from the records themselves (`llvm-tblgen --dump-json` of every family)."""

import json
import subprocess

HEAD = """# Operators

Made from the records in `dialects/onnx/*.td` by `ninja docs`. `opsets` lists the versions that a record serves: an
operator with several records has superseded forms, which the graph stage rewrites in today's operators.

Operators of sequences have no record. Where the model says how many tensors a sequence has and which of them a node takes,
the importer knows these: SequenceEmpty, SequenceConstruct, SequenceInsert, SequenceErase, SequenceAt, SequenceLength,
SplitToSequence and ConcatFromSequence. Inputs, outputs and results of subgraphs that are sequences are not supported.

| operator | opsets | family | operands and attributes | results | meaning |
|---|---|---|---|---|---|
"""


def records_of(td, root, tools, include):
    text = subprocess.run([tools / "llvm-tblgen", "--dump-json", f"-I{root}", f"-I{include}", td], check=True,
                          capture_output=True, text=True).stdout
    records = json.loads(text)
    return [records[name] for name in records["!instanceof"].get("OnnxOp", [])]


def row(op):
    def names(dag):
        return ", ".join(name for _, name in dag["args"])

    meaning = op.get("scalar") or op.get("combine") or op.get("formula") or op["summary"]
    code = f"`{' '.join(meaning.split())}`".replace("|", "\\|") if meaning else ""
    name = (op["domain"] + "." if op["domain"] else "") + op["opType"]
    return name, op["since"][0], [name, ", ".join(map(str, op["since"])), op["family"], names(op["arguments"]),
                                  names(op["results"]), code]


def page(root, tools, include):
    rows = {}
    for td in sorted((root / "dialects/onnx").glob("*.td")):
        for op in records_of(td, root, tools, include):
            name, since, cells = row(op)
            rows[name, since] = cells
    return HEAD + "".join(f"| {' | '.join(cells)} |\n" for _, cells in sorted(rows.items()))
