// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "events.h"

void bell_open(struct bell *bell)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	conf.channel = true;
	vp_open(&bell->dev_a, 0);
	vp_open(&bell->dev_b, 1);
	vp_pair_make(&bell->pair, &bell->dev_a, &bell->dev_b, &conf);
}

void bell_close(struct bell *bell)
{
	vp_pair_free(&bell->pair);
	vp_close(&bell->dev_a);
	vp_close(&bell->dev_b);
}

int main(int argc, char **argv)
{
	const struct check_table tables[] = { events_completion, events_storm, events_async };

	return check_main_tables(argc, argv, "Completion events and asynchronous events: none lost, none too many.",
				 tables, ARRAY_SIZE(tables));
}
