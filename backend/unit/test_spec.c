// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * test_spec.c - specs of vHCAs, right and wrong.
 */
#include <errno.h>
#include <string.h>

#include "config/guid.h"
#include "config/spec.h"
#include "unit/fakes/fixture.h"

static char why[256];

static struct vhca_config parse(const char *spec)
{
	struct vhca_config config;

	if (config_parse_spec(spec, &config, why, sizeof(why))) {
		fprintf(stderr, "%s: %s\n", spec, why);
		abort();
	}
	return config;
}

/* Refused, and says so with these words in it. */
static void refused(const char *spec, const char *words)
{
	struct vhca_config config;

	CHECK(config_parse_spec(spec, &config, why, sizeof(why)) == -EINVAL);
	if (strstr(why, words))
		return;
	fprintf(stderr, "%s: '%s', not '%s'\n", spec, why, words);
	abort();
}

static unsigned int number_of(const char *key)
{
	unsigned int n;

	for (n = 0; n < LIMITS; n++)
		if (!strcmp(limit_key(n)->name, key))
			return n;
	abort();
}

static uint64_t limit(const char *spec, const char *key)
{
	struct vhca_config config = parse(spec);
	unsigned int n = number_of(key);

	CHECK(config.limit[n].given);
	return config.limit[n].value;
}

static void test_right(void)
{
	struct vhca_config config = parse("hca=mlx5_0");
	unsigned int n;

	CHECK(!strcmp(config.hca, "mlx5_0") && config.port == 1 && config.devid == -1 &&
	      !config.backend[0]);
	for (n = 0; n < LIMITS; n++)
		CHECK(!config.limit[n].given);
	config = parse(" max-qp = 256 ,port=2,\thca=rocep3s0 , backend=driver-domain,devid=3");
	CHECK(!strcmp(config.hca, "rocep3s0") && config.port == 2 && config.devid == 3);
	CHECK(!strcmp(config.backend, "driver-domain"));
	CHECK(config.limit[number_of("max-qp")].value == 256);
}

static void test_guid(void)
{
	const char *uuid = "4a2b2b3e-0c0f-4d0a-8e5e-0123456789ab";
	uint64_t made = guid_make(uuid, 0);
	char text[GUID_TEXT];

	CHECK(!parse("hca=a").guid);
	CHECK(parse("hca=a,guid=02163e0000abCDef").guid == 0x02163e0000abcdef);
	CHECK(parse("hca=a,guid=0216:3e00:00ab:cdef").guid == 0x02163e0000abcdef);
	refused("hca=a,guid=", "16 hexadecimal digits");
	refused("hca=a,guid=0000000000000000", "not all 0");
	refused("hca=a,guid=02163e0000abcde", "16 hexadecimal digits");
	refused("hca=a,guid=02163e0000abcdef0", "16 hexadecimal digits");
	refused("hca=a,guid=0216:3e00:00ab:cdef:", "16 hexadecimal digits");
	refused("hca=a,guid=:0216:3e00:00ab:cdef", "16 hexadecimal digits");
	refused("hca=a,guid=0216:3e00:00ab::cdef", "16 hexadecimal digits");
	refused("hca=a,guid=021:63e00:00ab:cdef", "16 hexadecimal digits");
	refused("hca=a,guid=02163e0000abcdeg", "16 hexadecimal digits");
	refused("hca=a,guid=0x163e0000abcdef", "16 hexadecimal digits");
	refused("hca=a,guid=02163e0000abcdef,guid=02163e0000abcdef", "twice");

	guid_format(text, made);
	CHECK(!strncmp(text, "02163e", 6) && strlen(text) == 16);
	CHECK(guid_make(uuid, 0) == made && guid_make(uuid, 1) != made &&
	      guid_make("5", 0) != made);
}

