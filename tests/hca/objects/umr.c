// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User-mode memory registration. The WQE has a control segment (what to check, how many entries,
 * which members of the key to set), a key's context with the new values, and the entries, inline
 * or in memory. Layout: struct mlx5_wqe_umr_ctrl_seg and MLX5_MKEY_MASK_* of linux/mlx5/device.h,
 * struct mlx5_ifc_mkc_bits.
 */
#include <infiniband/mlx5dv.h>

#include "container.h"
#include "hca.h"
#include "ifc.h"
#include "objects/mkey.h"
#include "objects/umr.h"

#define OCTOWORD 16u
#define OCTOWORDS 4u /* they come in blocks of so many */
#define CHUNK 4096u  /* of entries that are fetched at a time */

enum {
	FLAG_CHECK_QPN = 1 << 3,
	FLAG_OFFSET = 1 << 4,
	FLAG_CHECK_NOT_FREE = 1 << 5, /* fails unless the key is free */
	FLAG_CHECK_FREE = 1 << 6,     /* fails if the key is free */
	FLAG_INLINE = 1 << 7,
	FLAGS_KNOWN = FLAG_CHECK_QPN | FLAG_OFFSET | FLAG_CHECK_NOT_FREE | FLAG_CHECK_FREE |
		      FLAG_INLINE,
};

#define MASK_LEN (1ull << 0)
#define MASK_PAGE_SIZE (1ull << 1)
#define MASK_START (1ull << 6)
#define MASK_PD (1ull << 7)
#define MASK_RINVAL (1ull << 8)
#define MASK_KEY (1ull << 13)
#define MASK_QPN (1ull << 14)
#define MASK_LR (1ull << 17)
#define MASK_LW (1ull << 18)
#define MASK_RR (1ull << 19)
#define MASK_RW (1ull << 20)
#define MASK_A (1ull << 21)
#define MASK_SMALL_FENCE (1ull << 23) /* no effect: writes are never out of order here */
#define MASK_FREE (1ull << 29)
#define MASK_KNOWN \
	(MASK_LEN | MASK_PAGE_SIZE | MASK_START | MASK_PD | MASK_RINVAL | MASK_KEY | MASK_QPN | \
	 MASK_LR | MASK_LW | MASK_RR | MASK_RW | MASK_A | MASK_SMALL_FENCE | MASK_FREE)

struct umr {
	struct qp *qp;
	const struct wqe *w;
	struct mkey *mkey;
	const uint8_t *context; /* struct mlx5_ifc_mkc_bits */
	uint8_t flags;
	uint64_t mask;
	uint32_t octowords;
	uint64_t offset; /* of the first entry, in octowords */
};

static uint8_t refuse(const struct umr *u, const char *why)
{
	hca_log(u->qp->obj.hca, HCA_LOG_GUEST, "UMR on QP 0x%x, key 0x%x: %s", u->qp->obj.id,
		u->w->imm, why);
	return MLX5_CQE_SYNDROME_MW_BIND_ERR;
}

static struct mkey_user user_of(const struct umr *u)
{
	return (struct mkey_user){ .hca = u->qp->obj.hca,
				   .pd = u->qp->pd,
				   .qpn = u->qp->obj.id,
				   .reserved_lkey = u->qp->reserved_lkey,
				   .any_pd = u->qp->transport == QP_UMR };
}

static void read_control(struct umr *u)
{
	const uint8_t *ctrl = u->w->copy + WQE_UMR_CTRL;

	u->context = u->w->copy + WQE_UMR_CONTEXT;
	u->flags = ctrl[0];
	u->octowords = be16_at(ctrl + 4);
	u->offset = be16_at(ctrl + 6) | (uint64_t)be32_at(ctrl + 16) << 16;
	u->mask = be64_at(ctrl + 8);
}

static uint8_t check_control(const struct umr *u)
{
	if (u->flags & ~FLAGS_KNOWN)
		return refuse(u, "unknown flags");
	if (u->mask & ~MASK_KNOWN)
		return refuse(u, "changes what is not supported");
	/* Without the flag these bytes are the size of a signature block. */
	if (u->offset && !(u->flags & FLAG_OFFSET))
		return refuse(u, "signature is not supported");
	if (u->octowords % OCTOWORDS)
		return refuse(u, "a part of a block of entries");
	if (u->qp->transport != QP_UMR && u->mask & MASK_PD)
		return refuse(u, "moves a key to another PD");
	return 0;
}

