/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One HCA function: what hangs together behind one PCI device.
 *
 *   bus/        messages from QEMU, config space, interrupt vectors, DMA, BAR0: initialization
 *               segment and UAR pages
 *   firmware/   the command queue, one function for each command; the port
 *   objects/    EQ, CQ, SRQ, memory key, QP, UAR
 *   engine/     the data path: what a WQE says, who does what with it; the switch that joins all
 *               functions
 *   control/    what the outside may see and break
 */
#ifndef HCA_HCA_H
#define HCA_HCA_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/port.h"
#include "loop.h"
#include "objects/obj.h"

struct cmdq;
struct caps;
struct dma_space;
struct fabric;
struct qp;

#define HCA_BAR0_SIZE (32u << 20)
#define HCA_UAR_SIZE 4096u
#define HCA_UAR_FIRST 16u /* index of the first UAR: the BAR below holds the registers */
#define HCA_UAR_LAST (HCA_BAR0_SIZE / HCA_UAR_SIZE - 1)
#define HCA_MSIX_VECTORS 32u
#define HCA_MSIX_TABLE 0x4000u
#define HCA_MSIX_PBA 0x5000u
#define HCA_MKEY_TABLES (1ull << 30) /* bytes, for all keys of a function */
#define HCA_QUEUE_PAGES (8u << 20)   /* in the page lists of all queues of a function */
#define HCA_CLOCK_KHZ 156250u        /* of the internal timer: device_frequency_khz */
#define HCA_ACK_DELAY 16u            /* local_ca_ack_delay, unless it is told another one */

/* Counted for each function; read through the control socket. */
struct hca_stats {
	uint64_t commands, commands_failed;
	uint64_t doorbells, doorbells_refused; /* all UARs; each UAR has its own as well */
	uint64_t messages_sent, messages_received, bytes_sent, bytes_received;
	uint64_t packets_sent, packets_received, packets_dropped, packets_retried;
	uint64_t cqes, cqe_errors, eqes, interrupts;
	uint64_t umr, rnr_naks_sent, access_errors, bad_wqes, bad_dma;
};

/* Faults asked for through the control socket. */
#define HCA_FAULT_COMMANDS 8
struct hca_faults {
	struct {
		uint16_t opcode; /* 0: unused entry */
		uint8_t status;  /* enum cmd_status */
		uint32_t syndrome;
		uint32_t count; /* how many more times */
	} command[HCA_FAULT_COMMANDS];
	uint32_t drop_next;     /* packets sent by this port that are still to be dropped */
	uint32_t drop_permille; /* of packets sent by this port, at random */
	uint64_t delay_ns;      /* of packets sent by this port */
	bool link_down;
	bool fatal;  /* the device is dead until cleared */
	bool no_odp; /* a device without on-demand paging, which its driver asks for when it comes */
	bool moderation; /* no fault: one with moderation of CQs */
};

struct hca {
	unsigned int index;     /* in the fabric; GUIDs and LID follow from it */
	bool never_odp;         /* as no_odp above, and no fault that is cleared */
	unsigned int ack_delay; /* local_ca_ack_delay */
	struct loop *loop;
	struct fabric *fabric;
	struct dma_space *dma; /* made by hca_new(), filled by the bus side */

	/*
	 * The bus. msix() raises a vector and counts stats.interrupts (masked: it stays pending;
	 * nobody listens: it is lost). NULL: there is no bus.
	 */
	void (*msix)(struct hca *hca, unsigned int vector);
	void *bus;

	/* Registers of the initialization segment, owned by bus/bar.c. */
	struct {
		uint32_t cmdq_high;
		uint8_t nic_interface; /* MLX5_INITIAL_SEG_NIC_INTERFACE_* */
	} bar;

	/* The firmware's state, owned by firmware/cmdq.c and its cmd_*.c. */
	struct cmdq *cmdq;
	struct caps *caps;
	bool enabled, initialized; /* between ENABLE/DISABLE_HCA, INIT/TEARDOWN_HCA */
	struct {
		uint64_t *addresses; /* owned */
		uint32_t count;
	} fw_pages; /* the machine's memory lent to the firmware, by MANAGE_PAGES */

	struct obj_table *objs[OBJ_TYPES];
	uint32_t queue_pages; /* of at most HCA_QUEUE_PAGES */
	uint64_t mkey_tables; /* bytes that the tables of memory keys take */
	/* QP0 and QP1: what the fabric addresses by these numbers. NULL: none; set by firmware/cmd_qp.c. */
	struct qp *special_qp[2];
	struct port port;
	bool external_sm; /* the port starts in INIT without a LID, for a subnet manager (fabric_manage()) */
	bool peer_disabled; /* the port at the other end of the link: no link then */
	struct hca_stats stats;
	struct hca_faults faults;
};

static inline bool hca_has_odp(const struct hca *hca)
{
	return !hca->never_odp && !hca->faults.no_odp;
}

/* Makes function number index, joined to fabric. NULL if memory is short. */
struct hca *hca_new(struct loop *loop, struct fabric *fabric, unsigned int index);
void hca_free(struct hca *hca);

/*
 * Back to what it is at power-on: all objects gone, nothing in flight, registers as at start
 * (it calls hca_bar_reset()). The faults that were asked for stay, and so do the counters. At a
 * PCI reset, at FLR, when the firmware crashes (hca_set_fatal()), and when the machine has gone
 * (the bus side then drops the memory).
 */
void hca_reset(struct hca *hca);
void hca_bar_reset(struct hca *hca);

/* BAR0 accesses (bus/bar.c), little concern for alignment: what a driver does not do reads as 0. */
void hca_bar_read(struct hca *hca, uint64_t off, void *buf, uint32_t len);
void hca_bar_write(struct hca *hca, uint64_t off, const void *buf, uint32_t len);

/*
 * Faults that have effects of their own when they change. The link: port events (firmware/port.c).
 *
 * Fatal (bus/bar.c): the firmware crashes. All that it knew is gone, commands and doorbells have no
 * effect, and the health buffer asks for a reset, which the driver notices at its next poll.
 * Its reset brings the firmware to its start, where it stays (initializing) until the fault is
 * cleared; the driver waits for that, up to two minutes. Cleared before the driver asked for a
 * reset, the firmware starts by itself: the driver sees its NIC interface disabled.
 */
void hca_set_link(struct hca *hca, bool up);
void hca_set_fatal(struct hca *hca, bool fatal);

#define HCA_LOG_ERROR 0 /* the model's own trouble */
#define HCA_LOG_GUEST 1 /* the driver did something a card refuses */
#define HCA_LOG_INFO 2
#define HCA_LOG_TRACE 3
extern int hca_log_level; /* HCA_LOG_ERROR until set otherwise */
/* Appends to the file at path instead of standard error. 0 or -errno. */
int hca_log_open(const char *path);
void hca_log_at(const struct hca *hca, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Arguments are only evaluated when the level is on. Guest-caused lines are rate limited inside. */
#define hca_log(hca, level, ...) \
	do { \
		if ((level) <= hca_log_level) \
			hca_log_at((hca), (level), __VA_ARGS__); \
	} while (0)

/* The internal timer, in ticks of HCA_CLOCK_KHZ. */
uint64_t hca_ticks(const struct hca *hca);

#endif
