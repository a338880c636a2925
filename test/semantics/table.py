"""The families of docs/semantics.md, in the order of the page: (title, rule, rows)."""

import casts
import elementwise
import integers
import movement
import reductions
import windows

FAMILIES = [elementwise.FAMILY, integers.FAMILY, casts.FAMILY, reductions.FAMILY, windows.FAMILY, movement.FAMILY]