/*
 * The entries of an indirect key name keys, whose PD, bounds and rights are checked. Those of an MTT key are bus addresses:
 * only a QP that may use all memory anyway may write them. User contexts have no keys of the other modes for UMR.
 */
static bool may_change(const struct qp *qp, const struct mkey *m)
{
	return m->mode == MKEY_KLM || qp->fast_register || qp->transport == QP_UMR;
}

static uint8_t check_key(const struct umr *u)
{
	const struct mkey *m = u->mkey;

	if (!m->umr_enabled)
		return refuse(u, "the key is not for UMR");
	if (u->qp->transport != QP_UMR && m->pd != u->qp->pd)
		return refuse(u, "the key is of another PD");
	if (!may_change(u->qp, m))
		return refuse(u, "the key is not indirect, and the QP is a user's");
	/* A new variant may come with the key's number: the old one is then not in the WQE. */
	if (!(u->mask & MASK_KEY) && (u->w->imm & 0xff) != m->variant)
		return refuse(u, "stale key");
	if (u->flags & FLAG_CHECK_NOT_FREE && !m->free)
		return refuse(u, "the key is not free");
	if (u->flags & FLAG_CHECK_FREE && m->free)
		return refuse(u, "the key is free");
	if (u->flags & FLAG_CHECK_QPN && m->qpn != u->qp->obj.id)
		return refuse(u, "the key is not bound to this QP");
	return 0;
}

static uint8_t check_values(const struct umr *u)
{
	uint32_t shift = IFC_GET(mkc, u->context, log_page_size);

	if (u->mask & MASK_PAGE_SIZE && shift < 12 &&
	    (u->mkey->mode == MKEY_MTT || u->mkey->mode == MKEY_KSM))
		return refuse(u, "page size");
	if (u->mask & MASK_QPN && IFC_GET(mkc, u->context, qpn) != 0xffffff &&
	    IFC_GET(mkc, u->context, qpn) != u->qp->obj.id)
		return refuse(u, "binds a key to another QP");
	return 0;
}

static uint32_t entries_in(const struct mkey *m, uint64_t octowords)
{
	return (uint32_t)(m->mode == MKEY_MTT ? 2 * octowords : octowords);
}

static uint8_t make_room(const struct umr *u)
{
	struct mkey *m = u->mkey;
	uint64_t octowords = u->offset + u->octowords;
	uint32_t need;

	if (!u->octowords)
		return 0;
	if (m->mode == MKEY_PA || octowords > UINT32_MAX / 2 ||
	    entries_in(m, octowords) > m->capacity)
		return refuse(u, "more entries than the key holds");
	need = entries_in(m, octowords);
	if (need <= m->count)
		return 0;
	if (mkey_resize(m, need))
		return refuse(u, "out of memory");
	return 0;
}

static void put_entries(struct mkey *m, uint32_t first, const uint8_t *bytes, uint32_t len)
{
	uint32_t size = m->mode == MKEY_MTT ? 8 : OCTOWORD;

	for (uint32_t at = 0; at < len; at += size, first++) {
		struct mkey_entry *e = &m->table[first];

		if (m->mode == MKEY_MTT) {
			e->address = be64_at(bytes + at);
		} else {
			e->bytes = be32_at(bytes + at);
			e->key = be32_at(bytes + at + 4);
			e->address = be64_at(bytes + at + 8);
		}
	}
}

/*
 * A window is bound to a part of a region that the binder may use itself (IBTA 10.6.7.2.3). A list
 * from the kernel is not looked at: it is padded with what happened to be there.
 */
static uint8_t check_entries(const struct umr *u, const uint8_t *bytes, uint32_t len)
{
	const uint8_t *c = u->context;
	bool writes = (u->mask & MASK_RW && IFC_GET(mkc, c, rw)) ||
		      (u->mask & MASK_A && IFC_GET(mkc, c, a));
	const struct mkey_user user = user_of(u);

	if (u->mkey->mode != MKEY_KLM || user.reserved_lkey || user.any_pd)
		return 0;
	for (uint32_t at = 0; at < len; at += OCTOWORD) {
		if (mkey_check(&user, be32_at(bytes + at + 4), be64_at(bytes + at + 8),
			       be32_at(bytes + at), writes ? MKEY_LOCAL_WRITE : MKEY_LOCAL_READ))
			return refuse(u, "an entry is not within the rights of the QP");
	}
	return 0;
}

