// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The parsers of send and receive WQEs: whatever the bytes, what comes out stays inside of them. */
#include <stdlib.h>
#include <string.h>

#include "engine/wqe.h"
#include "ifc.h"

#define MAX_MESSAGE (1u << 30)

static void need(bool ok)
{
	if (!ok)
		abort();
}

static void check_send(const struct wqe *w)
{
	uint64_t length = 0;

	need(w->nsegs <= WQE_MAX_SEGS && w->blocks >= 1);
	for (unsigned int i = 0; i < w->nsegs; i++) {
		length += w->segs[i].bytes;
		if (w->segs[i].is_inline)
			need(w->segs[i].addr + w->segs[i].bytes <= w->bytes);
	}
	need(length == w->length && length <= MAX_MESSAGE);
	need((uint32_t)w->umr_data + w->umr_bytes <= w->bytes);
}

static void try_send(const uint8_t *data, size_t size, bool repair)
{
	static struct wqe w; /* as large as a WQE can be: what is not copied is poison to read */

	for (int t = QP_RC; t <= QP_UMR; t++) {
		uint32_t qpn = 0x123456;
		uint16_t index = 7;

		memset(&w, 0xa5, sizeof(w));
		w.bytes = (uint16_t)(size < WQE_MAX ? size : WQE_MAX);
		memcpy(w.copy, data, w.bytes);
		if (repair && w.bytes >= 16) {
			/* What has to agree does, so that the rest is reached. */
			w.bytes &= ~15u;
			if (w.bytes > 63 * 16)
				w.bytes = 63 * 16;
			w.copy[0] = 0;
			put_be16(w.copy + 1, index);
			put_be32(w.copy + 4, qpn << 8 | w.bytes / 16);
		}
		if (wqe_parse(&w, t, qpn, index, MAX_MESSAGE) == WQE_OK)
			check_send(&w);
	}
}

static void try_receive(const uint8_t *data, size_t size)
{
	uint8_t bytes[RECV_WQE_MAX] = { 0 };
	struct recv_wqe w;
	uint64_t length = 0;
	size_t len = size < sizeof(bytes) ? size & ~(size_t)15 : sizeof(bytes);

	memcpy(bytes, data, len);
	recv_wqe_parse(&w, bytes, len);
	need(w.nsegs <= len / 16);
	for (unsigned int i = 0; i < w.nsegs; i++)
		length += w.segs[i].bytes;
	need(w.length == (length > UINT32_MAX ? UINT32_MAX : length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_send(data, size, false);
	try_send(data, size, true);
	try_receive(data, size);
	return 0;
}
