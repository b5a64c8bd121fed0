// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* P_KeyTable (IBTA vol. 1, 14.2.5.7), of ports of HCAs and of the switch. */
#include "firmware/mad.h"
#include "firmware/port.h"
#include "ifc.h"

#define PKEYS_PER_BLOCK 32u

uint16_t mad_pkey_table(uint16_t *pkeys, bool set, uint8_t *d, bool *changed)
{
	for (unsigned int i = PORT_PKEYS; set && i < PKEYS_PER_BLOCK; i++)
		if (be16_at(d + 2 * i))
			return MAD_BAD_VALUE;
	for (unsigned int i = 0; set && i < PORT_PKEYS; i++) {
		uint16_t pkey = be16_at(d + 2 * i);

		*changed |= pkeys[i] != pkey;
		pkeys[i] = pkey;
	}
	memset(d, 0, MAD_SMP_DATA_LEN);
	for (unsigned int i = 0; i < PORT_PKEYS; i++)
		put_be16(d + 2 * i, pkeys[i]);
	return MAD_OK;
}
