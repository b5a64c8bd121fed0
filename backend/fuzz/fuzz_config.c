// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_config.c - any text as the spec of a vHCA: refused with a reason that can be shown, or taken
 * with values that are possible.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec.h"
#include "unit/fakes/fixture.h"

static void check_taken(const struct vhca_config *c)
{
	unsigned int n;

	CHECK(c->hca[0] && memchr(c->hca, 0, sizeof(c->hca)) && !strchr(c->hca, '/'));
	CHECK(memchr(c->backend, 0, sizeof(c->backend)) && !strchr(c->backend, '/'));
	CHECK(c->port >= 1 && c->port <= 254 && c->devid >= -1 && c->devid < CONFIG_VHCAS);
	for (n = 0; n < LIMITS; n++)
		CHECK(!c->limit[n].given ||
		      (n >= LIMIT_IMPOSED && c->limit[n].value == limit_key(n)->value) ||
		      (c->limit[n].value >= limit_key(n)->least &&
		       c->limit[n].value <= limit_key(n)->most));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vhca_config config;
	char *spec = malloc(size + 1), why[128], *c;
	int err;

	memcpy(spec, data, size);
	spec[size] = 0;
	memset(why, 0x55, sizeof(why));
	err = config_parse_spec(spec, &config, why, sizeof(why));
	if (!err) {
		check_taken(&config);
	} else {
		CHECK(err == -EINVAL && memchr(why, 0, sizeof(why)) && why[0]);
		for (c = why; *c; c++)
			CHECK(*c >= ' ' && *c <= '~');
	}
	free(spec);
	return 0;
}
