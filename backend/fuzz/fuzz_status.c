// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_status.c - status files of a worker that a guest has broken into.
 */
#include <stdlib.h>
#include <string.h>

#include "admin/status_read.h"
#include "unit/fakes/fixture.h"

static void check_word(const char word[STATUS_WORD])
{
	CHECK(memchr(word, 0, STATUS_WORD));
	for (; *word; word++)
		CHECK(*word >= ' ' && *word <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *line;
	struct status_view view = { 0 };
	unsigned int i;

	memcpy(text, data, size);
	text[size] = 0;
	while ((line = strsep(&rest, "\n")))
		status_line(&view, line);
	CHECK(view.n_objects <= STATUS_TYPES && view.n_ops <= STATUS_OPS &&
	      view.n_refusals <= STATUS_REFUSALS && view.n_contexts <= STATUS_CONTEXTS);
	for (i = 0; i < view.n_objects; i++)
		check_word(view.objects[i].type);
	for (i = 0; i < view.n_ops; i++) {
		check_word(view.ops[i].name);
		histogram_quantile_ns(&view.ops[i].latency, 990);
	}
	for (i = 0; i < view.n_refusals; i++) {
		check_word(view.refusals[i].op);
		check_word(view.refusals[i].why);
	}
	for (i = 0; i < view.n_contexts; i++)
		check_word(view.contexts[i].name);
	status_free(&view);
	free(text);
	return 0;
}