static void test_pkeys(void)
{
	struct vhca_config config = parse("hca=a,pkeys=0+2+64-127");
	char text[PKEYS_TEXT], odd[PKEYS_TEXT] = "0";
	unsigned int n;

	CHECK(pkeys_has(&config.pkeys, 0) && !pkeys_has(&config.pkeys, 1) &&
	      pkeys_has(&config.pkeys, 2));
	CHECK(!pkeys_has(&config.pkeys, 63) && pkeys_has(&config.pkeys, 64));
	CHECK(pkeys_has(&config.pkeys, 127) && !pkeys_has(&config.pkeys, 128) &&
	      !pkeys_has(&config.pkeys, UINT32_MAX));
	pkeys_format(text, &config.pkeys);
	CHECK(!strcmp(text, "0+2+64-127"));
	config = parse("hca=a");
	CHECK(!config.pkeys.given && pkeys_has(&config.pkeys, 0) && pkeys_has(&config.pkeys, 1000));
	/* The longest text that there is. */
	for (n = 2; n < PKEYS_MAX; n += 2)
		sprintf(odd + strlen(odd), "+%u", n);
	CHECK(pkeys_parse(odd, &config.pkeys));
	pkeys_format(text, &config.pkeys);
	CHECK(!strcmp(text, odd));
	refused("hca=a,pkeys=", "indices below 128");
	refused("hca=a,pkeys=128", "indices below 128");
	refused("hca=a,pkeys=4294967296", "indices below 128");
	refused("hca=a,pkeys=3-1", "indices below 128");
	refused("hca=a,pkeys=1-", "indices below 128");
	refused("hca=a,pkeys=1+", "indices below 128");
	refused("hca=a,pkeys=1 2", "indices below 128");
	refused("hca=a,pkeys=1,pkeys=1", "twice");
}

static bool given(const char *spec, enum choice choice)
{
	return parse(spec).choices.of[choice].given;
}

static unsigned int chosen(const char *spec, enum choice choice)
{
	return parse(spec).choices.of[choice].value;
}

static void test_kernel(void)
{
	CHECK(!given("hca=a", CHOICE_KERNEL) && chosen("hca=a", CHOICE_KERNEL) == KERNEL_ON);
	CHECK(chosen("hca=a,kernel=on", CHOICE_KERNEL) == KERNEL_ON);
	CHECK(chosen("kernel=verbs,hca=a", CHOICE_KERNEL) == KERNEL_VERBS);
	CHECK(given("kernel=off,hca=a", CHOICE_KERNEL));
	CHECK(chosen("kernel=off,hca=a", CHOICE_KERNEL) == KERNEL_OFF);
	refused("hca=a,kernel=", "off, verbs or on");
	refused("hca=a,kernel=1", "kernel=1: off, verbs or on");
	refused("hca=a,kernel=on,kernel=on", "twice");
}

static void test_personality(void)
{
	CHECK(!given("hca=a", CHOICE_PERSONALITY));
	CHECK(chosen("hca=a", CHOICE_PERSONALITY) == PERSONALITY_XENIB);
	CHECK(given("hca=a,personality=xenib", CHOICE_PERSONALITY));
	CHECK(chosen("hca=a,personality=xenib", CHOICE_PERSONALITY) == PERSONALITY_XENIB);
	CHECK(chosen("personality=mlx5,hca=a", CHOICE_PERSONALITY) == PERSONALITY_MLX5);
	refused("hca=a,personality=", "xenib or mlx5");
	refused("hca=a,personality=mlx", "personality=mlx: xenib or mlx5");
	refused("hca=a,personality=mlx5,personality=mlx5", "twice");
}

static void test_services(void)
{
	struct vhca_config config = parse("hca=a,service=0x1000000+ABCdef0123456789");
	char text[SERVICES_TEXT];

	CHECK(config.services.n == 2 && config.services.id[0] == 0x1000000);
	CHECK(config.services.id[1] == 0xabcdef0123456789);
	services_format(text, &config.services);
	CHECK(!strcmp(text, "0x1000000+0xabcdef0123456789"));
	CHECK(parse("hca=a,service=1+2+3+4+5+6+7+ffffffffffffffff").services.n == SERVICES_MAX);
	refused("hca=a,service=", "up to 8 ids");
	refused("hca=a,service=0", "service=0: up to 8 ids");
	refused("hca=a,service=0x", "up to 8 ids");
	refused("hca=a,service=1+", "up to 8 ids");
	refused("hca=a,service=1-2", "up to 8 ids");
	refused("hca=a,service=1+2+1", "up to 8 ids");
	refused("hca=a,service=1+2+3+4+5+6+7+8+9", "up to 8 ids");
	refused("hca=a,service=11112222333344445", "up to 8 ids");
	refused("hca=a,service=1,service=2", "twice");
	refused("hca=a,service=1,kernel=verbs", "service needs kernel=on");
}

