/* SPDX-License-Identifier: BSD-2-Clause */
#include "listing.h"

#include <inttypes.h>
#include <string.h>

#include "number.h"

void pe_listing_free(struct pe_listing *l)
{
	pe_edge_buffer_free(l->ctx, &l->edges);
	pe_free(l->ctx, l->pool);
	pe_free(l->ctx, l->keys);
	pe_free(l->ctx, l->slots);
	pe_free(l->ctx, l->rows);
	pe_free(l->ctx, l->ends);
	*l = (struct pe_listing){.ctx = l->ctx};
}

/* ---- ids ---------------------------------------------------------------------------- */

/* FNV-1a over eight bytes at a time, its high bits folded in. */
static uint64_t hash_of(const char *text, size_t size)
{
	uint64_t h = 14695981039346656037u ^ size, word;
	for (; size >= 8; text += 8, size -= 8) {
		memcpy(&word, text, 8);
		h = (h ^ word) * 0x9E3779B97F4A7C15u;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, text, size);
	h = (h ^ word) * 0x9E3779B97F4A7C15u;
	return h ^ h >> 32;
}

/* The slot of this id, or the empty one where it belongs. There is always an empty one. */
static struct pe_listing_slot *slot_of(
	const struct pe_listing *l, const char *text, size_t size, uint64_t hash)
{
	uint64_t mask = (uint64_t)l->slot_count - 1;
	for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
		struct pe_listing_slot *slot = &l->slots[i];
		if (slot->key < l->first_key)
			return slot;
		if (slot->hash != hash)
			continue;
		const struct pe_listing_key *key = &l->keys[slot->key];
		if (key->size == size && memcmp(l->pool + key->text, text, size) == 0)
			return slot;
	}
}

static void put(struct pe_listing_slot *slots, int64_t count, struct pe_listing_slot new)
{
	uint64_t mask = (uint64_t)count - 1, i = new.hash &mask;
	while (slots[i].key >= 0)
		i = (i + 1) & mask;
	slots[i] = new;
}

/* Twice the slots, at most half of them taken. */
static pe_status grow_slots(struct pe_listing *l)
{
	int64_t count = l->slot_count ? 2 * l->slot_count : 64;
	struct pe_listing_slot *slots = pe_alloc(l->ctx, count, sizeof *slots);
	if (!slots)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < count; i++)
		slots[i].key = -1;
	for (int64_t i = 0; i < l->slot_count; i++)
		if (l->slots[i].key >= l->first_key)
			put(slots, count, l->slots[i]);
	pe_free(l->ctx, l->slots);
	l->slots = slots;
	l->slot_count = count;
	return PE_OK;
}

pe_status pe_listing_find(struct pe_listing *l, const char *text, size_t size, int64_t line, int64_t *key)
{
	if (2 * (l->key_count - l->first_key + 1) > l->slot_count)
		PE_TRY(grow_slots(l));
	uint64_t hash = hash_of(text, size);
	struct pe_listing_slot *slot = slot_of(l, text, size, hash);
	if (slot->key >= l->first_key) {
		*key = slot->key;
		return PE_OK;
	}
	int64_t pool_need;
	if (!pe_add(l->pool_size, (int64_t)size + 1, &pool_need))
		return pe_fail(l->ctx, PE_ERR_NOMEM, "the node ids are too long");
	PE_TRY(pe_grow(l->ctx, &l->pool, &l->pool_capacity, l->pool_size, pool_need, 1));
	PE_TRY(pe_grow(l->ctx, &l->keys, &l->key_capacity, l->key_count, l->key_count + 1, sizeof *l->keys));
	memcpy(l->pool + l->pool_size, text, size);
	l->pool[l->pool_size + (int64_t)size] = '\0';
	l->keys[l->key_count] = (struct pe_listing_key){l->pool_size, size, -1, line};
	l->pool_size = pool_need;
	*slot = (struct pe_listing_slot){l->key_count, hash};
	*key = l->key_count++;
	return PE_OK;
}

int64_t pe_listing_look_up(const struct pe_listing *l, const char *text, size_t size)
{
	if (l->slot_count == 0)
		return -1;
	int64_t key = slot_of(l, text, size, hash_of(text, size))->key;
	return key < l->first_key ? -1 : key;
}

