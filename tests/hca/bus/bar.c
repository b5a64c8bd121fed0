// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * BAR0: the initialization segment (struct mlx5_init_seg in linux/mlx5/device.h, with which the
 * offsets here agree), the firmware's health as the driver polls it, and the way to the UARs.
 */
#include <string.h>

#include "firmware/cmdq.h"
#include "hca.h"
#include "ifc.h"
#include "objects/uar.h"

#define FW_MAJOR 16u
#define FW_MINOR 35u
#define FW_SUBMINOR 4030u
#define CMDIF_REVISION 5u
#define HW_ID_CONNECTX5 0x20du

/* Offsets in the segment, of 32-bit big-endian words. */
enum {
	SEG_FW_REV = 0x0,
	SEG_CMDIF_REV = 0x4,
	SEG_CMDQ_HIGH = 0x10,
	SEG_CMDQ_LOW = 0x14,
	SEG_CMD_DOORBELL = 0x18,
	SEG_INITIALIZING = 0x1fc,
	SEG_HEALTH = 0x200,
	SEG_HEALTH_FW_VER = SEG_HEALTH + 0x30,
	SEG_HEALTH_HW_ID = SEG_HEALTH + 0x34,
	SEG_HEALTH_SEVERITY = SEG_HEALTH + 0x38,
	SEG_HEALTH_SYNDROME = SEG_HEALTH + 0x3c,
	SEG_TIMER_HIGH = 0x1000,
	SEG_TIMER_LOW = 0x1004,
	SEG_HEALTH_COUNTER = 0x1010,
	SEG_END = 0x1014, /* of what is not 0 */
};

#define INITIALIZING (1u << 31)
#define FW_RESET_SUPPORTED (1u << 30)

#define NIC_SHIFT 8
#define NIC_MASK 7u
#define NIC_FULL MLX5_INITIAL_SEG_NIC_INTERFACE_FULL_DRIVER
#define NIC_DISABLED MLX5_INITIAL_SEG_NIC_INTERFACE_DISABLED
#define NIC_SW_RESET MLX5_INITIAL_SEG_NIC_INTERFACE_SW_RESET

/* The health buffer of a crash: reset requested, severity "critical", firmware internal error. */
#define HEALTH_RESET_REQUEST (1u << 7)
#define HEALTH_SEVERITY_VALID (1u << 3)
#define HEALTH_CRITICAL 2u
#define SYNDROME_FW_INTERNAL 0x1u

#define COUNTER_PERIOD_NS 10000000ull
#define COUNTER_MASK 0xffffffu

void hca_bar_reset(struct hca *hca)
{
	hca->bar.cmdq_high = 0;
	hca->bar.nic_interface = NIC_DISABLED;
}

/* Crashed under a driver, as opposed to waiting at its start. */
static bool fw_crashed(const struct hca *hca)
{
	return hca->faults.fatal && hca->bar.nic_interface == NIC_FULL;
}

static bool fw_runs(const struct hca *hca)
{
	return !hca->faults.fatal && hca->bar.nic_interface == NIC_FULL;
}

/* Split so that the product does not overflow for centuries. */
uint64_t hca_ticks(const struct hca *hca)
{
	uint64_t ns = loop_now(hca->loop);

	return ns / 1000000 * HCA_CLOCK_KHZ + ns % 1000000 * HCA_CLOCK_KHZ / 1000000;
}

/* Stands still after a crash. Never 0, which the driver takes for "not alive yet". */
static uint32_t health_counter(const struct hca *hca)
{
	uint32_t count;

	if (fw_crashed(hca))
		return 1;
	count = (uint32_t)(loop_now(hca->loop) / COUNTER_PERIOD_NS) & COUNTER_MASK;
	return count ? count : 1;
}

static uint32_t segment_read(const struct hca *hca, uint32_t off)
{
	switch (off) {
	case SEG_FW_REV:
		return FW_MINOR << 16 | FW_MAJOR;
	case SEG_CMDIF_REV:
		return CMDIF_REVISION << 16 | FW_SUBMINOR;
	case SEG_CMDQ_HIGH:
		return hca->bar.cmdq_high;
	case SEG_CMDQ_LOW:
		return (uint32_t)hca->bar.nic_interface << NIC_SHIFT | CMDQ_LOG_SIZE << 4 |
		       CMDQ_LOG_STRIDE;
	case SEG_INITIALIZING:
		return FW_RESET_SUPPORTED |
		       (hca->faults.fatal && !fw_crashed(hca) ? INITIALIZING : 0);
	case SEG_HEALTH_FW_VER:
		return FW_MAJOR << 24 | FW_MINOR << 16 | FW_SUBMINOR;
	case SEG_HEALTH_HW_ID:
		return HW_ID_CONNECTX5;
	case SEG_HEALTH_SEVERITY:
		if (!fw_crashed(hca))
			return 0;
		return (HEALTH_RESET_REQUEST | HEALTH_SEVERITY_VALID | HEALTH_CRITICAL) << 24;
	case SEG_HEALTH_SYNDROME:
		return fw_crashed(hca) ? SYNDROME_FW_INTERNAL << 16 : 0;
	case SEG_TIMER_HIGH:
		return (uint32_t)(hca_ticks(hca) >> 32);
	case SEG_TIMER_LOW:
		return (uint32_t)hca_ticks(hca);
	case SEG_HEALTH_COUNTER:
		return health_counter(hca);
	default:
		return 0;
	}
}

