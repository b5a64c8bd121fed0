// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * choices.c - see choices.h.
 */
#include <string.h>

#include "config/choices.h"

#define WORDS_MAX 3

static const struct {
	const char *key;
	const char *words;
	const char *word[WORDS_MAX]; /* by value */
	unsigned int usual;
} choices[CHOICES] = {
	[CHOICE_KERNEL] = {
		.key = "kernel",
		.words = "off, verbs or on",
		.word = { [KERNEL_OFF] = "off", [KERNEL_VERBS] = "verbs", [KERNEL_ON] = "on" },
		.usual = KERNEL_ON,
	},
	[CHOICE_PERSONALITY] = {
		.key = "personality",
		.words = "xenib or mlx5",
		.word = { [PERSONALITY_XENIB] = "xenib", [PERSONALITY_MLX5] = "mlx5" },
		.usual = PERSONALITY_XENIB,
	},
	[CHOICE_GID] = {
		.key = "gid",
		.words = "port or alias",
		.word = { [GID_PORT] = "port", [GID_ALIAS] = "alias" },
		.usual = GID_PORT,
	},
};

const char *choice_key(enum choice choice)
{
	return choices[choice].key;
}

enum choice choice_find(const char *key)
{
	enum choice choice = 0;

	while (choice < CHOICES && strcmp(key, choices[choice].key))
		choice++;
	return choice;
}

const char *choice_word(enum choice choice, unsigned int value)
{
	return choices[choice].word[value];
}

const char *choice_words(enum choice choice)
{
	return choices[choice].words;
}

unsigned int choice_default(enum choice choice)
{
	return choices[choice].usual;
}

bool choice_parse(enum choice choice, const char *word, unsigned int *value)
{
	unsigned int i;

	for (i = 0; i < WORDS_MAX && choices[choice].word[i]; i++) {
		if (strcmp(word, choices[choice].word[i]))
			continue;
		*value = i;
		return true;
	}
	return false;
}

void choices_init(struct choices *c)
{
	enum choice choice;

	for (choice = 0; choice < CHOICES; choice++) {
		c->of[choice].given = false;
		c->of[choice].value = choice_default(choice);
	}
}
