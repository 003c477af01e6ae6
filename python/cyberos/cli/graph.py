"""The graph of blocks, drawn in a terminal: a column for each line that leads down to a parent yet to come."""

from collections.abc import Iterator

from cyberos.blocks.graph import Graph, GraphNode
from cyberos.cli import output

_MARKS = {"baseline": "o", "session_start": "+", "note": "*", "session_end": "@", "abandon": "x"}


def lines(window: Graph, *, color: bool) -> Iterator[str]:
    """Yields the drawing: a line for each block, and those where lines of the graph meet or part."""
    shown = {node.block_id for node in window.nodes}
    labels = _labels(window)
    lanes: list[str] = []  # the block that each column leads to
    for node in window.nodes:
        if node.block_id not in lanes:
            lanes.append(node.block_id)
        mine = lanes.index(node.block_id)
        cells = [
            _MARKS[node.kind] if lane == node.block_id and place == mine else "|" for place, lane in enumerate(lanes)
        ]
        joined = [place for place, lane in enumerate(lanes) if lane == node.block_id and place != mine]
        if joined:
            yield " ".join("/" if place in joined else "|" for place in range(len(lanes)))
            lanes = [lane for place, lane in enumerate(lanes) if place not in joined]
            cells = [cell for place, cell in enumerate(cells) if place not in joined]
        yield f"{' '.join(cells)} {_told(node, labels.get(node.block_id, []), color=color)}"
        yield from _descend(node, mine, lanes, shown)
    counts = ", ".join(f"{count} {status}" for status, count in window.counts.items() if count)
    yield f"epoch {'none' if window.epoch is None else window.epoch}; sessions: {counts or 'none'}"
    if window.before is not None:
        yield f"older blocks: --before {window.before}"


def _descend(node: GraphNode, mine: int, lanes: list[str], shown: set[str]) -> Iterator[str]:
    """Lets a block's column go on to its parents; yields what is drawn where it parts or ends."""
    inside = [parent for parent in node.parents if parent in shown]
    if len(inside) < len(node.parents):
        yield (
            " ".join("~" if place == mine else "|" for place in range(len(lanes)))
            + " not drawn: "
            + ", ".join(parent for parent in node.parents if parent not in shown)
        )
    if not inside:
        del lanes[mine]
        return
    lanes[mine] = inside[0]
    for parent in inside[1:]:
        yield " ".join("|" for _ in lanes) + " \\"
        lanes.append(parent)


def _labels(window: Graph) -> dict[str, list[str]]:
    labels: dict[str, list[str]] = {}
    if window.head is not None:
        labels[window.head] = [f"head, epoch {window.epoch}"]
    for tip in window.tips:
        labels.setdefault(tip.block_id, []).append(f"{tip.status} {tip.native_ref}")
    return labels


def _told(node: GraphNode, labels: list[str], *, color: bool) -> str:
    block_id = output.paint(node.block_id, "yellow") if color else node.block_id
    label = output.printable(f"({'; '.join(labels)})") if labels else ""
    if label and color:
        label = output.paint(label, "green", "bold")
    epoch = "" if node.epoch is None else f"e{node.epoch}"
    topic = f"[{output.printable(node.topic)}]" if node.topic else ""
    said = node.summary or f"{node.kind.replace('_', ' ')} {node.native_ref or ''}".rstrip()
    old = "~" if node.anchor else ""
    return " ".join(filter(None, (old, block_id, label, epoch, topic, output.printable(said))))
