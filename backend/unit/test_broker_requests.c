// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_broker_requests.c - a broker whose worker lies. Xen is a list of where the guest has which
 * page, gntdev one of what has been named to it: whatever the worker asks for, in whatever order, the
 * guest has no page that the table does not show, and the lists do not grow without end.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker/requests.h"
#include "unit/fakes/fixture.h"
#include "xen/gntdev.h"
#include "xen/iomem.h"

#define DOMID 7
#define BAR 0xfe000u
#define PAGES 64u
#define FIRST_PAGE 5u /* that can be a doorbell page */
#define PLACES 8u
#define G0 0x100000u

static char dir[] = "/tmp/xen-ib-broker-XXXXXX";
static struct uar_table table;
static struct serving s;

/* Xen: where the guest has a page of the HCA; and what fails. */

static struct {
	uint64_t mfn;
	bool removed; /* by the guest itself */
} place[PLACES];
static uint64_t may_map; /* of a PV guest, a bit for each page */
static int allow_err, deny_err, domain_err;
static bool is_auto;

int iomem_domain(struct iomem *iomem, unsigned int domid, bool *auto_translated)
{
	(void)iomem;
	CHECK(domid == DOMID);
	*auto_translated = is_auto;
	return domain_err;
}

static unsigned int place_of(const struct iomem_frame *frame)
{
	CHECK(frame->domid == DOMID && frame->auto_translated == is_auto);
	CHECK(frame->mfn >= BAR + FIRST_PAGE && frame->mfn < BAR + PAGES);
	CHECK(!is_auto || (frame->gfn >= G0 && frame->gfn < G0 + PLACES));
	return is_auto ? frame->gfn - G0 : 0;
}

int iomem_allow(struct iomem *iomem, const struct iomem_frame *frame)
{
	unsigned int at = place_of(frame);

	(void)iomem;
	if (allow_err)
		return allow_err;
	if (is_auto) {
		CHECK(!place[at].mfn); /* Xen would destroy the guest */
		place[at].mfn = frame->mfn;
		place[at].removed = false;
	} else {
		may_map |= 1ull << (frame->mfn - BAR);
	}
	return 0;
}

int iomem_deny(struct iomem *iomem, const struct iomem_frame *frame)
{
	unsigned int at = place_of(frame);

	(void)iomem;
	if (deny_err)
		return deny_err;
	may_map &= ~(1ull << (frame->mfn - BAR));
	if (!is_auto)
		return 0;
	if (place[at].mfn != frame->mfn)
		return -EINVAL;
	place[at].mfn = 0;
	return place[at].removed ? -EINVAL : 0;
}

/* Where the guest has a page; and how many it has. */
static unsigned int places_of(uint64_t mfn)
{
	unsigned int i, n = 0;

	for (i = 0; i < PLACES; i++)
		n += place[i].mfn == mfn;
	return n;
}

static unsigned int places(void)
{
	return PLACES - places_of(0);
}

/* gntdev, which gives the lowest index that is free. */

#define NAMES 256u

static uint32_t named[NAMES]; /* how many grants, by index */
static unsigned int unmapped;
static int map_err;

int gntdev_map(int fd, uint32_t domid, const uint32_t *refs, uint32_t n, uint64_t *index)
{
	CHECK(fd == 42 && domid == DOMID && n && n <= XEN_VHCA_DATA_REFS && refs[n - 1] == n - 1);
	if (map_err)
		return map_err;
	for (*index = 0; named[*index]; ++*index)
		CHECK(*index < NAMES - 1);
	named[*index] = n;
	return 0;
}

int gntdev_unmap(int fd, uint64_t index, uint32_t n)
{
	CHECK(fd == 42 && index < NAMES);
	unmapped++;
	if (named[index] != n)
		return -ENOENT;
	named[index] = 0;
	return 0;
}

static unsigned int names(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < NAMES; i++)
		n += !!named[i];
	return n;
}

/* The HCA */

static uint32_t next_page, allocated;
static int alloc_err;
static bool alive;

