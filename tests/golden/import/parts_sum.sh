# What a person asks first: do the parts of a step sum to it?
inquest import 'samples/big_ac_block.*' -o kept
for file in kept/*.inq; do
	sqlite3 "$file" 'SELECT steps.name, steps.duration_ns, sum(part.end_ns - part.start_ns)
		FROM steps JOIN part ON part.step_id = steps.id GROUP BY steps.id'
done
