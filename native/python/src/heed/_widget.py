"""A run as an anywidget, for who wants layer, head and query as traits: pip install heed[widget]."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _cell
from ._library import fail

if TYPE_CHECKING:
    from ._run import Run


def widget(run: Run, max_mb: float = 4, colormap: str = "cividis") -> Any:
    """A run as a widget: what its cell shows, with traits layer, head and query, which follow the user and move the cell.

    The rows of a run are in the widget, at most max_mb of them. Needs anywidget. Raises heed.Error without it.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise fail("widget: no anywidget here (expected pip install heed[widget]; a run shows itself without it)", "UNSUPPORTED") from None
    traits: Any = traitlets
    found = json.loads(_cell.contents(run, _cell.limit(max_mb), colormap, 0))

    class RunWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """The cell of a run; observe(..., names=["query"]) follows what a user points at."""
        _esm = _cell.part("widget.js")
        _css = _cell.part("widget.css")
        data = traits.Dict().tag(sync=True)
        layer = traits.Int().tag(sync=True)
        head = traits.Int().tag(sync=True)
        query = traits.Int().tag(sync=True)

    return RunWidget(data=found, layer=found["layer"], head=found["head"], query=found["query"])
