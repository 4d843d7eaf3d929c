#include "classify/roles.h"

#include <string.h>

#include "base/mem.h"

static bool classify_name(const struct rules *rules, enum rule_domain domain,
	const struct trace *trace, uint32_t id, struct roles *roles, struct err *err)
{
	const char *text = intern_text(&trace->strings, id);
	struct rule_match match;
	if (!rules_match(rules, domain, text, trace->strings.length[id], &match, err))
		return false;
	uint8_t *const by_domain[] = {roles->kernel, roles->call, roles->op};
	by_domain[domain][id] = match.role;
	if (domain != DOMAIN_OP || !match.has_unit)
		return true;
	roles->unit[id] =
		intern_put(&roles->units, text + match.unit_start, match.unit_length, err);
	return roles->unit[id] != NULL_U32;
}

/* Classifies the names in `name_id[0..count)`, each once. */
static bool classify_column(const struct rules *rules, enum rule_domain domain,
	const struct trace *trace, const uint32_t *name_id, uint32_t count, uint8_t *seen,
	struct roles *roles, struct err *err)
{
	memset(seen, 0, trace->strings.count);
	for (uint32_t i = 0; i < count; i++) {
		if (seen[name_id[i]])
			continue;
		seen[name_id[i]] = 1;
		if (!classify_name(rules, domain, trace, name_id[i], roles, err))
			return false;
	}
	return true;
}

bool roles_make(
	const struct rules *rules, const struct trace *trace, struct roles *ret, struct err *err)
{
	const uint32_t count = trace->strings.count;
	*ret = (struct roles){0};
	uint8_t *seen = mem_new(count, 1, err);
	bool ok = seen && (ret->kernel = mem_new(count, 1, err)) &&
		  (ret->call = mem_new(count, 1, err)) && (ret->op = mem_new(count, 1, err)) &&
		  (ret->unit = mem_new(count, sizeof *ret->unit, err)) &&
		  intern_init(&ret->units, err);
	if (ok) {
		memset(ret->unit, 0xff, count * sizeof *ret->unit);
		ok = classify_column(rules, DOMAIN_KERNEL, trace, trace->gpu_ops.name_id,
			     trace->gpu_ops.head.count, seen, ret, err) &&
		     classify_column(rules, DOMAIN_CALL, trace, trace->api_calls.name_id,
			     trace->api_calls.head.count, seen, ret, err) &&
		     classify_column(rules, DOMAIN_OP, trace, trace->host_ops.name_id,
			     trace->host_ops.head.count, seen, ret, err);
	}
	mem_free(seen);
	if (!ok)
		roles_done(ret);
	return ok;
}

void roles_done(struct roles *roles)
{
	mem_free(roles->kernel);
	mem_free(roles->call);
	mem_free(roles->op);
	mem_free(roles->unit);
	intern_done(&roles->units);
	*roles = (struct roles){0};
}
