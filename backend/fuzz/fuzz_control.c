// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz_control.c - what clients send to the control socket, in pieces; and the tool's side: listings of a
 * daemon that may say anything. The first byte chooses.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/control.h"
#include "admin/listing.h"
#include "admin/metrics.h"
#include "unit/fakes/fixture.h"

static void check_text(const char *text, size_t size)
{
	CHECK(memchr(text, 0, size));
	for (; *text; text++)
		CHECK(*text >= ' ' && *text <= '~');
}

static void answer(void *from, const struct control_request *req, struct control_reply *reply)
{
	(void)from;
	check_text(req->domain, sizeof(req->domain));
	check_text(req->spec, sizeof(req->spec));
	CHECK(req->verb <= CONTROL_METRICS && (!req->has_devid || req->devid <= 0xffff));
	CHECK(!(req->verb == CONTROL_ATTACH) == !req->spec[0]);
	CHECK(req->verb != CONTROL_DETACH || (req->domain[0] && req->has_devid));
	if (req->devid == 7)
		control_fail(reply, CONTROL_NOT_FOUND, "%s", req->domain);
	else
		fprintf(reply->body, "%s %s\n", req->domain, req->spec);
}

/* Each answer is "ok N\n" and N bytes, or "error ...\n". */
static void check_answers(const char *text, size_t size)
{
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t length = 0;

		CHECK(end);
		if (*text == 'o')
			CHECK(sscanf(text, "ok %zu", &length) == 1);
		else
			CHECK(!strncmp(text, "error ", 6));
		length += end + 1 - text;
		CHECK(length <= size);
		text += length;
		size -= length;
	}
}

static void serve(const uint8_t *data, size_t size)
{
	static char got[1 << 20];
	static struct control *control;
	size_t have = 0, piece, step = size ? 1 + data[0] * 8 : 1;
	int pair[2];
	ssize_t n;

	if (!control)
		control = control_open("/tmp/xen-ib-fuzz-control", answer, NULL);
	CHECK(control && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	control_adopt(control, pair[1]);
	for (; size; data += piece, size -= piece) {
		piece = step < size ? step : size;
		n = send(pair[0], data, piece, MSG_NOSIGNAL);
		if (n <= 0)
			break;
		piece = n;
		control_service(control);
	}
	shutdown(pair[0], SHUT_WR);
	do {
		control_service(control);
		n = recv(pair[0], got + have, sizeof(got) - 1 - have, 0);
		have += n > 0 ? n : 0;
	} while (n && have < sizeof(got) - 1);
	got[have] = 0;
	check_answers(got, have);
	close(pair[0]);
	control_service(control);
}

static void list(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *out;
	struct listing *listings;
	unsigned int n, i;
	FILE *to;

	memcpy(text, data, size);
	text[size] = 0;
	n = listing_parse(&listings, text);
	for (i = 0; i < n; i++) {
		check_text(listings[i].domain, sizeof(listings[i].domain));
		check_text(listings[i].hca, sizeof(listings[i].hca));
		check_text(listings[i].state, sizeof(listings[i].state));
		check_text(listings[i].guest, sizeof(listings[i].guest));
		check_text(listings[i].error, sizeof(listings[i].error));
	}
	to = open_memstream(&out, &size);
	metrics_write(to, listings, n, "fuzz");
	fclose(to);
	free(out);
	listing_free(listings, n);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] & 1)
		serve(data + 1, size - 1);
	else
		list(data + 1, size - 1);
	return 0;
}
