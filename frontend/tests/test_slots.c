// SPDX-License-Identifier: GPL-2.0
/*
 * test_slots.c - the slots of the command ring against a plain model of them, and against ids that
 * nobody waits for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "slots.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static char owners[XENIB_MAX_SLOTS];

static void fills_up_and_no_further(unsigned int count)
{
	struct xenib_slots slots;
	unsigned int i;

	xenib_slots_init(&slots, count);
	for (i = 0; i < count; i++)
		CHECK(xenib_slots_take(&slots, 1, &owners[i]) == (int)i);
	CHECK(xenib_slots_take(&slots, 1, &owners[0]) == -1);
	CHECK(xenib_slots_release(&slots, count / 2) == &owners[count / 2]);
	CHECK(xenib_slots_take(&slots, 1, &owners[0]) == (int)(count / 2));
	CHECK(xenib_slots_take(&slots, 1, &owners[0]) == -1);
}

static void hostile_responses_match_nothing(void)
{
	struct xenib_slots slots;
	unsigned int id;

	xenib_slots_init(&slots, 32);
	CHECK(xenib_slots_take(&slots, 7, owners) == 0);
	for (id = 0; id <= UINT16_MAX; id++)
		CHECK(xenib_slots_match(&slots, id, 7) == (id == 0));
	CHECK(!xenib_slots_match(&slots, 0, 8));
	CHECK(xenib_slots_release(&slots, 0) == owners);
	CHECK(!xenib_slots_match(&slots, 0, 7)); /* the same response twice */
}

static void drains_each_owner_once(unsigned int count)
{
	unsigned int seen[XENIB_MAX_SLOTS] = { 0 }, i;
	struct xenib_slots slots;
	char *owner;

	xenib_slots_init(&slots, count);
	for (i = 0; i < count; i++)
		xenib_slots_take(&slots, 1, &owners[i]);
	while ((owner = xenib_slots_drain(&slots)))
		seen[owner - owners]++;
	for (i = 0; i < count; i++)
		CHECK(seen[i] == 1);
}

static void random_use_agrees_with_a_model(unsigned int count)
{
	void *model[XENIB_MAX_SLOTS] = { NULL };
	struct xenib_slots slots;
	unsigned int round, used = 0;

	xenib_slots_init(&slots, count);
	for (round = 0; round < 100000; round++) {
		unsigned int id = rand() % count;

		if (rand() % 2) {
			int taken = xenib_slots_take(&slots, round, &owners[id]);

			CHECK((taken < 0) == (used == count));
			if (taken < 0)
				continue;
			CHECK((unsigned int)taken < count && !model[taken]);
			model[taken] = &owners[id];
			used++;
		} else {
			CHECK(xenib_slots_is_busy(&slots, id) == !!model[id]);
			if (!model[id])
				continue;
			CHECK(xenib_slots_release(&slots, id) == model[id]);
			model[id] = NULL;
			used--;
		}
	}
}

int main(void)
{
	static const unsigned int counts[] = { 1, 8, 32, 63, 64, 65, 128, XENIB_MAX_SLOTS };
	unsigned int i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		fills_up_and_no_further(counts[i]);
		drains_each_owner_once(counts[i]);
		random_use_agrees_with_a_model(counts[i]);
	}
	hostile_responses_match_nothing();
	return 0;
}
