// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cmd_metrics.c - xen-ib metrics: what the daemon counts, as Prometheus reads it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "json.h"
#include "tool.h"

int cmd_metrics(const struct options *options, int argc, char **argv)
{
	struct answer answer;

	(void)argc;
	(void)argv;
	ask(options->socket, &answer, "metrics");
	if (answer.status != TOOL_OK)
		return answer_complain(&answer);
	if (options->json) {
		json_open(NULL, '{');
		json_text("metrics", answer.body);
		json_close();
	} else {
		fputs(answer.body, stdout);
	}
	free(answer.body);
	return TOOL_OK;
}
