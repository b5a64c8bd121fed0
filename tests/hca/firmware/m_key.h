/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The M_Key (IBTA vol. 1, 14.2.4): who may manage a port, or a switch. */
#ifndef HCA_M_KEY_H
#define HCA_M_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct m_key {
	uint64_t key; /* 0: everybody may */
	uint16_t lease, violations;
	uint8_t protect;
	uint64_t lease_end; /* 0: nobody has tried to get in without the key */
};

/* Whether a management packet has the key. */
bool m_key_matches(const struct m_key *k, const uint8_t *mad);
/* Whether a Get or Set is carried out; else there is no answer. */
bool m_key_allows(struct m_key *k, uint64_t now, bool set, bool matched);

/* Its fields of PortInfo; show: the key itself may be read even where it is protected. */
void m_key_get(const struct m_key *k, bool show, uint8_t *d);
void m_key_set(struct m_key *k, const uint8_t *d);

#endif
