// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory keys and their change by UMR. */
#include "objects/umr.h"
#include "pair.h"

#define MASK_LEN (1ull << 0)
#define MASK_PAGE_SIZE (1ull << 1)
#define MASK_START (1ull << 6)
#define MASK_PD (1ull << 7)
#define MASK_KEY (1ull << 13)
#define MASK_QPN (1ull << 14)
#define MASK_LR (1ull << 17)
#define MASK_RR (1ull << 19)
#define MASK_RW (1ull << 20)
#define MASK_FREE (1ull << 29)
enum { CHECK_QPN = 8, OFFSET = 16, CHECK_NOT_FREE = 32, CHECK_FREE = 64, INLINE = 128 };

static struct mkey_user user(void)
{
	return (struct mkey_user){ .hca = fix.side[0].hca, .pd = FIXTURE_PD, .qpn = a->qp.obj.id };
}

/* An indirect key over a's buffer. */
static struct mkey *indirect(enum mkey_mode mode, uint32_t entries)
{
	struct mkey *m = fixture_mkey(&fix.side[0], FIXTURE_IOVA, 0, ALL);

	m->mode = mode;
	m->start = 0x10000;
	m->capacity = entries;
	CHECK_EQ(mkey_resize(m, entries), 0);
	return m;
}

TEST(klm_gathers_pieces)
{
	struct mkey_user u;
	uint8_t bytes[300];
	struct mkey *m;

	open_pair(false);
	u = user();
	pattern(mem(a, buf_a), 65536, 0);
	m = indirect(MKEY_KLM, 4);
	m->table[0] = (struct mkey_entry){ .address = buf_a + 4000,
					   .key = fixture_key(mr_a),
					   .bytes = 100 };
	m->table[1] = (struct mkey_entry){ .bytes = 0 };
	m->table[2] =
		(struct mkey_entry){ .address = buf_a, .key = fixture_key(mr_a), .bytes = 100 };
	m->table[3] = (struct mkey_entry){ .address = buf_a + 4090,
					   .key = fixture_key(mr_a),
					   .bytes = 100 };
	m->length = 300;
	mkey_index(m);
	CHECK_EQ(mkey_read(&u, fixture_key(m), 0x10000, bytes, 300, MKEY_LOCAL_READ), MKEY_OK);
	CHECK(!memcmp(bytes, mem(a, buf_a + 4000), 100));
	CHECK(!memcmp(bytes + 100, mem(a, buf_a), 100));
	CHECK(!memcmp(bytes + 200, mem(a, buf_a + 4090), 100));
	CHECK_EQ(mkey_read(&u, fixture_key(m), 0x10001, bytes, 300, MKEY_LOCAL_READ),
		 MKEY_BAD_BOUNDS);
	m->length = 301;
	CHECK_EQ(mkey_read(&u, fixture_key(m), 0x10001, bytes, 300, MKEY_LOCAL_READ), MKEY_BAD_DMA);
	/* What is below must allow it locally, whatever the key on top allows to others. */
	mr_a->access = MKEY_LOCAL_READ;
	CHECK_EQ(mkey_read(&u, fixture_key(m), 0x10000, bytes, 300, MKEY_REMOTE_READ), MKEY_OK);
	CHECK_EQ(mkey_write(&u, fixture_key(m), 0x10000, bytes, 300, MKEY_REMOTE_WRITE),
		 MKEY_BAD_ACCESS);
	mr_a->pd++;
	CHECK_EQ(mkey_read(&u, fixture_key(m), 0x10000, bytes, 300, MKEY_REMOTE_READ), MKEY_BAD_PD);
	fixture_free();
}

TEST(ksm_has_equal_pieces)
{
	struct mkey_user u;
	uint8_t bytes[5000];
	struct mkey *m;

	open_pair(false);
	u = user();
	pattern(mem(a, buf_a), 65536, 0);
	m = indirect(MKEY_KSM, 2);
	m->page_shift = 12;
	m->table[0] = (struct mkey_entry){ .address = buf_a + 8192, .key = fixture_key(mr_a) };
	m->table[1] = (struct mkey_entry){ .address = buf_a, .key = fixture_key(mr_a) };
	m->length = 8192;
	CHECK_EQ(mkey_read(&u, fixture_key(m), 0x10000, bytes, 5000, MKEY_LOCAL_READ), MKEY_OK);
	CHECK(!memcmp(bytes, mem(a, buf_a + 8192), 4096));
	CHECK(!memcmp(bytes + 4096, mem(a, buf_a), 5000 - 4096));
	fixture_free();
}

