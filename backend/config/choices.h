/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * choices.h - keys of a vHCA's configuration whose value is one of a few words.
 */
#ifndef XEN_IB_CONFIG_CHOICES_H
#define XEN_IB_CONFIG_CHOICES_H

#include <stdbool.h>

enum choice { CHOICE_KERNEL, CHOICE_PERSONALITY, CHOICE_GID, CHOICES };

/* What the guest's kernel itself may do with the vHCA, beside what its programs do. */
enum choice_kernel {
	KERNEL_OFF,
	KERNEL_VERBS, /* queues and memory, but no part in the fabric's management */
	KERNEL_ON     /* by default */
};

/* What the vHCA is for user space of the guest: which provider of libibverbs binds to it. */
enum choice_personality {
	PERSONALITY_XENIB, /* by default */
	PERSONALITY_MLX5
};

/* By which GID the guest is known in the fabric. */
enum choice_gid {
	GID_PORT, /* by default: that of the port, as all of it */
	GID_ALIAS /* one of its own, which the SA gives the port beside that */
};

/* Of a vHCA. Those that are not given have their defaults. */
struct choices {
	struct {
		bool given;
		unsigned int value;
	} of[CHOICES]; /* by enum choice */
};

/* choice_key - of a choice below CHOICES: its name in a configuration, and in the backend's xenstore directory. */
const char *choice_key(enum choice choice);

/* choice_find - of a key. CHOICES: it is none. */
enum choice choice_find(const char *key);

/* choice_word - for a value that choice_default() or choice_parse() gave. */
const char *choice_word(enum choice choice, unsigned int value);

/* choice_words - all of them, for a message: "off, verbs or on". */
const char *choice_words(enum choice choice);

/* choice_default - the value of one that is not given. */
unsigned int choice_default(enum choice choice);

/* choice_parse - false: it is none of the choice's words, and *value is as before. */
bool choice_parse(enum choice choice, const char *word, unsigned int *value);

/* choices_init - none is given. */
void choices_init(struct choices *choices);

#endif