static int uar_alloc(int pool, uint32_t type, uint32_t *index, uint32_t *handle)
{
	(void)type;
	(void)handle;
	CHECK(pool == 43);
	if (alloc_err)
		return alloc_err;
	allocated++;
	*index = next_page++;
	return 0;
}

static bool uar_pool_alive(int pool)
{
	CHECK(pool == 43);
	return alive;
}

static const struct hca_family family = { .uar_alloc = uar_alloc,
					  .uar_pool_alive = uar_pool_alive };

/* The worker */

static char body[BROKER_MOST_BYTES];

static int ask_for(const struct broker_request *request, struct broker_response *answer)
{
	struct broker_response rsp = serving_request(&s, request, body);
	unsigned int i, allowed = 0;

	/* Always: what the guest has is in the table, and what the worker has it may map. */
	for (i = 0; i < table.count; i++) {
		const struct uar_entry *r = &table.entry[i];

		allowed += r->allowed;
		CHECK(!r->in_use || r->allowed || domain_err);
		CHECK(!is_auto || places_of(r->frame) <= r->allowed);
		CHECK(is_auto || !(may_map >> r->index & 1) || r->allowed);
		CHECK(!places_of(r->frame) || place[r->gfn - G0].mfn == r->frame);
	}
	CHECK(!is_auto || places() <= allowed);
	CHECK(names() <= BROKER_MAPS);
	*answer = rsp;
	return rsp.err;
}

static int ask(const struct broker_request *request, uint64_t *index)
{
	struct broker_response rsp;
	int err = ask_for(request, &rsp);

	if (index)
		*index = rsp.index;
	return err;
}

/* *mfn: of the page that the guest may map */
static int alloc_type(uint32_t type, uint64_t gfn, uint64_t *mfn)
{
	struct broker_response rsp;
	int err;

	err = ask_for(&(struct broker_request){ .op = BROKER_UAR_ALLOC, .type = type, .gfn = gfn },
		      &rsp);
	if (err)
		return err;
	CHECK(rsp.frame == BAR + rsp.index &&
	      (is_auto ? places_of(rsp.frame) == 1 && place[gfn - G0].mfn == rsp.frame :
			 may_map >> rsp.index & 1));
	*mfn = rsp.frame;
	return 0;
}

static int alloc(uint64_t gfn, uint64_t *mfn)
{
	return alloc_type(XEN_VHCA_UAR_BF, gfn, mfn);
}

static int free_uar(uint64_t mfn)
{
	return ask(&(struct broker_request){ .op = BROKER_UAR_FREE, .index = mfn - BAR }, NULL);
}

static int reset(void)
{
	return ask(&(struct broker_request){ .op = BROKER_UAR_RESET }, NULL);
}

static void name_grants(uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		memcpy(body + i * sizeof(i), &i, sizeof(i));
}

/* One that names n grants and says of which mappings it has made them. */
static int map(uint32_t n, const uint64_t *mapped, uint32_t n_mapped, uint64_t *index)
{
	struct broker_request request = { .op = BROKER_MAP,
					  .length = n * sizeof(n),
					  .n_mapped = n_mapped };

	name_grants(n);
	memcpy(request.mapped, mapped, n_mapped * sizeof(*mapped));
	return ask(&request, index);
}

static void begin(bool auto_translated)
{
	is_auto = auto_translated;
	memset(&table, 0, sizeof(table));
	memset(place, 0, sizeof(place));
	memset(named, 0, sizeof(named));
	may_map = 0;
	allow_err = deny_err = domain_err = map_err = alloc_err = 0;
	allocated = 0;
	alive = true;
	next_page = FIRST_PAGE;
	s = (struct serving){
		.domain = { .domid = DOMID, .devid = 1 }, .gntdev = 42,
		.uars = {
			.domain = &s.domain, .family = &family, .frames = { BAR, BAR + FIRST_PAGE, BAR + PAGES }, .file = 43, .table = &table,
		},
	};
	snprintf(s.path, sizeof(s.path), "%s/status", dir);
	snprintf(s.temporary, sizeof(s.temporary), "%s/status.new", dir);
	CHECK(!ask(&(struct broker_request){ .op = BROKER_DOMAIN }, NULL) &&
	      s.domain.auto_translated == auto_translated);
}