TEST(keys_in_a_circle)
{
	struct mkey_user u;
	struct mkey *m;
	uint8_t byte;

	open_pair(false);
	u = user();
	m = indirect(MKEY_KLM, 1);
	m->length = 16;
	m->table[0] =
		(struct mkey_entry){ .address = m->start, .key = fixture_key(m), .bytes = 16 };
	mkey_index(m);
	CHECK_EQ(mkey_read(&u, fixture_key(m), m->start, &byte, 1, MKEY_LOCAL_READ), MKEY_BAD_DMA);
	fixture_free();
}

TEST(reserved_key_is_local_and_kernels)
{
	struct mkey_user u;
	uint8_t byte;

	open_pair(false);
	u = user();
	CHECK_EQ(mkey_read(&u, MKEY_RESERVED_LKEY, FIXTURE_IOVA, &byte, 1, MKEY_LOCAL_READ),
		 MKEY_BAD_KEY);
	u.reserved_lkey = true;
	CHECK_EQ(mkey_read(&u, MKEY_RESERVED_LKEY, FIXTURE_IOVA, &byte, 1, MKEY_LOCAL_READ),
		 MKEY_OK);
	CHECK_EQ(mkey_read(&u, MKEY_RESERVED_LKEY, FIXTURE_IOVA, &byte, 1, MKEY_REMOTE_READ),
		 MKEY_BAD_KEY);
	CHECK_EQ(mkey_read(&u, MKEY_RESERVED_LKEY, 0x10, &byte, 1, MKEY_LOCAL_READ), MKEY_BAD_DMA);
	fixture_free();
}

TEST(null_key_is_local_and_no_memory)
{
	uint8_t bytes[3] = { 1, 2, 3 };
	struct mkey_user u;

	open_pair(false);
	u = user();
	CHECK_EQ(mkey_write(&u, MKEY_DUMP_FILL, 0x10, bytes, 3, MKEY_LOCAL_WRITE), MKEY_OK);
	CHECK_EQ(mkey_read(&u, MKEY_DUMP_FILL, UINT64_MAX, bytes, 2, MKEY_LOCAL_READ), MKEY_OK);
	CHECK(!bytes[0] && !bytes[1] && bytes[2] == 3);
	CHECK_EQ(mkey_read(&u, MKEY_DUMP_FILL, 0, bytes, 1, MKEY_REMOTE_READ), MKEY_BAD_KEY);
	CHECK_EQ(mkey_write(&u, MKEY_DUMP_FILL, 0, bytes, 1, MKEY_REMOTE_WRITE), MKEY_BAD_KEY);
	CHECK_EQ(mkey_check(&u, MKEY_DUMP_FILL + 1, 0, 1, MKEY_LOCAL_READ), MKEY_BAD_KEY);
	fixture_free();
}

TEST(offset_in_the_first_page)
{
	struct mkey_user u;
	uint8_t bytes[4096];

	open_pair(false);
	u = user();
	pattern(mem(a, buf_a), 65536, 0);
	mr_a->start += 100; /* the region begins in the middle of its first page */
	mr_a->length = 8000;
	CHECK_EQ(mkey_read(&u, fixture_key(mr_a), buf_a + 100, bytes, 4096, MKEY_LOCAL_READ),
		 MKEY_OK);
	CHECK(!memcmp(bytes, mem(a, buf_a + 100), 4096));
	CHECK_EQ(mkey_read(&u, fixture_key(mr_a), buf_a + 99, bytes, 1, MKEY_LOCAL_READ),
		 MKEY_BAD_BOUNDS);
	CHECK_EQ(mkey_read(&u, fixture_key(mr_a), buf_a + 8099, bytes, 2, MKEY_LOCAL_READ),
		 MKEY_BAD_BOUNDS);
	fixture_free();
}

/* --- UMR --- */

struct umr_wqe {
	uint8_t bytes[48 + 64 + 256];
	uint32_t len;
};

static struct umr_wqe umr_new(uint8_t flags, uint64_t mask, uint16_t octowords)
{
	struct umr_wqe u = { .len = 48 + 64 };