const char *pe_listing_text(const struct pe_listing *l, int64_t key)
{
	return l->pool + l->keys[key].text;
}

/* ---- nodes, edges, graphs ----------------------------------------------------------- */

static int64_t first_node(const struct pe_listing *l)
{
	return l->graphs ? l->ends[2 * l->graphs - 2] : 0;
}

static int64_t first_edge(const struct pe_listing *l)
{
	return l->graphs ? l->ends[2 * l->graphs - 1] : 0;
}

pe_status pe_listing_node(struct pe_listing *l, int64_t key)
{
	int64_t row = l->nodes - first_node(l);
	if (row >= INT32_MAX)
		return pe_fail(l->ctx, PE_ERR_UNSUPPORTED, "a graph of more than 2^31 - 1 nodes");
	PE_TRY(pe_grow(l->ctx, &l->rows, &l->row_capacity, l->nodes, l->nodes + 1, sizeof *l->rows));
	l->rows[l->nodes++] = key;
	l->keys[key].row = row;
	return PE_OK;
}

pe_status pe_listing_edge(struct pe_listing *l, int64_t u, int64_t v, const double *w)
{
	if (!w)
		return l->edges.w ? pe_edge_push_weighted(l->ctx, &l->edges, u, v, 1)
						  : pe_edge_push(l->ctx, &l->edges, u, v);
	l->weighted++;
	return pe_edge_push_weighted(l->ctx, &l->edges, u, v, *w);
}

int64_t pe_listing_unlisted(const struct pe_listing *l)
{
	for (int64_t key = l->first_key; key < l->key_count; key++)
		if (l->keys[key].row < 0)
			return key;
	return -1;
}

pe_status pe_listing_close(struct pe_listing *l)
{
	int64_t end = 2 * l->graphs + 2;
	PE_TRY(pe_grow(l->ctx, &l->ends, &l->end_capacity, 2 * l->graphs, end, sizeof *l->ends));
	for (int64_t e = first_edge(l); e < l->edges.count; e++) {
		l->edges.u[e] = l->keys[l->edges.u[e]].row;
		l->edges.v[e] = l->keys[l->edges.v[e]].row;
	}
	l->ends[end - 2] = l->nodes;
	l->ends[end - 1] = l->edges.count;
	l->graphs++;
	l->first_key = l->key_count;
	return PE_OK;
}

/* ---- finishing ---------------------------------------------------------------------- */

/* "7", "-7", but not "07", "+7" or "-0": those would not come back as they were. */
static bool plain_integer(const char *text, size_t size, int64_t *out)
{
	size_t sign = size > 0 && text[0] == '-';
	if (size == sign || text[0] == '+' || (text[sign] == '0' && size > 1))
		return false;
	return pe_parse_i64(text, size, out);
}

static bool integer_ids(const struct pe_listing *l, int64_t *ids)
{
	for (int64_t i = 0; i < l->nodes; i++) {
		const struct pe_listing_key *key = &l->keys[l->rows[i]];
		if (!plain_integer(l->pool + key->text, key->size, &ids[i]))
			return false;
	}
	return true;
}

/* Whether every graph has the ids base, base + 1, … in this order. */
static bool counted_up(const struct pe_listing *l, const int64_t *ids)
{
	int64_t first = 0;
	for (int64_t g = 0; g < l->graphs; first = l->ends[2 * g++])
		for (int64_t i = first; i < l->ends[2 * g]; i++)
			if (ids[i] < 0 || ids[i] - (i - first) != ids[0])
				return false;
	return true;
}

static pe_status make_names(struct pe_listing *l, struct pe_raw_graphs *raw)
{
	raw->base = -1;
	raw->node_names = pe_alloc(l->ctx, l->nodes, sizeof *raw->node_names);
	if (!raw->node_names)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < l->nodes; i++)
		raw->node_names[i] = l->pool + l->keys[l->rows[i]].text;
	raw->name_pool = l->pool;
	l->pool = NULL;
	l->pool_size = l->pool_capacity = 0;
	return PE_OK;
}

