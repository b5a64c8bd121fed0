// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * bank.c - see bank.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bank.h"
#include "hca.h"
#include "holder.h"
#include "log.h"
#include "uar.h"

void banks_init(struct banks *banks, unsigned int domid, unsigned int devid, const int *holder)
{
	banks->domid = domid;
	banks->devid = devid;
	banks->holder = holder;
	LIST_INIT(&banks->list);
}

/* That the holder is gone is noticed where its socket is polled; the next one is told of all. */
static void tell(const struct banks *banks, enum holder_op op, const struct bank *bank)
{
	const int fds[HOLDER_FDS] = { [HOLDER_FILE] = bank->file, [HOLDER_RECORDS] = bank->records };
	int err;

	if (*banks->holder < 0)
		return;
	err = holder_send(*banks->holder, op, banks->domid, banks->devid, bank->hca,
			  op == HOLDER_BANK ? fds : NULL);
	if (err)
		log_error("telling the holder of a bank of domain %u: %s", banks->domid,
			  strerror(-err));
}

void banks_tell(const struct banks *banks)
{
	struct bank *bank;

	LIST_FOREACH(bank, &banks->list, link)
		tell(banks, HOLDER_BANK, bank);
}

static struct bank *add(struct banks *banks, const char *hca, int file, int records)
{
	struct bank *bank = calloc(1, sizeof(*bank));

	if (!bank)
		return NULL;
	strncpy(bank->hca, hca, sizeof(bank->hca) - 1);
	bank->file = file;
	bank->records = records;
	LIST_INSERT_HEAD(&banks->list, bank, link);
	return bank;
}

int banks_adopt(struct banks *banks, const char *hca, const int fds[2])
{
	if (add(banks, hca, fds[HOLDER_FILE], fds[HOLDER_RECORDS]))
		return 0;
	close(fds[HOLDER_FILE]);
	close(fds[HOLDER_RECORDS]);
	return -ENOMEM;
}

/* The holder lets go as well, so this is where the UARs become free. */
static void close_bank(struct banks *banks, struct bank *bank)
{
	tell(banks, HOLDER_DROP, bank);
	LIST_REMOVE(bank, link);
	close(bank->file);
	close(bank->records);
	free(bank);
}

/* Of a size that stays: whoever maps it can rely on that. */
static int make_records(void)
{
	int fd = memfd_create("xen-ib-uars", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, sizeof(struct uar_records)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static struct bank *open_bank(struct banks *banks, const char *hca, int *err)
{
	struct bank *bank;
	int file, records;

	file = hca_bank_open(hca);
	if (file < 0) {
		*err = file;
		return NULL;
	}
	records = make_records();
	if (records < 0) {
		*err = records;
		goto err_file;
	}
	bank = add(banks, hca, file, records);
	if (bank) {
		tell(banks, HOLDER_BANK, bank);
		return bank;
	}
	*err = -ENOMEM;
	close(records);
err_file:
	close(file);
	return NULL;
}

struct bank *banks_get(struct banks *banks, const char *hca, int *err)
{
	struct bank *bank;

	LIST_FOREACH(bank, &banks->list, link) {
		if (strcmp(bank->hca, hca))
			continue;
		if (hca_bank_alive(bank->file))
			return bank;
		close_bank(banks, bank);
		break;
	}
	return open_bank(banks, hca, err);
}

static bool in_reach(const struct bank *bank, bool revocable)
{
	struct uar_records *records;
	bool reach = false;
	uint32_t i;

	records = mmap(NULL, sizeof(*records), PROT_READ, MAP_SHARED, bank->records, 0);
	if (records == MAP_FAILED)
		return true;
	for (i = 0; i < records->count && i < UAR_BANK_RECORDS; i++)
		reach |= revocable ? records->record[i].allowed : !!records->record[i].frame;
	munmap(records, sizeof(*records));
	return reach;
}

void banks_trim(struct banks *banks, bool revocable)
{
	struct bank *bank, *next;

	for (bank = LIST_FIRST(&banks->list); bank; bank = next) {
		next = LIST_NEXT(bank, link);
		if (!in_reach(bank, revocable))
			close_bank(banks, bank);
	}
}

void banks_close(struct banks *banks)
{
	while (!LIST_EMPTY(&banks->list))
		close_bank(banks, LIST_FIRST(&banks->list));
}