	u.bytes[0] = flags;
	put_be16(u.bytes + 4, octowords);
	put_be64(u.bytes + 8, mask);
	return u;
}

static uint8_t *context(struct umr_wqe *u)
{
	return u->bytes + 48;
}

static void umr_post(const struct umr_wqe *u, uint32_t key)
{
	struct fixture_wr wr = {
		.opcode = MLX5_OPCODE_UMR, .imm = key, .umr = u->bytes, .umr_len = u->len
	};

	fixture_send(a, &wr);
	fixture_run();
}

static struct mkey *umr_key(void)
{
	struct mkey *m = fixture_mkey(&fix.side[0], FIXTURE_IOVA, 4096, 0);

	m->umr_enabled = true;
	m->free = true;
	m->capacity = 64;
	return m;
}

/* A QP as the kernel makes it for itself. */
static void open_kernel_pair(void)
{
	open_pair(false);
	a->qp.fast_register = true;
}

/* As the kernel registers (IB_WR_REG_MR): pages inline, a new variant, then LOCAL_INV. */
TEST(fast_registration)
{
	struct umr_wqe u = umr_new(INLINE | CHECK_NOT_FREE,
				   MASK_LEN | MASK_PAGE_SIZE | MASK_START | MASK_KEY | MASK_LR |
					   MASK_RR | MASK_FREE,
				   4);
	struct mkey_user who;
	struct mkey *m;
	uint8_t bytes[5000];
	uint32_t key;

	open_kernel_pair();
	who = user();
	pattern(mem(a, buf_a), 65536, 7);
	m = umr_key();
	key = m->obj.id << 8 | 0x77;
	IFC_SET(mkc, context(&u), lr, 1);
	IFC_SET(mkc, context(&u), rr, 1);
	IFC_SET(mkc, context(&u), mkey_7_0, 0x77);
	IFC_SET(mkc, context(&u), start_addr, 0x5000);
	IFC_SET(mkc, context(&u), len, 8192);
	IFC_SET(mkc, context(&u), log_page_size, 12);
	put_be64(u.bytes + 112, (buf_a - FIXTURE_VA + 4096) | 3);
	put_be64(u.bytes + 120, (buf_a - FIXTURE_VA) | 3);
	u.len += 64;
	umr_post(&u, key);
	good(cq_a, MLX5_CQE_REQ, 0);
	CHECK_EQ(mkey_read(&who, key, 0x5000, bytes, 5000, MKEY_REMOTE_READ), MKEY_OK);
	CHECK(!memcmp(bytes, mem(a, buf_a + 4096), 4096));
	CHECK(!memcmp(bytes + 4096, mem(a, buf_a), 5000 - 4096));
	CHECK_EQ(mkey_write(&who, key, 0x5000, bytes, 1, MKEY_LOCAL_WRITE), MKEY_BAD_ACCESS);

	/* LOCAL_INV, with the key as it is now. */
	u = umr_new(INLINE, MASK_FREE, 0);
	IFC_SET(mkc, context(&u), free, 1);
	umr_post(&u, key);
	CHECK(fixture_poll(cq_a));
	CHECK(m->free);
	CHECK_EQ(mkey_read(&who, key, 0x5000, bytes, 1, MKEY_REMOTE_READ), MKEY_BAD_KEY);
	fixture_free();
}

/* As the driver registers user memory: entries in memory, in pieces at an offset. */
TEST(entries_in_memory)
{
	struct umr_wqe u = umr_new(CHECK_FREE | OFFSET, 0, 4);
	struct mkey *m;

	open_kernel_pair();
	m = umr_key();
	m->free = false;
	for (unsigned int i = 0; i < 8; i++)
		put_be64(mem(a, buf_a + i * 8), 0x1000ull * i);
	put_be16(u.bytes + 6, 8); /* offset in octowords: entry 16 */
	put_be32(u.bytes + 112, 64);
	put_be32(u.bytes + 116, fixture_key(mr_a));
	put_be64(u.bytes + 120, buf_a);
	u.len += 16;
	umr_post(&u, fixture_key(m));
	good(cq_a, MLX5_CQE_REQ, 0);
	CHECK_EQ(m->count, 24);
	CHECK_EQ(m->table[15].address, 0);
	CHECK_EQ(m->table[16 + 5].address, 0x5000);
	fixture_free();
}

