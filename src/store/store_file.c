#include "store/store_file.h"

#include "store/schema.h"
#include "store/zst_file.h"

bool store_file_begin(struct store_file *ret, const char *path, bool compress, struct err *err)
{
	struct store_file file = {0};
	/* The uncompressed database lies beside its target, where there is room for such files. */
	if (!atomic_file_begin(&file.target, path, err) ||
		(compress && !atomic_file_begin(&file.plain, path, err)) ||
		!database_create(
			compress ? file.plain.temporary : file.target.temporary, &file.db, err) ||
		!database_run(file.db, "BEGIN", err) ||
		!database_run(file.db, embedded_trace_sql, err)) {
		store_file_done(&file);
		return false;
	}
	*ret = file;
	return true;
}

bool store_file_finish(struct store_file *file, struct err *err)
{
	if (!database_run(file->db, embedded_trace_indexes_sql, err) ||
		!database_run(file->db, "COMMIT", err))
		return false;
	database_close(file->db);
	file->db = NULL;
	return !file->plain.temporary ||
	       zst_file_pack(file->plain.temporary, file->target.temporary, err);
}

bool store_file_commit(struct store_file *file, struct err *err)
{
	return (!file->db || store_file_finish(file, err)) &&
	       atomic_file_commit(&file->target, err);
}

void store_file_done(struct store_file *file)
{
	database_close(file->db);
	atomic_file_done(&file->plain);
	atomic_file_done(&file->target);
	file->db = NULL;
}
