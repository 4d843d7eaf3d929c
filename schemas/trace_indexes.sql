-- Indexes of a trace, made after its rows are in: inserting into an index row by row takes longer.

CREATE INDEX host_op_by_name ON host_op (name_id);
CREATE INDEX gpu_op_by_name ON gpu_op (name_id);
CREATE INDEX gpu_op_by_start ON gpu_op (start_ns);
CREATE INDEX collective_by_gpu_op ON collective (gpu_op_id); -- the view kernels needs it
CREATE INDEX part_by_step ON part (step_id);