/* As libmlx5 binds a window of type 2: one KLM, bound to the QP, checked to be free before. */
TEST(memory_window)
{
	struct umr_wqe u =
		umr_new(INLINE | OFFSET | CHECK_NOT_FREE,
			MASK_FREE | MASK_KEY | MASK_QPN | MASK_LEN | MASK_START | MASK_RW, 4);
	struct mkey_user who;
	struct mkey *m;
	uint8_t byte = 0x3c;
	uint32_t key;

	open_pair(false);
	who = user();
	m = umr_key();
	m->mode = MKEY_KLM;
	m->access = MKEY_LOCAL_READ;
	key = m->obj.id << 8 | 0x11;
	IFC_SET(mkc, context(&u), mkey_7_0, 0x11);
	IFC_SET(mkc, context(&u), qpn, a->qp.obj.id);
	IFC_SET(mkc, context(&u), rw, 1);
	IFC_SET(mkc, context(&u), start_addr, buf_a + 100);
	IFC_SET(mkc, context(&u), len, 50);
	put_be32(u.bytes + 112, 50);
	put_be32(u.bytes + 116, fixture_key(mr_a));
	put_be64(u.bytes + 120, buf_a + 100);
	u.len += 64;
	umr_post(&u, fixture_key(m));
	good(cq_a, MLX5_CQE_REQ, 0);
	CHECK_EQ(mkey_write(&who, key, buf_a + 149, &byte, 1, MKEY_REMOTE_WRITE), MKEY_OK);
	CHECK_EQ(mem(a, buf_a)[149], 0x3c);
	CHECK_EQ(mkey_write(&who, key, buf_a + 150, &byte, 1, MKEY_REMOTE_WRITE), MKEY_BAD_BOUNDS);
	who.qpn++;
	CHECK_EQ(mkey_write(&who, key, buf_a + 149, &byte, 1, MKEY_REMOTE_WRITE), MKEY_BAD_QP);

	/* Bound already. */
	umr_post(&u, fixture_key(m));
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_MW_BIND_ERR);
	fixture_free();
}

/* Windows on what the binder may not use itself. */
static void bind_refused(uint32_t entry_key, uint64_t addr, uint32_t len)
{
	struct umr_wqe u = umr_new(INLINE | OFFSET | CHECK_NOT_FREE,
				   MASK_FREE | MASK_LEN | MASK_START | MASK_RW, 4);
	struct mkey *m = umr_key();

	m->mode = MKEY_KLM;
	IFC_SET(mkc, context(&u), rw, 1);
	IFC_SET(mkc, context(&u), len, len);
	put_be32(u.bytes + 112, len);
	put_be32(u.bytes + 116, entry_key);
	put_be64(u.bytes + 120, addr);
	u.len += 64;
	umr_post(&u, fixture_key(m));
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_MW_BIND_ERR);
	CHECK(m->free);
	fixture_free();
}

TEST(memory_window_on_foreign_ground)
{
	open_pair(false);
	bind_refused(fixture_key(mr_a), buf_a + BUFFER - 100, 101);
	open_pair(false);
	mr_a->pd++;
	bind_refused(fixture_key(mr_a), buf_a, 100);
	open_pair(false);
	mr_a->access &= ~MKEY_LOCAL_WRITE;
	bind_refused(fixture_key(mr_a), buf_a, 100);
	open_pair(false);
	bind_refused(MKEY_RESERVED_LKEY, FIXTURE_IOVA, 100);
}

enum { LIST = 6, LIST_LEN = LIST * 1000 }; /* pieces of a region */

/* As a guest's kernel registers: a list of entries in memory, the last piece of memory first. */
static struct umr_wqe list_umr(const struct mkey *m)
{
	struct umr_wqe u = umr_new(CHECK_NOT_FREE,
				   MASK_FREE | MASK_KEY | MASK_LEN | MASK_START | MASK_RW | MASK_RR,
				   8);