/* UARs are used again for this guest, by type, and never go back to the HCA. Each user has one of its own. */
static void test_reuse(void)
{
	uint64_t a, b, c, d;
	int i;

	begin(true);
	for (i = 0; i < 20; i++)
		CHECK(!alloc(G0, &a) && !free_uar(a) && !places());
	CHECK(allocated == 1 && table.count == 1);
	CHECK(!alloc(G0, &a) && !alloc(G0 + 1, &b) && a != b && table.count == 2);
	CHECK(table.entry[0].in_use && table.entry[1].in_use && !free_uar(a) && !free_uar(b));
	CHECK(!alloc_type(XEN_VHCA_UAR_NC, G0, &c) && c != a && c != b &&
	      table.entry[2].type == XEN_VHCA_UAR_NC);
	CHECK(!free_uar(c) && !alloc_type(XEN_VHCA_UAR_NC, G0, &d) && d == c && allocated == 3);
	alloc_err = -ENOMEM;
	CHECK(alloc_type(XEN_VHCA_UAR_NC, G0 + 1, &d) == -ENOMEM && table.count == 3 &&
	      places() == 1);
}

/* From one place to another: it is never in both, and freeing it twice takes it from nobody. */
static void test_moves(void)
{
	uint64_t a, b;

	begin(true);
	CHECK(!alloc(G0, &a));
	deny_err = -ENOMEM;
	CHECK(free_uar(a) == -ENOMEM && places_of(a) == 1);
	deny_err = 0;
	CHECK(!alloc(G0 + 1, &b) && b == a && places_of(a) == 1 && place[1].mfn == a);
	CHECK(!free_uar(a) && !places() && !table.entry[0].allowed);
	CHECK(free_uar(a) == -EPERM);
	CHECK(!alloc(G0 + 2, &b) && b == a && !free_uar(a) && !places());
	CHECK(alloc(0, &b) == -EINVAL && !places());
}

static void test_same_place(void)
{
	uint64_t a, b;

	begin(true);
	CHECK(!alloc(G0, &a) && alloc(G0, &b) == -EEXIST && place[0].mfn == a && table.count == 1);
	CHECK(alloc_type(XEN_VHCA_UAR_NC, G0, &b) == -EEXIST && table.count == 1);
	CHECK(!free_uar(a) && !alloc_type(XEN_VHCA_UAR_NC, G0, &b) && place[0].mfn == b && b != a);
	/* One that could not be revoked is, before another comes there. */
	deny_err = -ENOMEM;
	CHECK(free_uar(b) == -ENOMEM && alloc(G0, &a) == -ENOMEM && place[0].mfn == b);
	deny_err = 0;
	CHECK(!alloc(G0, &a) && place[0].mfn == a && a != b && places() == 1);
}

/* What cannot be revoked stays in the table, and the next attempt revokes it. */
static void test_not_revoked(void)
{
	uint64_t a, b;

	begin(true);
	CHECK(!alloc(G0, &a));
	deny_err = -ENOMEM;
	CHECK(free_uar(a) == -ENOMEM && table.entry[0].allowed && table.entry[0].gfn == G0);
	CHECK(alloc(G0 + 1, &b) == -ENOMEM && place[0].mfn == a && places() == 1);
	deny_err = 0;
	CHECK(!alloc(G0 + 1, &b) && b == a && places() == 1);
	/* A guest that has removed it itself */
	place[1].removed = true;
	CHECK(free_uar(a) == -EINVAL && !table.entry[0].allowed && !alloc(G0, &b) && b == a &&
	      !free_uar(a));
	allow_err = -ENOSPC;
	CHECK(alloc(G0, &b) == -ENOSPC && !table.entry[0].allowed && !table.entry[0].gfn &&
	      !table.entry[0].in_use);
	allow_err = 0;
	/* A domain that is dying */
	CHECK(!alloc(G0, &b) && b == a && table.count == 1);
	domain_err = -ESRCH;
	CHECK(!free_uar(a) && table.entry[0].allowed);
}

