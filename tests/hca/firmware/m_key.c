// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "firmware/m_key.h"
#include "firmware/mad.h"
#include "firmware/port_info.h"
#include "ifc.h"

#define NS_PER_S 1000000000ull

bool m_key_matches(const struct m_key *k, const uint8_t *mad)
{
	return !k->key || be64_at(mad + MAD_SMP_MKEY) == k->key;
}

/*
 * Sets need the key if there is one, Gets if the protection bits say so. A manager that has lost the
 * key gets in once the lease is over, which starts at the first mismatch.
 */
bool m_key_allows(struct m_key *k, uint64_t now, bool set, bool matched)
{
	if (matched) {
		k->lease_end = 0;
		return true;
	}
	if (k->lease_end && now >= k->lease_end)
		k->protect = 0;
	if (!set && k->protect < 2)
		return true;
	if (k->lease && !k->lease_end)
		k->lease_end = now + k->lease * NS_PER_S;
	if (k->violations < UINT16_MAX)
		k->violations++;
	return false;
}

void m_key_get(const struct m_key *k, bool show, uint8_t *d)
{
	if (show || !k->protect)
		put_be64(d + PI_MKEY, k->key);
	put_be16(d + PI_MKEY_LEASE, k->lease);
	d[PI_PROTECT_LMC] |= (uint8_t)(k->protect << 6);
	put_be16(d + PI_MKEY_VIOLATIONS, k->violations);
}

void m_key_set(struct m_key *k, const uint8_t *d)
{
	k->key = be64_at(d + PI_MKEY);
	k->lease = be16_at(d + PI_MKEY_LEASE);
	k->protect = d[PI_PROTECT_LMC] >> 6;
	k->violations = be16_at(d + PI_MKEY_VIOLATIONS);
}
