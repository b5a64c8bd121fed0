// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rate.c - see rate.h.
 */
#include <stddef.h>
#include <string.h>

#include "config/rate.h"

static const struct rate {
	const char *name;
	uint32_t mbps;
	uint8_t value; /* enum ib_rate */
} rates[] = {
	{ "2.5G", 2500, 2 },    { "5G", 5000, 5 },      { "10G", 10000, 3 },
	{ "14G", 14000, 11 },   { "20G", 20000, 6 },    { "25G", 25000, 15 },
	{ "28G", 28000, 19 },   { "30G", 30000, 4 },    { "40G", 40000, 7 },
	{ "50G", 50000, 20 },   { "56G", 56000, 12 },   { "60G", 60000, 8 },
	{ "80G", 80000, 9 },    { "100G", 100000, 16 }, { "112G", 112000, 13 },
	{ "120G", 120000, 10 }, { "168G", 168000, 14 }, { "200G", 200000, 17 },
	{ "300G", 300000, 18 }, { "400G", 400000, 21 }, { "600G", 600000, 22 },
	{ "800G", 800000, 23 },
};

#define RATES (sizeof(rates) / sizeof(rates[0]))

static const struct rate *by_mbps(uint64_t mbps)
{
	unsigned int i;

	for (i = 0; i < RATES; i++)
		if (rates[i].mbps == mbps)
			return &rates[i];
	return NULL;
}

uint32_t rate_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < RATES; i++)
		if (!strcmp(rates[i].name, name))
			return rates[i].mbps;
	return 0;
}

const char *rate_name(uint64_t mbps)
{
	const struct rate *rate = by_mbps(mbps);

	return rate ? rate->name : NULL;
}

uint32_t rate_mbps(uint8_t value)
{
	unsigned int i;

	for (i = 0; i < RATES; i++)
		if (rates[i].value == value)
			return rates[i].mbps;
	return 0;
}

uint8_t rate_encode(uint64_t mbps)
{
	const struct rate *rate = by_mbps(mbps);

	return rate ? rate->value : 0;
}