static pe_status make_ids(struct pe_listing *l, struct pe_raw_graphs *raw)
{
	int64_t *ids = pe_alloc(l->ctx, l->nodes, sizeof *ids);
	if (!ids)
		return PE_ERR_NOMEM;
	if (!integer_ids(l, ids)) {
		pe_free(l->ctx, ids);
		return make_names(l, raw);
	}
	raw->base = l->nodes ? ids[0] : 0;
	for (int64_t i = 1; i < l->nodes; i++)
		raw->base = pe_min(raw->base, ids[i]);
	if (counted_up(l, ids))
		pe_free(l->ctx, ids);
	else
		raw->node_ids = ids;
	return PE_OK;
}

static pe_status make_offsets(const struct pe_listing *l, struct pe_raw_graphs *raw)
{
	raw->graphs = l->graphs;
	if (l->graphs == 1)
		return PE_OK;
	raw->ptr = pe_alloc_zero(l->ctx, l->graphs + 1, sizeof *raw->ptr);
	raw->edge_ptr = pe_alloc_zero(l->ctx, l->graphs + 1, sizeof *raw->edge_ptr);
	if (!raw->ptr || !raw->edge_ptr)
		return PE_ERR_NOMEM;
	for (int64_t g = 0; g < l->graphs; g++) {
		raw->ptr[g + 1] = l->ends[2 * g];
		raw->edge_ptr[g + 1] = l->ends[2 * g + 1];
	}
	return PE_OK;
}

static pe_status make_edges(struct pe_listing *l, struct pe_raw_graphs *raw)
{
	raw->rows = l->edges.count;
	raw->u = pe_alloc(l->ctx, raw->rows, sizeof *raw->u);
	raw->v = pe_alloc(l->ctx, raw->rows, sizeof *raw->v);
	if (!raw->u || !raw->v)
		return PE_ERR_NOMEM;
	for (int64_t e = 0; e < raw->rows; e++) {
		raw->u[e] = (int32_t)l->edges.u[e];
		raw->v[e] = (int32_t)l->edges.v[e];
	}
	raw->w = l->edges.w;
	l->edges.w = NULL;
	return PE_OK;
}

pe_status pe_listing_finish(struct pe_listing *l, struct pe_raw_graphs *out)
{
	struct pe_raw_graphs raw = {.nodes = l->nodes};
	pe_status status = make_offsets(l, &raw);
	if (status == PE_OK)
		status = make_ids(l, &raw);
	if (status == PE_OK)
		status = make_edges(l, &raw);
	if (status != PE_OK) {
		pe_raw_graphs_free(l->ctx, &raw);
		return status;
	}
	*out = raw;
	return PE_OK;
}

/* ---- weights by name ---------------------------------------------------------------- */

pe_status pe_weight_field(pe_context *ctx, const struct pe_source *source,
	const struct pe_graph_policy *policy, const char *fallback, const char **out)
{
	*out = policy->weight_name ? policy->weight_name : policy->weight_column == 0 ? NULL : fallback;
	if (!policy->weight_name && policy->weight_column > 0)
		return pe_fail(ctx, PE_ERR_FORMAT,
			"%s: weights are named here: give a field's name instead of column %d", pe_source_name(source),
			(int)policy->weight_column);
	return PE_OK;
}

pe_status pe_listing_check_weights(const struct pe_listing *l, const struct pe_source *source,
	const struct pe_graph_policy *policy, const char *field)
{
	if (!field || l->weighted == l->edges.count)
		return PE_OK;
	if (l->weighted == 0 && policy->weight_name)
		return pe_fail(
			l->ctx, PE_ERR_FORMAT, "%s: no edge has a field named %s", pe_source_name(source), field);
	if (l->weighted > 0)
		pe_log(l->ctx, PE_LOG_WARNING, "%s: %" PRId64 " of %" PRId64 " edges have no %s, which is taken as 1",
			pe_source_name(source), l->edges.count - l->weighted, l->edges.count, field);
	return PE_OK;
}

void pe_raw_drop_ones(pe_context *ctx, struct pe_raw_graphs *raw)
{
	bool ones = true;
	for (int64_t e = 0; ones && raw->w && e < raw->rows; e++)
		ones = !(raw->w[e] < 1) && !(raw->w[e] > 1);
	if (!ones)
		return;
	pe_free(ctx, raw->w);
	raw->w = NULL;
}
