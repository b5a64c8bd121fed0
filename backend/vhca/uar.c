// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uar.c - see uar.h.
 */
#include <errno.h>
#include <string.h>

#include "util/log.h"
#include "vhca/uar.h"

void uar_bank_init(struct uar_bank *bank, struct hca *hca, struct transport *t,
		   struct uar_records *records)
{
	uint32_t n;

	memset(bank, 0, sizeof(*bank));
	bank->hca = hca;
	bank->t = t;
	bank->records = records;
	for (n = 0; n < records->count; n++) {
		if (records->record[n].allowed)
			uar_deny(bank, n);
		uar_settle(bank, n, false);
	}
}

static int reserve(struct uar_bank *bank, uint32_t n, uint64_t gfn)
{
	bank->reserved[n] = true;
	bank->records->record[n].gfn = gfn;
	return n;
}

/* A record that is reserved and has no frame yet is one that another command is allocating. */
int uar_pick(struct uar_bank *bank, uint32_t type, uint64_t gfn, bool *fresh)
{
	struct uar_records *records = bank->records;
	uint32_t n;

	*fresh = false;
	if (uar_records_at(records, gfn))
		return -EEXIST;
	for (n = 0; n < records->count; n++) {
		struct uar_record *r = &records->record[n];

		if (r->in_use || bank->reserved[n] || (r->frame && r->type != type))
			continue;
		*fresh = !r->frame;
		return reserve(bank, n, gfn);
	}
	if (n == UAR_BANK_RECORDS)
		return -ENOSPC;
	*fresh = true;
	records->count++;
	return reserve(bank, n, gfn);
}

int uar_ready(struct uar_bank *bank, int n, uint32_t type, bool fresh)
{
	struct uar_record *r = &bank->records->record[n];
	int err;

	if (fresh) {
		struct hca_uar uar;

		err = bank->hca->ops->uar_alloc(bank->hca, type, &uar);
		if (err)
			return err;
		r->index = uar.index;
		r->type = type;
		r->frame = uar.frame;
	}
	r->allowed = 1;
	err = bank->t->ops->allow_frame(bank->t, r->frame, r->gfn);
	if (err)
		r->allowed = 0;
	return err;
}

void uar_settle(struct uar_bank *bank, int n, bool used)
{
	struct uar_record *r = &bank->records->record[n];

	r->in_use = used;
	if (!used)
		r->gfn = 0;
	bank->reserved[n] = false;
}

/* A guest that has removed the mapping itself makes this fail; it has lost nothing but its own. */
int uar_deny(struct uar_bank *bank, int n)
{
	struct uar_record *r = &bank->records->record[n];
	int err = bank->t->ops->deny_frame(bank->t, r->frame, r->gfn);

	if (err && !atomic_exchange(&bank->complained, true))
		log_warning("UAR %u: revoking it from the guest: %s (logged once)", r->index,
			    strerror(-err));
	r->allowed = 0;
	return err;
}
