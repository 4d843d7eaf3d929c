#include "trace/key_map.h"

#include "base/mem.h"

#define FIRST_SLOTS 64u

void key_map_done(struct key_map *map)
{
	mem_free(map->slot);
	*map = (struct key_map){0};
}

/* The finaliser of splitmix64 over both numbers. */
static uint64_t hash(int64_t a, int64_t b)
{
	uint64_t h = (uint64_t)a * 0x9e3779b97f4a7c15u + (uint64_t)b;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27) * 0x94d049bb133111ebu;
	return h ^ h >> 31;
}

static struct key_slot *find(const struct key_map *map, int64_t a, int64_t b)
{
	const uint32_t mask = map->slot_count - 1;
	uint32_t at = (uint32_t)hash(a, b) & mask;
	while (map->slot[at].row && (map->slot[at].a != a || map->slot[at].b != b))
		at = (at + 1) & mask;
	return &map->slot[at];
}

static bool grow(struct key_map *map, struct err *err)
{
	const struct key_map old = *map;
	map->slot_count = old.slot_count ? old.slot_count * 2 : FIRST_SLOTS;
	map->slot = mem_new(map->slot_count, sizeof *map->slot, err);
	if (!map->slot) {
		*map = old;
		return false;
	}
	for (uint32_t s = 0; s < old.slot_count; s++)
		if (old.slot[s].row)
			*find(map, old.slot[s].a, old.slot[s].b) = old.slot[s];
	mem_free(old.slot);
	return true;
}

uint32_t key_map_get(const struct key_map *map, int64_t a, int64_t b)
{
	if (map->slot_count == 0)
		return UINT32_MAX;
	return find(map, a, b)->row - 1; /* a free slot's 0 wraps to UINT32_MAX */
}

bool key_map_put(struct key_map *map, int64_t a, int64_t b, uint32_t row, struct err *err)
{
	if (2 * (map->count + 1) > map->slot_count && !grow(map, err))
		return false;
	struct key_slot *slot = find(map, a, b);
	map->count += slot->row == 0;
	*slot = (struct key_slot){a, b, row + 1};
	return true;
}
