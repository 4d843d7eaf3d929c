"""What the stand-in's backward runs, and in which state it is."""
graph_task = -1
has_grad = True
tape = []  # functions that backward calls, last first
