/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * sa_mad.h - where the fields of an SA's MAD are (InfiniBand, 15.2.1.1), and of an MCMemberRecord
 * in it (15.2.5.17). A MAD is 256 bytes; what is here is all that is ever looked at.
 */
#ifndef XEN_IBGSI_SA_MAD_H
#define XEN_IBGSI_SA_MAD_H

#define MAD_BASE_VERSION 0
#define MAD_CLASS 1
#define MAD_CLASS_VERSION 2
#define MAD_METHOD 3
#define MAD_STATUS 4
#define MAD_TID 8
#define MAD_ATTR 16

#define RMPP_TYPE 25
#define RMPP_FLAGS 26

#define SA_KEY 36
#define SA_COMP_MASK 48
#define SA_DATA 56

#define SA_CLASS_VERSION 2
#define SA_ATTR_MCMEMBER 0x38

#define SA_STATUS_NO_RESOURCES 0x0100
#define SA_STATUS_REQ_INVALID 0x0200

#define MC_MGID (SA_DATA + 0)
#define MC_PORT_GID (SA_DATA + 16)
#define MC_QKEY (SA_DATA + 32)
#define MC_MLID (SA_DATA + 36)
#define MC_MTU (SA_DATA + 38) /* 2 bits of selector, 6 of value */
#define MC_TCLASS (SA_DATA + 39)
#define MC_PKEY (SA_DATA + 40)
#define MC_RATE (SA_DATA + 42)        /* as the MTU */
#define MC_LIFE (SA_DATA + 43)        /* as the MTU */
#define MC_SL_FLOW_HOP (SA_DATA + 44) /* 4, 20 and 8 bits */
#define MC_SCOPE_STATE (SA_DATA + 48) /* 4 and 4 bits */
#define MC_PROXY (SA_DATA + 49)       /* 1 bit, the highest */

#endif