/*
 * A worker and its broker die with one in use, and while the guest is given another. The next broker
 * gives neither away before it is revoked, and the next connection begins with none.
 */
static void test_dead_worker(bool auto_translated)
{
	const uint64_t gfn = auto_translated ? G0 : 0;
	struct uar_table left;
	uint64_t a, b, c;

	begin(auto_translated);
	CHECK(!alloc(gfn, &a) && !alloc(gfn + 1, &b));
	table.entry[1].in_use = 0;
	left = table;
	uar_pool_init(&s.uars);
	CHECK(!table.entry[0].in_use && table.entry[0].allowed && free_uar(a) == -EPERM &&
	      free_uar(b) == -EPERM);
	CHECK(!alloc(gfn + 1, &c) && c == a &&
	      (!auto_translated || (places() == 1 && place[1].mfn == a)));
	CHECK(!reset() && !places() && !may_map && !table.entry[0].allowed &&
	      !table.entry[0].in_use);
	CHECK(!table.entry[1].allowed && table.count == 2 && allocated == 2);
	begin(auto_translated);
	table = left;
	place[0].mfn = auto_translated ? a : 0;
	place[1].mfn = auto_translated ? b : 0;
	may_map = auto_translated ? 0 : 1ull << (a - BAR) | 1ull << (b - BAR);
	uar_pool_init(&s.uars);
	deny_err = -ENOMEM;
	CHECK(reset() == -ENOMEM && table.entry[0].allowed && table.entry[1].allowed);
	deny_err = 0;
	CHECK(!reset() && !places() && !may_map && !table.entry[0].allowed &&
	      !table.entry[1].allowed);
	CHECK(!alloc(gfn, &c) && c == a && !allocated);
}

static void test_pv(void)
{
	uint64_t a, b;

	begin(false);
	CHECK(!alloc(0, &a) && may_map && !alloc(G0, &b) && a != b && !table.entry[0].gfn &&
	      !table.entry[1].gfn);
	CHECK(!free_uar(a) && !free_uar(b) && !may_map);
}

static void test_other_pages(void)
{
	uint64_t a, b, frame;

	begin(false);
	CHECK(!alloc(0, &a));
	for (frame = BAR - 1; frame <= BAR + PAGES; frame++)
		CHECK(frame == a || free_uar(frame) == -EPERM);
	CHECK(free_uar(0) == -EPERM && free_uar(UINT64_MAX) == -EPERM &&
	      may_map == 1ull << (a - BAR));
	next_page = FIRST_PAGE - 1; /* an HCA that gives out what is none */
	CHECK(alloc(0, &b) == -ERANGE);
	next_page = PAGES;
	CHECK(alloc(0, &b) == -ERANGE && table.count == 1);
	next_page = UINT32_MAX;
	CHECK(alloc(0, &b) == -ERANGE && table.count == 1 && may_map == 1ull << (a - BAR));
	alive = false;
	CHECK(ask(&(struct broker_request){ .op = BROKER_POOL_ALIVE }, NULL) == -EIO);
	CHECK(ask(&(struct broker_request){ .op = 99 }, NULL) == -ENOSYS);
}

static void test_table_full(void)
{
	uint64_t a, b;

	begin(false);
	CHECK(!alloc(0, &a));
	while (!uar_table_full(&table))
		uar_table_add(&table, PAGES - 1, XEN_VHCA_UAR_NC, BAR + PAGES - 1);
	CHECK(alloc(0, &b) == -EXFULL && allocated == 1);
	CHECK(!free_uar(a) && !alloc(0, &b) && b == a);
}

