# A list whose one event is no JSON; a list that is cut inside its first event keeps its answer.
printf '{"traceEvents": [{"ph": X}]}' >bad.json
printf '{"traceEvents": [{"ph": "X", "na' >cut.json
inquest info bad.json
echo "exit $?"
inquest info cut.json
