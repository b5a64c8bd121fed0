// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_handle.c - what a handle names, and when it names nothing: before it is published, of another type, while the object
 * is being destroyed, and once it is stale.
 */
#include <stdlib.h>

#include "unit/fakes/fixture.h"
#include "vhca/handle.h"

int main(void)
{
	struct object object = { .type = OBJ_QP };
	struct handle_table table;
	xen_vhca_handle_t handle;

	handle_table_init(&table, 4);
	CHECK(!handle_reserve(&table, &handle) && handle != XEN_VHCA_NO_HANDLE);
	CHECK(!handle_find(&table, handle, OBJ_QP));
	handle_publish(&table, handle, &object);
	CHECK(handle_find(&table, handle, OBJ_QP) == &object);
	CHECK(!handle_find(&table, handle, OBJ_CQ) && !handle_find(&table, handle + 1, OBJ_QP));
	object.dying = true;
	CHECK(!handle_find(&table, handle, OBJ_QP));
	object.dying = false;
	CHECK(handle_find(&table, handle, OBJ_QP) == &object);
	handle_release(&table, handle);
	CHECK(!handle_find(&table, handle, OBJ_QP));
	handle_table_free(&table);
	return EXIT_SUCCESS;
}
