// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_cm_mad.c - any message, as a guest or the fabric may send it. Nothing outside of it is read; what is
 * put in is found again, and nothing else changes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "modules/xen-ibgsi/cm_mad.h"

static void expect(int condition)
{
	if (!condition)
		abort();
}

/* How many bytes differ. */
static unsigned int differ(const uint8_t *a, const uint8_t *b)
{
	unsigned int i, n = 0;

	for (i = 0; i < CM_MAD_SIZE; i++)
		n += a[i] != b[i];
	return n;
}

static void replace(enum cm_kind kind, const uint8_t *mad)
{
	uint8_t copy[CM_MAD_SIZE];

	memcpy(copy, mad, sizeof(copy));
	cm_set_local_id(kind, copy, 0xfeedcafe);
	expect(cm_local_id(kind, copy) == (kind == CM_SIDR_REP ? 0 : 0xfeedcafe));
	expect(differ(copy, mad) <= 4);
	memcpy(copy, mad, sizeof(copy));
	cm_set_remote_id(kind, copy, 0xfeedcafe);
	expect(cm_remote_id(kind, copy) == (cm_asks(kind) ? 0 : 0xfeedcafe));
	expect(differ(copy, mad) <= 4);
	expect(cm_kind(copy) == kind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cm_own own = { .lid = 1, .lid_mask = 0xffff };
	struct cm_addr to;
	enum cm_kind kind;
	uint8_t *mad;

	if (size != CM_MAD_SIZE)
		return 0;
	mad = malloc(CM_MAD_SIZE);
	memcpy(mad, data, CM_MAD_SIZE);
	kind = cm_kind(mad);
	if (kind) {
		replace(kind, mad);
		if (cm_asks(kind) && cm_destination(kind, mad, &to))
			expect(to.family == 4 || to.family == 6);
		expect(cm_ipoib_asked(kind, mad) < 1u << 24);
		cm_ipoib_own(kind, mad);
		memcpy(own.gid, mad + 80, sizeof(own.gid));
		cm_claims_only(kind, mad, &own);
	}
	free(mad);
	return 0;
}
