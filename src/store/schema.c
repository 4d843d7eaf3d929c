#include "store/schema.h"

#include <string.h>

#define APPLICATION_ID_OFFSET 68 /* SQLite's file format, section 1.3 */

const char *const schema_other_tables[] = {"meta", "string", "word", "diagnostic", "step", "unit",
	"gpu_op_phase", "part", "gather", "flop"};
const uint32_t schema_other_table_count = sizeof schema_other_tables / sizeof *schema_other_tables;

bool schema_is_ours(const uint8_t *head, size_t size)
{
	static const char magic[] = "SQLite format 3"; /* with its NUL */
	if (size < SCHEMA_MAGIC_BYTES || memcmp(head, magic, sizeof magic) != 0)
		return false;
	uint32_t id = 0;
	for (int i = 0; i < 4; i++)
		id = id << 8 | head[APPLICATION_ID_OFFSET + i];
	return id == SCHEMA_APPLICATION_ID;
}
