// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands about the function as a whole: start and stop, pages for the firmware, capabilities. */
#include <stdlib.h>

#include "bus/dma.h"
#include "firmware/caps.h"
#include "firmware/cmd_run.h"
#include "objects/destroy.h"
#include "objects/mkey.h"

#define CMD_SYNDROME_BASE 0x20000u

#define ISSI_SUPPORTED 3u /* a bit for each: 0 and 1 */
#define VENDOR_MELLANOX 0x2c9u
#define PSID "XENIB0000000001"

/* What the firmware wants before INIT_HCA, and how much it ever takes. */
#define PAGES_BOOT 8u
#define PAGES_INIT 24u
#define PAGES_MAX 4096u

enum { PAGES_QUERY_BOOT = 1, PAGES_QUERY_INIT = 2, PAGES_QUERY_REGULAR = 3 };
enum { PAGES_CANT_GIVE = 0, PAGES_GIVE = 1, PAGES_TAKE = 2 };

static enum cmd_status enable_hca(struct cmd *cmd)
{
	if (cmd->hca->enabled)
		return cmd_fail(cmd, CMD_BAD_SYS_STATE, "enabled already");
	cmd->hca->enabled = true;
	return CMD_OK;
}

static enum cmd_status disable_hca(struct cmd *cmd)
{
	if (cmd->hca->initialized)
		return cmd_fail(cmd, CMD_BAD_SYS_STATE, "before TEARDOWN_HCA");
	cmd->hca->enabled = false;
	return CMD_OK;
}

static enum cmd_status init_hca(struct cmd *cmd)
{
	if (cmd->hca->initialized)
		return cmd_fail(cmd, CMD_BAD_SYS_STATE, "initialized already");
	if (cmd->hca->fw_pages.count < PAGES_BOOT + PAGES_INIT)
		return cmd_fail(cmd, CMD_NO_RES, "%u pages, %u are wanted",
				cmd->hca->fw_pages.count, PAGES_BOOT + PAGES_INIT);
	cmd->hca->initialized = true;
	return CMD_OK;
}

static enum cmd_status teardown_hca(struct cmd *cmd)
{
	destroy_all(cmd->hca);
	cmd->hca->initialized = false;
	return CMD_OK;
}

static enum cmd_status query_issi(struct cmd *cmd)
{
	put_be32(IFC_ADDR(query_issi_out, cmd->out, supported_issi_dw0), ISSI_SUPPORTED);
	return CMD_OK;
}

static enum cmd_status set_issi(struct cmd *cmd)
{
	uint32_t issi = IFC_GET(set_issi_in, cmd->in, current_issi);

	if (issi >= 32 || !(ISSI_SUPPORTED >> issi & 1))
		return cmd_fail(cmd, CMD_BAD_PARAM, "ISSI %u", issi);
	return CMD_OK;
}

static enum cmd_status query_pages(struct cmd *cmd)
{
	uint32_t have = cmd->hca->fw_pages.count, want;

	switch (cmd->op_mod) {
	case PAGES_QUERY_BOOT:
		want = PAGES_BOOT;
		break;
	case PAGES_QUERY_INIT:
		want = have < PAGES_BOOT + PAGES_INIT ? PAGES_BOOT + PAGES_INIT - have : 0;
		break;
	case PAGES_QUERY_REGULAR:
		want = 0 - have; /* what is to be taken back, as a negative number */
		break;
	default:
		return cmd_fail(cmd, CMD_BAD_PARAM, "op_mod %u", cmd->op_mod);
	}
	IFC_SET(query_pages_out, cmd->out, num_pages, want);
	return CMD_OK;
}

static bool page_known(const struct hca *hca, uint64_t address)
{
	for (uint32_t i = 0; i < hca->fw_pages.count; i++)
		if (hca->fw_pages.addresses[i] == address)
			return true;
	return false;
}

static enum cmd_status pages_give(struct cmd *cmd, uint32_t n)
{
	const uint8_t *list = cmd->in + IFC_BYTE(manage_pages_in, pas);
	struct hca *hca = cmd->hca;
	uint32_t before = hca->fw_pages.count;
	uint64_t *addresses;

	if (n > (cmd->in_len - IFC_BYTE(manage_pages_in, pas)) / 8)
		return cmd_fail(cmd, CMD_BAD_INP_LEN, "%u pages said, fewer in the list", n);
	if (n > PAGES_MAX - before)
		return cmd_fail(cmd, CMD_LIM, "%u more pages", n);
	addresses = realloc(hca->fw_pages.addresses, (before + n + 1) * sizeof(*addresses));
	if (!addresses)
		return cmd_fail(cmd, CMD_NO_RES, "no memory");
	hca->fw_pages.addresses = addresses;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t address = be64_at(list + 8 * i);

		if (address & ((1u << CAP_LOG_PAGE) - 1) || page_known(hca, address) ||
		    !dma_ptr(hca->dma, address, 1u << CAP_LOG_PAGE, DMA_PROT_WRITE)) {
			hca->fw_pages.count = before;
			return cmd_fail(cmd, CMD_BAD_PARAM,
					"page 0x%llx: not aligned, not in memory, or given twice",
					(unsigned long long)address);
		}
		addresses[hca->fw_pages.count++] = address;
	}
	return CMD_OK;
}

static enum cmd_status pages_take(struct cmd *cmd, uint32_t n)
{
	uint8_t *list = cmd->out + IFC_BYTE(manage_pages_out, pas);
	struct hca *hca = cmd->hca;
	uint32_t i;

