// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "events.h"

void bell_make(struct vp_both *bell)
{
	struct vp_conf conf = vp_conf(IBV_QPT_RC);

	conf.channel = true;
	vp_both_make(bell, conf);
}

int main(int argc, char **argv)
{
	const struct check_table tables[] = { events_completion, events_storm, events_many,
					      events_async };

	vp_load_providers();
	return check_main_tables(
		argc, argv, "Completion events and asynchronous events: none lost, none too many.",
		tables, ARRAY_SIZE(tables));
}
