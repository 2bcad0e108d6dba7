"""The vector machine: runs a kernel for batch after batch without running its Python text for each.

    kernel's text --kernel_tracer--> rows --register_slots, value_stretches--> code --execute_code--> recorder's logs

A launch runs its kernel's text once, on registers that have a type and no values (`kernel_tracer`, `traced_threads`).
What is written down is a short program of vector instructions, in which conditions and loops are instructions too.
Compiled code then runs it for each batch of CTAs (`execute_code`): the values (`value_code`, `memory_loops`,
`warp_loops`), and what the stream says of them (`run_records`: runs of ALU instructions, scoreboard slots, waits).

`Threads` and its subclasses are the definition, and do the same batch by batch in NumPy. A text that cannot be written
down (it asks for values, it calls a special unit, its loops are unrolled) runs there. Both give the same answers and
the same stream, bit for bit; the tests compare them.
"""