static void test_gid(void)
{
	CHECK(!given("hca=a", CHOICE_GID) && chosen("hca=a", CHOICE_GID) == GID_PORT);
	CHECK(given("hca=a,gid=port", CHOICE_GID));
	CHECK(chosen("hca=a,gid=port", CHOICE_GID) == GID_PORT);
	CHECK(chosen("gid=alias,hca=a,kernel=on", CHOICE_GID) == GID_ALIAS);
	refused("hca=a,gid=", "port or alias");
	refused("hca=a,gid=own", "gid=own: port or alias");
	refused("hca=a,gid=alias,gid=alias", "twice");
	refused("kernel=verbs,hca=a,gid=alias", "gid=alias needs kernel=on");
}

static void test_numbers(void)
{
	CHECK(limit("hca=a,max-mr-bytes=2G", "max-mr-bytes") == 2ull << 30);
	CHECK(limit("hca=a,max-mr-bytes=512m", "max-mr-bytes") == 512ull << 20);
	CHECK(limit("hca=a,max-mem-bytes=64K", "max-mem-bytes") == 65536);
	CHECK(limit("hca=a,max-mem-bytes=1T", "max-mem-bytes") == 1ull << 40);
	CHECK(limit("hca=a,max-mem-bytes=4096", "max-mem-bytes") == 4096);
	CHECK(limit("hca=a,max-qp=32768", "max-qp") == 32768);
	refused("hca=a,max-mem-bytes=2T", "to 1099511627776");
	refused("hca=a,max-mem-bytes=4095", "from 4096");
	refused("hca=a,max-mem-bytes=99999999999T", "bytes");
	refused("hca=a,max-mem-bytes=18446744073709551616", "bytes");
	refused("hca=a,max-mem-bytes=16777216T", "bytes"); /* 2^64 */
	refused("hca=a,max-mem-bytes=16777217T",
		"bytes"); /* which overflows to what would be good */
	refused("hca=a,max-mem-bytes=1GG", "bytes");
	refused("hca=a,max-mem-bytes=G", "bytes");
	refused("hca=a,max-qp=1K", "a number");
	refused("hca=a,max-qp=0", "from 1");
	refused("hca=a,max-qp=-1", "a number");
	refused("hca=a,max-qp=+1", "a number");
	refused("hca=a,max-qp=0x10", "a number");
	refused("hca=a,max-qp=32769", "to 32768");
	refused("hca=a,max-qp=", "a number");
	refused("hca=a,port=0", "from 1");
	refused("hca=a,port=255", "to 254");
	refused("hca=a,devid=16", "to 15");
}

static void test_imposed(void)
{
	struct vhca_config config = parse("hca=a,sl=0,qp-rate=2.5G,ud=0,min-timeout=31");

	CHECK(limit("hca=a,sl=0", "sl") == 0 && limit("hca=a,sl=15", "sl") == 15);
	CHECK(limit("hca=a,sl=any", "sl") == limit_key(number_of("sl"))->value);
	CHECK(limit("hca=a,qp-rate=2.5G", "qp-rate") == 2500);
	CHECK(limit("hca=a,qp-rate=800G", "qp-rate") == 800000);
	CHECK(config.limit[number_of("ud")].given && !config.limit[number_of("ud")].value);
	refused("hca=a,sl=16", "a number from 0 to 15, or any");
	refused("hca=a,sl=", "a number from 0");
	refused("hca=a,sl=1,sl=1", "sl is given twice");
	refused("hca=a,qp-rate=7G", "qp-rate=7G: a static rate of InfiniBand, such as 2.5G");
	refused("hca=a,qp-rate=0", "a static rate");
	refused("hca=a,max-rd-atomic=0", "from 1 to 128");
	refused("hca=a,max-qp-wr=15", "from 16");
	refused("hca=a,min-timeout=32", "to 31");
	refused("hca=a,min-rnr-timer=0", "from 1");
	refused("hca=a,ud=2", "from 0 to 1");
	refused("hca=a,max-qp=any", "max-qp=any: a number");

	CHECK(!config_parse_limits("sl=3, ud=0", &config, why, sizeof(why)));
	CHECK(config.limit[number_of("sl")].value == 3 && config.limit[number_of("ud")].given &&
	      !config.limit[number_of("qp-rate")].given);
	CHECK(config_parse_limits("sl=16", &config, why, sizeof(why)) == -EINVAL);
	CHECK(config_parse_limits("max-qp=3", &config, why, sizeof(why)) == -EINVAL &&
	      !strcmp(why, "'max-qp' is none of the keys that can change while a vHCA is in use"));
	CHECK(config_parse_limits("hca=b", &config, why, sizeof(why)) == -EINVAL);
	CHECK(config_parse_limits("", &config, why, sizeof(why)) == -EINVAL);
}

