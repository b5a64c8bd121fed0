// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_saved.c - any text as what a suspended domain had: refused with a reason that can be shown, or taken, and
 * then it is the same when it is written and read again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/saved.h"
#include "unit/fakes/fixture.h"

static void check_again(const struct saved *saved)
{
	char *text = NULL, why[128];
	struct saved again;
	size_t length = 0;
	unsigned int i;
	FILE *file;

	file = open_memstream(&text, &length);
	CHECK(file);
	saved_print(file, saved);
	CHECK(!fclose(file));
	CHECK(!saved_parse(text, length, &again, why, sizeof(why)));
	CHECK(!strcmp(saved->uuid, again.uuid) && !strcmp(saved->name, again.name));
	CHECK(saved->specs.n == again.specs.n);
	for (i = 0; i < again.specs.n; i++)
		CHECK(!strcmp(saved->specs.spec[i], again.specs.spec[i]));
	config_file_free(&again.specs);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct saved saved;
	char why[128], *c;
	int err;

	memset(why, 0x55, sizeof(why));
	err = saved_parse((const char *)data, size, &saved, why, sizeof(why));
	if (!err) {
		CHECK(saved_uuid(saved.uuid) && saved.specs.n <= CONFIG_VHCAS);
		check_again(&saved);
		config_file_free(&saved.specs);
		return 0;
	}
	CHECK(err == -EINVAL && memchr(why, 0, sizeof(why)) && why[0]);
	for (c = why; *c; c++)
		CHECK(*c >= ' ' && *c <= '~');
	return 0;
}
