"""Search for the best designs: time, energy and area over a set of workloads, in far fewer runs than a grid takes.

from warpsift.search import read_search, search
found = search(read_search("find.toml"), "runs.db")
found.front
"""

from warpsift.search.search_file import SearchError, SearchSpec, read_search
from warpsift.search.search_run import Found, search
from warpsift.search.tried import Tried

__all__ = ["Found", "SearchError", "SearchSpec", "Tried", "read_search", "search"]
