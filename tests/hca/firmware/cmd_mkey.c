// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands for memory keys. */
#include <stdlib.h>

#include "firmware/caps.h"
#include "firmware/cmd_run.h"
#include "objects/destroy.h"
#include "objects/mkey.h"

#define CMD_SYNDROME_BASE 0x50000u

#define KLM_BYTES 16u
#define MTT_BYTES 8u
#define PAGE_SHIFT_MAX 61u

static uint8_t access_of(const uint8_t *mkc)
{
	return (uint8_t)((IFC_GET(mkc, mkc, lr) ? MKEY_LOCAL_READ : 0) |
			 (IFC_GET(mkc, mkc, lw) ? MKEY_LOCAL_WRITE : 0) |
			 (IFC_GET(mkc, mkc, rr) ? MKEY_REMOTE_READ : 0) |
			 (IFC_GET(mkc, mkc, rw) ? MKEY_REMOTE_WRITE : 0) |
			 (IFC_GET(mkc, mkc, a) ? MKEY_REMOTE_ATOMIC : 0));
}

static enum cmd_status check(struct cmd *cmd, const uint8_t *mkc, uint32_t mode)
{
	uint32_t pd = IFC_GET(mkc, mkc, pd);
	enum cmd_status status;

	if (mode > MKEY_KSM)
		return cmd_fail(cmd, CMD_BAD_PARAM, "access mode %u", mode);
	if (IFC_GET(mkc, mkc, bsf_en) || IFC_GET(mkc, mkc, ma_translation_mode))
		return cmd_fail(cmd, CMD_BAD_PARAM,
				"signatures and address translation services are not there");
	/* A key without a table reaches all of the machine's memory. */
	if (mode == MKEY_PA && cmd->uid)
		return cmd_fail(cmd, CMD_BAD_PARAM, "physical addresses for a user context");
	if (mode != MKEY_PA && mode != MKEY_KLM &&
	    IFC_GET(mkc, mkc, log_page_size) > PAGE_SHIFT_MAX)
		return cmd_fail(cmd, CMD_BAD_PARAM, "page size 2^%u",
				(unsigned int)IFC_GET(mkc, mkc, log_page_size));
	/* A free key gets its PD later, by UMR. */
	if (!IFC_GET(mkc, mkc, free) && !cmd_obj(cmd, OBJ_PD, pd, &status))
		return status;
	return CMD_OK;
}

static void fill(struct mkey *m, const uint8_t *mkc, uint32_t mode)
{
	/* Tables are made of 64 bytes at a time, and the driver's UMRs always write as much. */
	uint32_t octowords = (IFC_GET(mkc, mkc, translations_octword_size) + 3) & ~3u;

	m->mode = mode;
	m->variant = (uint8_t)IFC_GET(mkc, mkc, mkey_7_0);
	m->access = access_of(mkc);
	m->free = IFC_GET(mkc, mkc, free);
	m->umr_enabled = IFC_GET(mkc, mkc, umr_en);
	m->remote_invalidate = IFC_GET(mkc, mkc, en_rinval);
	m->length64 = IFC_GET(mkc, mkc, length64);
	m->qpn = IFC_GET(mkc, mkc, qpn);
	m->pd = IFC_GET(mkc, mkc, pd);
	m->start = IFC_GET(mkc, mkc, start_addr);
	m->length = IFC_GET(mkc, mkc, len);
	m->page_shift = (uint8_t)IFC_GET(mkc, mkc, log_page_size);
	m->capacity = mode == MKEY_MTT ? octowords * 2 : octowords;
}

/* The entries that came with the command. */
static enum cmd_status load(struct cmd *cmd, struct mkey *m)
{
	uint32_t at = IFC_BYTE(create_mkey_in, klm_pas_mtt);
	uint32_t octowords = IFC_GET(create_mkey_in, cmd->in, translations_octword_actual_size);
	uint32_t size = m->mode == MKEY_MTT ? MTT_BYTES : KLM_BYTES;
	uint64_t count = m->mode == MKEY_MTT ? (uint64_t)octowords * 2 : octowords;