	memset(mem(a, buf_a), 0, 8 * 16);
	for (unsigned int i = 0; i < LIST; i++) {
		put_be32(mem(a, buf_a + i * 16), 1000);
		put_be32(mem(a, buf_a + i * 16 + 4), fixture_key(mr_a));
		put_be64(mem(a, buf_a + i * 16 + 8), buf_a + 4096ull * (LIST - i) + 7);
	}
	IFC_SET(mkc, context(&u), qpn, 0xffffff);
	IFC_SET(mkc, context(&u), mkey_7_0, m->variant);
	IFC_SET(mkc, context(&u), rr, 1);
	IFC_SET(mkc, context(&u), rw, 1);
	IFC_SET(mkc, context(&u), start_addr, 0x5000);
	IFC_SET(mkc, context(&u), len, LIST_LEN);
	put_be32(u.bytes + 112, 8 * 16);
	put_be32(u.bytes + 116, fixture_key(mr_a));
	put_be64(u.bytes + 120, buf_a);
	u.len += 16;
	return u;
}

static struct mkey *list_key(void)
{
	struct mkey *m;

	open_pair(false);
	m = umr_key();
	m->mode = MKEY_KLM;
	return m;
}

TEST(region_of_pieces)
{
	struct mkey *m = list_key();
	struct umr_wqe u = list_umr(m);
	struct mkey_user who = user();
	uint8_t bytes[LIST_LEN + 1];
	uint32_t key = fixture_key(m);

	pattern(mem(a, buf_a + 4096), 65536 - 4096, 9);
	umr_post(&u, key);
	good(cq_a, MLX5_CQE_REQ, 0);
	who.qpn++; /* the region is for all QPs of the PD */
	CHECK_EQ(mkey_read(&who, key, 0x5000, bytes, LIST_LEN, MKEY_REMOTE_READ), MKEY_OK);
	for (unsigned int i = 0; i < LIST; i++)
		CHECK(!memcmp(bytes + i * 1000, mem(a, buf_a + 4096ull * (LIST - i) + 7), 1000));
	CHECK_EQ(mkey_read(&who, key, 0x5000, bytes, LIST_LEN + 1, MKEY_REMOTE_READ),
		 MKEY_BAD_BOUNDS);
	CHECK_EQ(mkey_write(&who, key, 0x5000 + 2999, "ab", 2, MKEY_REMOTE_WRITE), MKEY_OK);
	CHECK_EQ(*mem(a, buf_a + 4096ull * (LIST - 2) + 7 + 999), 'a');
	CHECK_EQ(*mem(a, buf_a + 4096ull * (LIST - 3) + 7), 'b');
	CHECK_EQ(mkey_read(&who, key, 0x5000, bytes, 1, MKEY_LOCAL_READ | MKEY_REMOTE_ATOMIC),
		 MKEY_BAD_ACCESS);
	mr_a->free = true; /* what an entry names is looked at when it is used, too */
	CHECK_EQ(mkey_read(&who, key, 0x5000, bytes, 1, MKEY_REMOTE_READ), MKEY_BAD_KEY);
	fixture_free();
}

static void list_refused(struct mkey *m, const struct umr_wqe *u, uint8_t syndrome)
{
	umr_post(u, fixture_key(m));
	bad(cq_a, MLX5_CQE_REQ_ERR, syndrome);
	CHECK(m->free);
	fixture_free();
}

TEST(region_on_foreign_ground)
{
	struct mkey *m, *other;
	struct umr_wqe u;

	m = list_key(); /* its last entry is good for nothing, in four ways */
	u = list_umr(m);
	other = fixture_mkey(&fix.side[0], FIXTURE_IOVA, BUFFER, ALL);
	other->pd++;
	put_be32(mem(a, buf_a + 5 * 16 + 4), fixture_key(other));
	list_refused(m, &u, MLX5_CQE_SYNDROME_MW_BIND_ERR);

	m = list_key();
	u = list_umr(m);
	put_be32(mem(a, buf_a + 5 * 16 + 4), MKEY_RESERVED_LKEY);
	list_refused(m, &u, MLX5_CQE_SYNDROME_MW_BIND_ERR);

	m = list_key();
	u = list_umr(m);
	put_be64(mem(a, buf_a + 5 * 16 + 8), buf_a + BUFFER - 999);
	list_refused(m, &u, MLX5_CQE_SYNDROME_MW_BIND_ERR);

	m = list_key();
	u = list_umr(m);
	put_be32(mem(a, buf_a + 5 * 16 + 4), 0);
	list_refused(m, &u, MLX5_CQE_SYNDROME_MW_BIND_ERR);

	m = list_key(); /* the list itself is where the QP may not read */
	u = list_umr(m);
	put_be64(u.bytes + 120, buf_a + BUFFER - 127);
	list_refused(m, &u, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);

	m = list_key(); /* shorter than it has to be */
	u = list_umr(m);
	put_be32(u.bytes + 112, 8 * 16 - 1);
	list_refused(m, &u, MLX5_CQE_SYNDROME_MW_BIND_ERR);

	m = list_key(); /* not all of a block */
	u = list_umr(m);
	put_be16(u.bytes + 4, 6);
	list_refused(m, &u, MLX5_CQE_SYNDROME_MW_BIND_ERR);
}

