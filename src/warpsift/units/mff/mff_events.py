"""What costs energy in the memory fast-forward unit (MFF paper, Fig. 7)."""

from warpsift.costs.events import Event

EVENTS = (
    Event("mff_issue", "mff.issue_engines", {"mff_jobs": 1}),
    Event("mff_register", "mff.work_registers", {"mff_register_accesses": 1}),
    Event("mff_tag_search", "mff.tag_units", {"mff_tag_searches": 1}),
    Event("mff_line_access", "mff.line_data", {"mff_line_accesses": 1}),
)