/* Names that are never mapped: so many, and then no more. */
static void test_map_bound(void)
{
	uint64_t index, none[BROKER_MAPS], i;

	begin(false);
	CHECK(map(0, none, 0, &index) == -EINVAL &&
	      map(BROKER_MAP_PAGES + 1, none, 0, &index) == -EINVAL);
	CHECK(ask(&(struct broker_request){ .op = BROKER_MAP, .length = 5 }, NULL) == -EINVAL &&
	      !names());
	map_err = -ENOMEM;
	CHECK(map(1, none, 0, &index) == -ENOMEM);
	map_err = 0;
	for (i = 0; i < BROKER_MAPS; i++)
		CHECK(!map(BROKER_MAP_PAGES, none, 0, &index) && index == i);
	for (i = 0; i < 1000; i++)
		CHECK(map(1, none, 0, &index) == -EBUSY);
	/* It says what it has not: of others, of one often, of one that it has mapped, but not forgotten. */
	memset(none, 0x55, sizeof(none));
	CHECK(map(1, none, BROKER_MAPS, &index) == -EBUSY && names() == BROKER_MAPS);
	none[0] = none[1] = none[2] = 3;
	CHECK(!map(1, none, 3, &index) && index == 3 && map(1, none + 4, 1, &index) == -EBUSY);
	CHECK(named[3] == 1);
}

/* A worker that does as it should can go on for ever. */
static void test_map_honest(void)
{
	uint64_t index[5], fresh;
	unsigned int i;

	begin(false);
	for (i = 0; i < 5; i++)
		CHECK(!map(i + 1, index, 0, &index[i]));
	for (i = 0; i < 1000; i++) {
		named[index[i % 5]] = 0; /* by the worker itself */
		CHECK(!map(7, &index[i % 5], 1, &fresh) && named[fresh] == 7 && names() == 5);
		index[i % 5] = fresh;
	}
	CHECK(unmapped >= 1000);
}

static void test_status(void)
{
	struct stat st;

	begin(false);
	memset(body, 'x', sizeof(body));
	CHECK(!ask(&(struct broker_request){ .op = BROKER_STATUS, .length = sizeof(body) }, NULL));
	CHECK(!stat(s.path, &st) && st.st_size == sizeof(body) && access(s.temporary, F_OK));
	CHECK(!ask(&(struct broker_request){ .op = BROKER_STATUS }, NULL) && access(s.path, F_OK));
	CHECK(ask(&(struct broker_request){ .op = BROKER_STATUS }, NULL) == -ENOENT);
}

/* Anything, in any order; ask() looks. */
static void test_random(void)
{
	unsigned int i, seed;
	uint64_t mapped[4];

	for (seed = 0; seed < 20; seed++) {
		srand(seed);
		begin(seed & 1);
		for (i = 0; i < 2000; i++) {
			uint64_t mfn = BAR + FIRST_PAGE + rand() % 10;
			uint64_t gfn = is_auto ? G0 + rand() % PLACES : 0, index, unused;
			unsigned int n;

			allow_err = rand() % 8 ? 0 : -ENOMEM;
			deny_err = rand() % 8 ? 0 : -ENOMEM;
			place[rand() % PLACES].removed = !(rand() % 8);
			alloc_err = table.count < 10 ? 0 : -ENOMEM;
			switch (rand() % 6) {
			case 0:
			case 1:
				alloc_type(rand() % 2, gfn, &unused);
				break;
			case 2:
			case 3:
				free_uar(mfn);
				break;
			case 4:
				if (!(rand() % 8))
					reset();
				break;
			default:
				for (n = 0; n < 4; n++)
					mapped[n] = rand() % 20;
				map(1 + rand() % 8, mapped, rand() % 4, &index);
			}
		}
	}
}

int main(void)
{
	CHECK(mkdtemp(dir));
	test_reuse();
	test_moves();
	test_same_place();
	test_not_revoked();
	test_dead_worker(true);
	test_dead_worker(false);
	test_pv();
	test_other_pages();
	test_table_full();
	test_map_bound();
	test_map_honest();
	test_status();
	test_random();
	CHECK(!rmdir(dir));
	return EXIT_SUCCESS;
}