static uint8_t inline_entries(const struct umr *u)
{
	const uint8_t *bytes = u->w->copy + u->w->umr_data;
	uint32_t len = u->octowords * OCTOWORD;
	uint8_t syndrome;

	if (len > u->w->umr_bytes)
		return refuse(u, "more entries than the WQE has");
	syndrome = check_entries(u, bytes, len);
	if (syndrome)
		return syndrome;
	put_entries(u->mkey, entries_in(u->mkey, u->offset), bytes, len);
	return 0;
}

static uint8_t fetch_entries(const struct umr *u)
{
	const struct mkey_user user = user_of(u);
	const uint8_t *seg = u->w->copy + u->w->umr_data;
	uint32_t len = u->octowords * OCTOWORD;
	uint8_t bytes[CHUNK];
	uint32_t lkey, count;
	uint64_t addr;

	if (u->w->umr_bytes < OCTOWORD)
		return refuse(u, "no data segment");
	count = be32_at(seg);
	lkey = be32_at(seg + 4);
	addr = be64_at(seg + 8);
	if (count < len)
		return refuse(u, "more entries than the data segment has");
	for (uint32_t at = 0; at < len; at += CHUNK) {
		uint32_t run = len - at < CHUNK ? len - at : CHUNK;

		uint8_t syndrome;

		if (mkey_read(&user, lkey, addr + at, bytes, run, MKEY_LOCAL_READ))
			syndrome = MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
		else
			syndrome = check_entries(u, bytes, run);
		if (syndrome) {
			u->mkey->free = true;
			return syndrome;
		}
		put_entries(u->mkey, entries_in(u->mkey, u->offset + at / OCTOWORD), bytes, run);
	}
	return 0;
}

static uint8_t set_entries(const struct umr *u)
{
	uint8_t syndrome = make_room(u);

	if (syndrome || !u->octowords)
		return syndrome;
	syndrome = u->flags & FLAG_INLINE ? inline_entries(u) : fetch_entries(u);
	mkey_index(u->mkey);
	return syndrome;
}

static void set_right(const struct umr *u, uint64_t mask, uint8_t right, bool on)
{
	if (!(u->mask & mask))
		return;
	u->mkey->access &= ~right;
	if (on)
		u->mkey->access |= right;
}

static void set_members(const struct umr *u)
{
	const uint8_t *c = u->context;
	struct mkey *m = u->mkey;

	if (u->mask & MASK_LEN) {
		m->length = IFC_GET(mkc, c, len);
		m->length64 = IFC_GET(mkc, c, length64);
	}
	if (u->mask & MASK_PAGE_SIZE)
		m->page_shift = IFC_GET(mkc, c, log_page_size);
	if (u->mask & MASK_START)
		m->start = IFC_GET(mkc, c, start_addr);
	if (u->mask & MASK_PD)
		m->pd = IFC_GET(mkc, c, pd);
	if (u->mask & MASK_RINVAL)
		m->remote_invalidate = IFC_GET(mkc, c, en_rinval);
	if (u->mask & MASK_KEY)
		m->variant = IFC_GET(mkc, c, mkey_7_0);
	if (u->mask & MASK_QPN)
		m->qpn = IFC_GET(mkc, c, qpn);
	if (u->mask & MASK_FREE)
		m->free = IFC_GET(mkc, c, free);
	set_right(u, MASK_LR, MKEY_LOCAL_READ, IFC_GET(mkc, c, lr));
	set_right(u, MASK_LW, MKEY_LOCAL_WRITE, IFC_GET(mkc, c, lw));
	set_right(u, MASK_RR, MKEY_REMOTE_READ, IFC_GET(mkc, c, rr));
	set_right(u, MASK_RW, MKEY_REMOTE_WRITE, IFC_GET(mkc, c, rw));
	set_right(u, MASK_A, MKEY_REMOTE_ATOMIC, IFC_GET(mkc, c, a));
}

uint8_t umr_execute(struct qp *qp, const struct wqe *w)
{
	struct umr u = { .qp = qp, .w = w };
	struct hca *hca = qp->obj.hca;
	struct obj *obj = obj_find(hca->objs[OBJ_MKEY], w->imm >> 8);
	uint8_t syndrome;

	if (!obj)
		return refuse(&u, "no such key");
	u.mkey = container_of(obj, struct mkey, obj);
	read_control(&u);
	syndrome = check_control(&u);
	if (!syndrome)
		syndrome = check_key(&u);
	if (!syndrome)
		syndrome = check_values(&u);
	if (!syndrome)
		syndrome = set_entries(&u);
	if (syndrome)
		return syndrome;
	set_members(&u);
	hca->stats.umr++;
	return 0;
}
