"""Run BFS on a generated graph and look at the result."""

import warpsift

result = warpsift.simulate("bfs", "delaunay-12", source=0)
print(result.check, "-", result.check_reason)
print(f"{result.transactions} transactions, {result.coalescing_efficiency:.0%} coalesced")
for row in result.rows():
    print(row["phase"], row["launches"], row["warp_instructions"])
assert result.check == "pass"