	if (!octowords || m->mode == MKEY_PA)
		return CMD_OK;
	if (count > m->capacity)
		return cmd_fail(cmd, CMD_BAD_PARAM, "%llu entries in a table of %u",
				(unsigned long long)count, m->capacity);
	if (count * size > cmd->in_len - at)
		return cmd_fail(cmd, CMD_BAD_INP_LEN, "%llu entries said, fewer in the list",
				(unsigned long long)count);
	if (mkey_resize(m, (uint32_t)count))
		return cmd_fail(cmd, CMD_NO_RES, "no memory for %llu entries",
				(unsigned long long)count);
	for (uint32_t i = 0; i < m->count; i++) {
		const uint8_t *from = cmd->in + at + (uint64_t)i * size;

		if (m->mode == MKEY_MTT) {
			m->table[i].address = be64_at(from);
			continue;
		}
		m->table[i].bytes = be32_at(from);
		m->table[i].key = be32_at(from + 4);
		m->table[i].address = be64_at(from + 8);
	}
	mkey_index(m);
	return CMD_OK;
}

static enum cmd_status create_mkey(struct cmd *cmd)
{
	const uint8_t *mkc = IFC_ADDR(create_mkey_in, cmd->in, memory_key_mkey_entry);
	uint32_t mode = IFC_GET(mkc, mkc, access_mode_1_0) | IFC_GET(mkc, mkc, access_mode_4_2)
								     << 2;
	enum cmd_status status = check(cmd, mkc, mode);
	struct mkey *m;

	if (status)
		return status;
	m = calloc(1, sizeof(*m));
	if (!m)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	m->obj.hca = cmd->hca;
	m->obj.type = OBJ_MKEY;
	m->obj.uid = cmd->uid;
	fill(m, mkc, mode);
	status = load(cmd, m);
	if (status)
		goto err_free;
	if (obj_add(cmd->hca->objs[OBJ_MKEY], &m->obj)) {
		status = cmd_fail(cmd, CMD_NO_RES, "no key left");
		goto err_free;
	}
	IFC_SET(create_mkey_out, cmd->out, mkey_index, m->obj.id);
	return CMD_OK;

err_free:
	mkey_resize(m, 0);
	free(m);
	return status;
}

static enum cmd_status query_mkey(struct cmd *cmd)
{
	uint8_t *mkc = IFC_ADDR(query_mkey_out, cmd->out, memory_key_mkey_entry);
	enum cmd_status status;
	const struct mkey *m =
		(const struct mkey *)cmd_obj(cmd, OBJ_MKEY,
					     IFC_GET(query_mkey_in, cmd->in, mkey_index), &status);

	if (!m)
		return status;
	IFC_SET(mkc, mkc, free, m->free);
	IFC_SET(mkc, mkc, umr_en, m->umr_enabled);
	IFC_SET(mkc, mkc, lr, !!(m->access & MKEY_LOCAL_READ));
	IFC_SET(mkc, mkc, lw, !!(m->access & MKEY_LOCAL_WRITE));
	IFC_SET(mkc, mkc, rr, !!(m->access & MKEY_REMOTE_READ));
	IFC_SET(mkc, mkc, rw, !!(m->access & MKEY_REMOTE_WRITE));
	IFC_SET(mkc, mkc, a, !!(m->access & MKEY_REMOTE_ATOMIC));
	IFC_SET(mkc, mkc, access_mode_1_0, m->mode);
	IFC_SET(mkc, mkc, en_rinval, m->remote_invalidate);
	IFC_SET(mkc, mkc, length64, m->length64);
	IFC_SET(mkc, mkc, qpn, m->qpn);
	IFC_SET(mkc, mkc, mkey_7_0, m->variant);
	IFC_SET(mkc, mkc, pd, m->pd);
	IFC_SET(mkc, mkc, start_addr, m->start);
	IFC_SET(mkc, mkc, len, m->length);
	IFC_SET(mkc, mkc, translations_octword_size,
		m->mode == MKEY_MTT ? m->capacity / 2 : m->capacity);
	IFC_SET(mkc, mkc, log_page_size, m->page_shift);
	return CMD_OK;
}

static enum cmd_status destroy_mkey(struct cmd *cmd)
{
	return cmd_destroy(cmd, OBJ_MKEY, IFC_GET(destroy_mkey_in, cmd->in, mkey_index));
}

void mkey_destroy(struct mkey *m)
{
	obj_del(m->obj.hca->objs[OBJ_MKEY], &m->obj);
	mkey_resize(m, 0);
	free(m);
}

const struct cmd_desc cmd_table_mkey[] = {
	CMD_DESC(CREATE_MKEY, create_mkey, CMD_INITIALIZED, create_mkey, true),
	CMD_DESC(QUERY_MKEY, query_mkey, CMD_INITIALIZED, query_mkey, false),
	CMD_DESC(DESTROY_MKEY, destroy_mkey, CMD_INITIALIZED, destroy_mkey, true),
	{ 0 },
};
