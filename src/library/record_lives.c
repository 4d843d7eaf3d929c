#include "library/record_lives.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/table.h"

static const char folder_name[] = "earlier";

/* By rank, then by their beginnings. */
static int compare(const void *a, const void *b)
{
	const struct record_outcome *one = ((const struct record_life *)a)->outcome;
	const struct record_outcome *other = ((const struct record_life *)b)->outcome;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return one->begin_ns == other->begin_ns ? 0 : one->begin_ns < other->begin_ns ? -1 : 1;
}

static uint32_t choose(const struct record_life *lives, uint32_t count)
{
	for (uint32_t l = count; l-- > 0;)
		if (lives[l].outcome->steps > 0)
			return l;
	return count - 1;
}

/* Never over what is there; `life` has the new name then. */
static bool move(struct record_life *life, struct text *target, struct err *err)
{
	if (!text_ok(target, err))
		return false;
	if (access(target->bytes, F_OK) == 0)
		return err_set_errno(err, EEXIST, "%s", target->bytes);
	if (rename(*life->path, target->bytes) != 0)
		return err_set_errno(err, errno, "%s", target->bytes);
	mem_free(*life->path);
	*life->path = target->bytes;
	*target = (struct text){0};
	return true;
}

static bool put_away(const char *directory, struct record_life *life, struct err *err)
{
	struct text target = {0};
	const char *slash = strrchr(*life->path, '/');
	text_add(&target, "%s/%s", directory, folder_name);
	bool ok = text_ok(&target, err) && (mkdir(target.bytes, 0777) == 0 || errno == EEXIST ||
						   err_set_errno(err, errno, "%s", target.bytes));
	text_add(&target, "/%s", slash ? slash + 1 : *life->path);
	ok = ok && move(life, &target, err);
	text_done(&target);
	return ok;
}

/* The first life's name, where that has become free. */
static bool take_first_name(const char *directory, struct record_life *life, struct err *err)
{
	struct text target = {0};
	text_add(&target, "%s/rank%d.inq%s", directory, life->outcome->rank,
		life->outcome->is_compressed ? ".zst" : "");
	const bool is_free = text_ok(&target, err) && access(target.bytes, F_OK) != 0;
	const bool ok = err->code == ERR_NONE && (!is_free || move(life, &target, err));
	text_done(&target);
	return ok;
}

static void settle_rank(
	const char *directory, struct record_life *lives, uint32_t count, struct text *to)
{
	struct err err = {0};
	struct record_life *kept = &lives[choose(lives, count)];
	bool ok = true;
	for (uint32_t l = 0; ok && l < count; l++)
		ok = &lives[l] == kept || put_away(directory, &lives[l], &err);
	ok = ok && take_first_name(directory, kept, &err);
	if (ok)
		text_add(to, "rank %d was started %u times: %s is the last%s, %s/%s has the rest\n",
			kept->outcome->rank, count, *kept->path,
			kept->outcome->steps ? " with a step" : "", directory, folder_name);
	else
		text_add(to, "rank %d was started %u times, and can't be left with one file: %s\n",
			kept->outcome->rank, count, err.msg);
}

void record_lives_settle(
	const char *directory, struct record_life *lives, uint32_t count, struct text *to)
{
	uint32_t end;
	qsort(lives, count, sizeof *lives, compare);
	for (uint32_t from = 0; from < count; from = end) {
		end = from + 1;
		while (end < count && lives[end].outcome->rank == lives[from].outcome->rank)
			end++;
		if (end - from > 1 && lives[from].outcome->rank != NULL_I32)
			settle_rank(directory, &lives[from], end - from, to);
	}
}
