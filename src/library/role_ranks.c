#include "library/role_ranks.h"

#include <string.h>

/* Past "rank3", "rank_3", "rank-3" or "rank.3"; `at` where none of it stands there. */
static const char *skip_rank(const char *at)
{
	if (strncmp(at, "rank", 4) != 0)
		return at;
	const char *digits = at + 4;
	if (*digits == '_' || *digits == '-' || *digits == '.')
		digits++;
	const size_t length = strspn(digits, "0123456789");
	return length ? digits + length : at;
}

static bool differ_in_rank_alone(const char *a, const char *b)
{
	while (*a && *b) {
		const char *after_a = skip_rank(a), *after_b = skip_rank(b);
		if (after_a != a && after_b != b) {
			a = after_a;
			b = after_b;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

static bool are_of_one_job(const struct role_request *roles,
	const struct breakdown *const runs[ROLE_COUNT], int a, int b)
{
	return runs[a] && runs[b] && runs[a]->rank_count == 1 && runs[b]->rank_count == 1 &&
	       runs[a]->ranks[0].rank != runs[b]->ranks[0].rank && runs[a]->world_size > 1 &&
	       runs[a]->world_size == runs[b]->world_size &&
	       differ_in_rank_alone(roles[a].path, roles[b].path);
}

bool role_ranks_check(const struct role_request *roles,
	const struct breakdown *const runs[ROLE_COUNT], struct err *err)
{
	for (int a = 0; a < ROLE_COUNT; a++)
		for (int b = a + 1; b < ROLE_COUNT; b++)
			if (are_of_one_job(roles, runs, a, b))
				return err_set(err, ERR_USAGE,
					"%s and %s are ranks %d and %d of one job: quote the glob; "
					"files of one run go into one argument",
					roles[a].path, roles[b].path, runs[a]->ranks[0].rank,
					runs[b]->ranks[0].rank);
	return true;
}

bool role_ranks_share(const struct breakdown *a, const struct breakdown *b)
{
	for (uint32_t i = 0; i < a->rank_count; i++)
		for (uint32_t k = 0; k < b->rank_count; k++)
			if (a->ranks[i].rank == b->ranks[k].rank)
				return true;
	return false;
}
