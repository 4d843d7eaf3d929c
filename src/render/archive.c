#include "render/archive.h"

#include <assert.h>

#include "render/results_sql.h"
#include "store/trace_sql.h"

bool archive_prepare(struct store_file *ret, const char *path, const struct trace *trace,
	const struct breakdown *breakdown, uint32_t rank_index, uint64_t rules_hash, bool compress,
	struct err *err)
{
	assert(!breakdown || rank_index < breakdown->rank_count);
	struct store_file file = {0};
	if (store_file_begin(&file, path, compress, err) && trace_sql_write(file.db, trace, err) &&
		(!breakdown || results_sql_write(
				       file.db, &breakdown->ranks[rank_index], rules_hash, err)) &&
		store_file_finish(&file, err)) {
		*ret = file;
		return true;
	}
	store_file_done(&file);
	return err_prefix(err, "%s", path);
}

bool archive_write(const char *path, const struct trace *trace, const struct breakdown *breakdown,
	uint32_t rank_index, uint64_t rules_hash, bool compress, struct err *err)
{
	struct store_file file;
	if (!archive_prepare(&file, path, trace, breakdown, rank_index, rules_hash, compress, err))
		return false;
	const bool ok = store_file_commit(&file, err) || err_prefix(err, "%s", path);
	store_file_done(&file);
	return ok;
}