/* The low half of the queue's address comes last, together with what the driver wants of the NIC. */
static void nic_interface_write(struct hca *hca, uint32_t value)
{
	uint32_t nic = value >> NIC_SHIFT & NIC_MASK;

	switch (nic) {
	case NIC_FULL:
		if (hca->faults.fatal) {
			hca_log(hca, HCA_LOG_GUEST,
				"the command queue is set up while the firmware is down");
			return;
		}
		hca->bar.nic_interface = NIC_FULL;
		cmdq_set_address(hca, (uint64_t)hca->bar.cmdq_high << 32 | (value & ~0xfffu));
		break;
	case NIC_DISABLED:
	case NIC_SW_RESET:
		hca_log(hca, HCA_LOG_INFO, "the driver resets the firmware");
		hca_reset(hca);
		break;
	default:
		hca_log(hca, HCA_LOG_GUEST, "NIC interface %u does not exist", nic);
		break;
	}
}

static void segment_write(struct hca *hca, uint32_t off, uint32_t value)
{
	switch (off) {
	case SEG_CMDQ_HIGH:
		hca->bar.cmdq_high = value;
		break;
	case SEG_CMDQ_LOW:
		nic_interface_write(hca, value);
		break;
	case SEG_CMD_DOORBELL:
		if (fw_runs(hca))
			cmdq_doorbell(hca, value);
		else
			hca_log(hca, HCA_LOG_GUEST, "command doorbell while the firmware is down");
		break;
	default:
		hca_log(hca, HCA_LOG_GUEST, "write of %08x to register 0x%x, which is read only",
			value, off);
		break;
	}
}

void hca_bar_read(struct hca *hca, uint64_t off, void *buf, uint32_t len)
{
	uint8_t *b = buf;

	memset(buf, 0, len);
	while (len) {
		uint32_t in_word = (uint32_t)(off & 3), n = 4 - in_word;
		uint32_t word;

		if (n > len)
			n = len;
		if (off >= SEG_END)
			return;
		word = htobe32(segment_read(hca, (uint32_t)(off - in_word)));
		memcpy(b, (uint8_t *)&word + in_word, n);
		b += n;
		off += n;
		len -= n;
	}
}

static void uar_write(struct hca *hca, uint64_t off, const uint8_t *b, uint32_t len)
{
	if (!fw_runs(hca)) {
		hca->stats.doorbells_refused++;
		return;
	}
	while (len) {
		uint32_t in_page = (uint32_t)(off % HCA_UAR_SIZE), n = HCA_UAR_SIZE - in_page;

		if (n > len)
			n = len;
		uar_store(hca, (uint32_t)(off / HCA_UAR_SIZE), in_page, b, n);
		b += n;
		off += n;
		len -= n;
	}
}

void hca_bar_write(struct hca *hca, uint64_t off, const void *buf, uint32_t len)
{
	const uint8_t *b = buf;

	if (off >= HCA_UAR_FIRST * HCA_UAR_SIZE) {
		uar_write(hca, off, b, len);
		return;
	}
	if (off & 3 || len & 3) {
		hca_log(hca, HCA_LOG_GUEST,
			"write of %u bytes to register 0x%x: registers are words", len,
			(unsigned int)off);
		return;
	}
	for (uint32_t i = 0; i < len && off + i < HCA_UAR_FIRST * HCA_UAR_SIZE; i += 4)
		segment_write(hca, (uint32_t)off + i, be32_at(b + i));
}

void hca_set_fatal(struct hca *hca, bool fatal)
{
	bool driver_there = hca->enabled;

	if (hca->faults.fatal == fatal)
		return;
	hca_log(hca, HCA_LOG_INFO, fatal ? "the firmware crashes" : "the firmware starts again");
	hca->faults.fatal = fatal;
	hca_reset(hca);
	if (fatal && driver_there)
		hca->bar.nic_interface = NIC_FULL; /* it finds a crash, not a reset */
}