	if (n > (cmd->out_len - IFC_BYTE(manage_pages_out, pas)) / 8)
		return cmd_fail(cmd, CMD_BAD_OUTP_LEN, "no room for %u pages", n);
	for (i = 0; i < n && hca->fw_pages.count; i++)
		put_be64(list + 8 * i, hca->fw_pages.addresses[--hca->fw_pages.count]);
	IFC_SET(manage_pages_out, cmd->out, output_num_entries, i);
	return CMD_OK;
}

static enum cmd_status manage_pages(struct cmd *cmd)
{
	uint32_t n = IFC_GET(manage_pages_in, cmd->in, input_num_entries);

	switch (cmd->op_mod) {
	case PAGES_CANT_GIVE:
		return CMD_OK;
	case PAGES_GIVE:
		return pages_give(cmd, n);
	case PAGES_TAKE:
		return pages_take(cmd, n);
	default:
		return cmd_fail(cmd, CMD_BAD_PARAM, "op_mod %u", cmd->op_mod);
	}
}

static enum cmd_status set_driver_version(struct cmd *cmd)
{
	const char *version = (char *)IFC_ADDR(set_driver_version_in, cmd->in, driver_version);

	hca_log(cmd->hca, HCA_LOG_INFO, "driver %.64s", version);
	return CMD_OK;
}

static enum cmd_status query_adapter(struct cmd *cmd)
{
	IFC_SET(query_adapter_out, cmd->out, query_adapter_struct.ieee_vendor_id, VENDOR_MELLANOX);
	memcpy(IFC_ADDR(query_adapter_out, cmd->out, query_adapter_struct.vsd_contd_psid), PSID,
	       sizeof(PSID) - 1);
	return CMD_OK;
}

static enum cmd_status query_hca_cap(struct cmd *cmd)
{
	uint32_t room = cmd->out_len < CMD_ROOM ? CMD_ROOM : cmd->out_len;
	uint32_t at = IFC_BYTE(query_hca_cap_out, capability);
	bool no_odp = !hca_has_odp(cmd->hca);
	unsigned int type = cmd->op_mod >> 1;

	if ((type == CAPS_ODP && no_odp) ||
	    caps_query(cmd->hca->caps, type, cmd->op_mod & 1, cmd->out + at, room - at))
		return cmd_fail(cmd, CMD_BAD_PARAM, "no capabilities of type %u", type);
	if (type != CAPS_GENERAL)
		return CMD_OK;
	if (no_odp)
		IFC_SET(cmd_hca_cap, cmd->out + at, pg, 0);
	IFC_SET(cmd_hca_cap, cmd->out + at, cq_moderation, cmd->hca->faults.moderation);
	IFC_SET(cmd_hca_cap, cmd->out + at, local_ca_ack_delay, cmd->hca->ack_delay);
	return CMD_OK;
}

static enum cmd_status set_hca_cap(struct cmd *cmd)
{
	if (cmd->hca->initialized)
		return cmd_fail(cmd, CMD_BAD_SYS_STATE, "after INIT_HCA");
	if (caps_set(cmd->hca->caps, cmd->op_mod >> 1,
		     cmd->in + IFC_BYTE(set_hca_cap_in, capability)))
		return cmd_fail(cmd, CMD_BAD_PARAM, "type %u, or more than there is",
				cmd->op_mod >> 1);
	return CMD_OK;
}

static enum cmd_status query_special_contexts(struct cmd *cmd)
{
	IFC_SET(query_special_contexts_out, cmd->out, resd_lkey, MKEY_RESERVED_LKEY);
	IFC_SET(query_special_contexts_out, cmd->out, dump_fill_mkey, MKEY_DUMP_FILL);
	return CMD_OK;
}

static enum cmd_status nop(struct cmd *cmd)
{
	(void)cmd;
	return CMD_OK;
}

/* Commands with lists or unions at their end: the least length is that of what comes before. */
#define UPTO(op, layout, in_field, out_field, when, fn, user) \
	{ MLX5_CMD_OP_##op, \
	  #op, \
	  IFC_BYTE(layout##_in, in_field), \
	  IFC_BYTE(layout##_out, out_field), \
	  when, \
	  fn, \
	  user }

const struct cmd_desc cmd_table_hca[] = {
	CMD_DESC(ENABLE_HCA, enable_hca, CMD_ALWAYS, enable_hca, false),
	CMD_DESC(DISABLE_HCA, disable_hca, CMD_ENABLED, disable_hca, false),
	CMD_DESC(INIT_HCA, init_hca, CMD_ENABLED, init_hca, false),
	CMD_DESC(TEARDOWN_HCA, teardown_hca, CMD_ENABLED, teardown_hca, false),
	CMD_DESC(QUERY_ISSI, query_issi, CMD_ENABLED, query_issi, false),
	CMD_DESC(SET_ISSI, set_issi, CMD_ENABLED, set_issi, false),
	CMD_DESC(QUERY_PAGES, query_pages, CMD_ENABLED, query_pages, false),
	UPTO(MANAGE_PAGES, manage_pages, pas, pas, CMD_ENABLED, manage_pages, false),
	CMD_DESC(SET_DRIVER_VERSION, set_driver_version, CMD_INITIALIZED, set_driver_version,
		 false),
	CMD_DESC(QUERY_ADAPTER, query_adapter, CMD_ENABLED, query_adapter, false),
	UPTO(QUERY_HCA_CAP, query_hca_cap, other_function, capability, CMD_ENABLED, query_hca_cap,
	     true),
	UPTO(SET_HCA_CAP, set_hca_cap, capability, syndrome, CMD_ENABLED, set_hca_cap, false),
	CMD_DESC(QUERY_SPECIAL_CONTEXTS, query_special_contexts, CMD_ENABLED,
		 query_special_contexts, true),
	CMD_DESC(NOP, nop, CMD_ALWAYS, nop, false),
	{ 0 },
};
