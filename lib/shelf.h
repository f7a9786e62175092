/* SPDX-License-Identifier: BSD-2-Clause
 * Memory that one piece of work hands on to the next: given back and asked for anew, its pages would be
 * fresh, and clearing them can cost more than the work. For several threads at once. Begin with {0}; in the
 * end take and free what there is. */
#ifndef PE_SHELF_H
#define PE_SHELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define PE_SHELF_PLACES 64

struct pe_shelf {
	_Atomic(void *) place[PE_SHELF_PLACES];
};

/* Something that was kept, or NULL. */
static inline void *pe_shelf_take(struct pe_shelf *shelf)
{
	void *kept = NULL;
	for (int i = 0; i < PE_SHELF_PLACES && !kept; i++)
		kept = atomic_exchange(&shelf->place[i], NULL);
	return kept;
}

/* false if there is no place: the thing is still the caller's. */
static inline bool pe_shelf_keep(struct pe_shelf *shelf, void *thing)
{
	for (int i = 0; i < PE_SHELF_PLACES; i++) {
		void *none = NULL;
		if (atomic_compare_exchange_strong(&shelf->place[i], &none, thing))
			return true;
	}
	return false;
}

#endif
