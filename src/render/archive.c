#include "render/archive.h"

#include <assert.h>

#include "render/results_sql.h"
#include "store/store_file.h"
#include "store/trace_sql.h"

bool archive_write(const char *path, const struct trace *trace, const struct breakdown *breakdown,
	uint32_t rank_index, uint64_t rules_hash, bool compress, struct err *err)
{
	assert(!breakdown || rank_index < breakdown->rank_count);
	struct store_file file = {0};
	const bool ok = store_file_begin(&file, path, compress, err) &&
			trace_sql_write(file.db, trace, err) &&
			(!breakdown || results_sql_write(file.db, &breakdown->ranks[rank_index],
					       rules_hash, err)) &&
			store_file_commit(&file, err);
	store_file_done(&file);
	return ok || err_prefix(err, "%s", path);
}