static void umr_refused(const struct umr_wqe *u, struct mkey *m)
{
	umr_post(u, fixture_key(m));
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_MW_BIND_ERR);
	CHECK_EQ(a->qp.state, QP_ERR);
	fixture_free();
}

TEST(umr_that_may_not_be)
{
	struct umr_wqe u = umr_new(INLINE, MASK_FREE, 0);
	struct mkey *m;

	open_kernel_pair();
	m = umr_key();
	m->umr_enabled = false;
	umr_refused(&u, m);

	open_kernel_pair();
	m = umr_key();
	m->pd++;
	umr_refused(&u, m);

	open_kernel_pair(); /* to another PD */
	u = umr_new(INLINE, MASK_PD, 0);
	umr_refused(&u, umr_key());

	open_kernel_pair(); /* what is not supported */
	u = umr_new(INLINE, 1ull << 12, 0);
	umr_refused(&u, umr_key());

	open_kernel_pair(); /* more than it holds */
	u = umr_new(INLINE, MASK_FREE, 33);
	umr_refused(&u, umr_key());

	open_kernel_pair(); /* more than the WQE has */
	u = umr_new(INLINE, MASK_FREE, 8);
	umr_refused(&u, umr_key());

	open_kernel_pair(); /* bound to a QP that is not this one */
	u = umr_new(INLINE | CHECK_QPN, MASK_FREE, 0);
	umr_refused(&u, umr_key());

	open_kernel_pair();
	u = umr_new(INLINE | CHECK_FREE, MASK_FREE, 0);
	umr_refused(&u, umr_key());
}

/* A user's QP writes bus addresses into a key, or changes one that has them. */
TEST(umr_of_users)
{
	const enum mkey_mode modes[] = { MKEY_PA, MKEY_MTT, MKEY_KSM };
	const uint64_t masks[] = { 0,          MASK_FREE,      MASK_LEN,
				   MASK_START, MASK_PAGE_SIZE, MASK_LR | MASK_RW };
	struct umr_wqe u;
	struct mkey *m;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		for (size_t j = 0; j < sizeof(masks) / sizeof(*masks); j++) {
			open_pair(false);
			m = umr_key();
			m->mode = modes[i];
			u = umr_new(INLINE, masks[j], masks[j] || m->mode == MKEY_PA ? 0 : 4);
			IFC_SET(mkc, context(&u), log_page_size, 12);
			u.len += 64;
			umr_refused(&u, m);
		}
	}
	open_kernel_pair();
	u = umr_new(INLINE, 0, 4);
	put_be64(u.bytes + 112, 0x5000);
	u.len += 64;
	m = umr_key();
	umr_post(&u, fixture_key(m));
	good(cq_a, MLX5_CQE_REQ, 0);
	CHECK_EQ(m->table[0].address, 0x5000);
	fixture_free();
}

/* The kernel's own queue moves keys between PDs, and recovers from errors. */
TEST(kernel_umr_queue)
{
	struct umr_wqe u = umr_new(INLINE, MASK_PD | MASK_FREE, 0);
	struct mkey *m;

	fixture_new();
	open_memory();
	a = fixture_qp(&fix.side[0], QP_UMR, cq_a, NULL);
	fixture_to_rts(a);
	m = umr_key();
	m->pd = 99;
	IFC_SET(mkc, context(&u), pd, 100);
	umr_post(&u, fixture_key(m));
	good(cq_a, MLX5_CQE_REQ, 0);
	CHECK_EQ(m->pd, 100);
	umr_post(&u, 0xfffff00);
	bad(cq_a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_MW_BIND_ERR);
	fixture_state(a, QP_RST);
	fixture_to_rts(a);
	umr_post(&u, fixture_key(m));
	good(cq_a, MLX5_CQE_REQ, 0);
	fixture_free();
}
