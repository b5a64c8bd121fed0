// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * spec_format.c - see spec.h: a vHCA as an administrator would write it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "config/guid.h"
#include "config/spec.h"

struct writer {
	char *text;
	size_t used;
};

/* What does not fit is counted all the same. */
__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
	const size_t used = w->used < CONFIG_SPEC_MAX ? w->used : CONFIG_SPEC_MAX;
	va_list args;

	va_start(args, format);
	w->used += vsnprintf(w->text + used, CONFIG_SPEC_MAX - used, format, args);
	va_end(args);
}

static void put_names(struct writer *w, const struct vhca_config *config)
{
	char guid[GUID_TEXT], pkeys[PKEYS_TEXT], services[SERVICES_TEXT];
	enum choice choice;

	if (config->backend[0])
		put(w, ",backend=%s", config->backend);
	if (config->guid) {
		guid_format(guid, config->guid);
		put(w, ",guid=%s", guid);
	}
	if (config->pkeys.given) {
		pkeys_format(pkeys, &config->pkeys);
		put(w, "," CONFIG_PKEYS "=%s", pkeys);
	}
	if (config->services.n) {
		services_format(services, &config->services);
		put(w, "," CONFIG_SERVICE "=%s", services);
	}
	for (choice = 0; choice < CHOICES; choice++) {
		if (!config->choices.of[choice].given)
			continue;
		put(w, ",%s=%s", choice_key(choice),
		    choice_word(choice, config->choices.of[choice].value));
	}
}

bool config_format_spec(char spec[CONFIG_SPEC_MAX], const struct vhca_config *config)
{
	struct writer w = { .text = spec };
	char value[LIMIT_TEXT];
	unsigned int i;

	put(&w, "hca=%s,port=%u", config->hca, config->port);
	if (config->devid >= 0)
		put(&w, ",devid=%d", config->devid);
	put_names(&w, config);
	for (i = 0; i < LIMITS; i++) {
		if (!config->limit[i].given)
			continue;
		limit_format(value, i, config->limit[i].value);
		put(&w, ",%s=%s", limit_key(i)->name, value);
	}
	return w.used < CONFIG_SPEC_MAX;
}