static void test_wrong(void)
{
	char longest[CONFIG_SPEC_MAX + 1];

	refused("", "not KEY=VALUE");
	refused("port=1", "hca is missing");
	refused("hca=", "not a name");
	refused("hca=../../etc", "not a name");
	refused("hca=.", "not a name");
	refused("hca=mlx5 0", "not a name");
	refused("hca=mlx5_0,", "not KEY=VALUE");
	refused("hca=mlx5_0,max-qp", "'max-qp' is not KEY=VALUE");
	refused("hca=mlx5_0,max-qps=4", "unknown key 'max-qps'");
	refused("hca=mlx5_0,=4", "unknown key ''");
	refused("hca=a,hca=b", "hca is given twice");
	refused("hca=a,port=1,port=1", "port is given twice");
	refused("hca=a,devid=0,devid=0", "devid is given twice");
	refused("hca=a,backend=b,backend=b", "backend is given twice");
	refused("hca=a,max-qp=4,max-qp=4", "max-qp is given twice");
	refused("hca=a,\x1b[2J=1", "unknown key '?[2J'");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	refused(longest, "longer than");
	longest[CONFIG_SPEC_MAX - 1] = 0;
	refused(longest, "not KEY=VALUE");
	memcpy(longest, "hca=", 4);
	longest[4 + CONFIG_NAME_MAX] = 0;
	refused(longest, "not a name");
	longest[4 + CONFIG_NAME_MAX - 1] = 0;
	CHECK(strlen(parse(longest).hca) == CONFIG_NAME_MAX - 1);
}

/* What is written of a spec is that spec. */
static void same(const char *spec)
{
	struct vhca_config config = parse(spec), again;
	char text[CONFIG_SPEC_MAX];

	CHECK(config_format_spec(text, &config));
	again = parse(text);
	CHECK(!memcmp(&config, &again, sizeof(config)));
}

static void test_format(void)
{
	char longest[CONFIG_SPEC_MAX] = "hca=a", name[CONFIG_NAME_MAX];
	struct vhca_config config;
	char text[CONFIG_SPEC_MAX];
	unsigned int n;

	same("hca=mlx5_0");
	same("hca=a,sl=0,qp-rate=2.5G,max-rd-atomic=any,max-qp-wr=16,min-timeout=1,min-rnr-timer=any,ud=0");
	same("hca=auto,port=2,devid=3,backend=driver,guid=02163e0000abcdef,pkeys=0+2+64-127,kernel=off,"
	     "max-qp=256,max-mr-bytes=2G,max-mem-bytes=1T");
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	sprintf(longest,
		"hca=%s,backend=%s,port=254,devid=15,guid=ffffffffffffffff,kernel=verbs,pkeys=0",
		name, name);
	for (n = 2; n < PKEYS_MAX; n += 2)
		sprintf(longest + strlen(longest), "+%u", n);
	config = parse(longest);
	for (n = 0; n < LIMITS; n++) {
		config.limit[n].given = true;
		config.limit[n].value = limit_key(n)->most;
	}
	CHECK(config_format_spec(text, &config));
	same(text);
}

int main(void)
{
	test_right();
	test_format();
	test_guid();
	test_pkeys();
	test_kernel();
	test_personality();
	test_gid();
	test_services();
	test_numbers();
	test_imposed();
	test_wrong();
	return EXIT_SUCCESS;
}
