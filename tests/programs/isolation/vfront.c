// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vfront.h"
#include "vhca.h"

#define LOOK_MS 500 /* should a watch not fire */

/* -- xenstore -- */

static bool read_key(struct vfront *v, const char *dir, const char *key, char *value, size_t size)
{
	char path[2 * VF_PATH], *text;
	unsigned int len;

	snprintf(path, sizeof(path), "%s/%s", dir, key);
	text = xs_read(v->xs, XBT_NULL, path, &len);
	if (!text)
		return false;
	snprintf(value, size, "%s", text);
	free(text);
	return true;
}

static unsigned int read_number(struct vfront *v, const char *dir, const char *key)
{
	char value[32];

	return read_key(v, dir, key, value, sizeof(value)) ? strtoul(value, NULL, 10) : 0;
}

void vf_write(struct vfront *v, const char *key, const char *format, ...)
{
	char path[2 * VF_PATH], value[512];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	snprintf(path, sizeof(path), "%s/%s", v->dir, key);
	require(xs_write(v->xs, XBT_NULL, path, value, strlen(value)), "write %s", path);
}

void vf_remove(struct vfront *v, const char *key)
{
	char path[2 * VF_PATH];

	snprintf(path, sizeof(path), "%s/%s", v->dir, key);
	xs_rm(v->xs, XBT_NULL, path);
}

void vf_set_state(struct vfront *v, enum vf_state state)
{
	vf_write(v, "state", "%u", state);
}

enum vf_state vf_backend_state(struct vfront *v)
{
	return read_number(v, v->back_dir, "state");
}

/* Until something of the backend has changed, or a while: to look all the time would keep dom0 from changing it. */
static void wait_backend(struct vfront *v)
{
	struct pollfd event = { .fd = xs_fileno(v->xs), .events = POLLIN };
	char **names;

	poll(&event, 1, LOOK_MS);
	while ((names = xs_check_watch(v->xs)))
		free(names);
}

void vf_expect_backend(struct vfront *v, enum vf_state state)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	char why[256] = "";
	enum vf_state is;

	while ((is = vf_backend_state(v)) != state && now_ms() < until)
		wait_backend(v);
	read_key(v, v->back_dir, XEN_VHCA_FIELD_ERROR, why, sizeof(why));
	require(is == state, "the backend comes to state %u (it is in %u; %s)", state, is, why);
}

/* -- life -- */

static void dir_of(char *dir, size_t size, unsigned int devid)
{
	snprintf(dir, size, "device/vhca/%u", devid);
}

bool vf_exists(unsigned int devid)
{
	struct vfront v = { .xs = xs_open(0) };
	char value[VF_PATH];
	bool exists;

	require(v.xs, "open xenstore");
	dir_of(v.dir, sizeof(v.dir), devid);
	exists = read_key(&v, v.dir, "backend", value, sizeof(value));
	xs_close(v.xs);
	return exists;
}

static void watch_backend(struct vfront *v)
{
	char path[2 * VF_PATH];

	snprintf(path, sizeof(path), "%s/state", v->back_dir);
	require(xs_watch(v->xs, path, "state"), "watch %s", path);
}

void vf_open(struct vfront *v, unsigned int devid)
{
	memset(v, 0, sizeof(*v));
	require(access("/sys/module/xen_ibfront", F_OK), "xen-ibfront is not loaded");
	v->devid = devid;
	dir_of(v->dir, sizeof(v->dir), devid);
	v->xs = xs_open(0);
	require(v->xs, "open xenstore");
	if (!read_key(v, v->dir, "backend", v->back_dir, sizeof(v->back_dir)))
		skip("this guest has no vHCA %u", devid);
	v->backend = read_number(v, v->dir, "backend-id");
	watch_backend(v);
	v->gntshr = xengntshr_open(NULL, 0);
	require(v->gntshr, "open /dev/xen/gntalloc");
	v->evtchn = xenevtchn_open(NULL, 0);
	require(v->evtchn, "open /dev/xen/evtchn");
}

void vf_wait_offer(struct vfront *v)
{
	enum vf_state is = vf_backend_state(v);

	if (is == VF_INITIALISED || is == VF_CONNECTED) {
		vf_set_state(v, VF_CLOSING);
		vf_set_state(v, VF_CLOSED);
	} else if (is != VF_INIT_WAIT) {
		vf_set_state(v, VF_CLOSED);
	}
	vf_expect_backend(v, VF_INIT_WAIT);
	v->writable_grants = read_number(v, v->back_dir, XEN_VHCA_FIELD_WRITABLE_GRANTS);
}

void vf_share(struct vfront *v, struct vf_pages *pages, unsigned int count, unsigned int domid,
	      bool writable)
{
	pages->count = count;
	pages->refs = calloc(count, sizeof(pages->refs[0]));
	require(pages->refs, "memory");
	pages->at = xengntshr_share_pages(v->gntshr, domid, count, pages->refs, writable);
	require(pages->at, "grant %u pages", count);
	memset(pages->at, 0, (size_t)count * VF_PAGE);
}

void vf_unshare(struct vfront *v, struct vf_pages *pages)
{
	if (pages->at)
		xengntshr_unshare(v->gntshr, pages->at, pages->count);
	free(pages->refs);
	memset(pages, 0, sizeof(*pages));
}

static evtchn_port_t bind_channel(struct vfront *v)
{
	xenevtchn_port_or_error_t port = xenevtchn_bind_unbound_port(v->evtchn, v->backend);

	require(port >= 0, "an event channel");
	return port;
}

static void unbind_channel(struct vfront *v, evtchn_port_t *port)
{
	if (*port)
		xenevtchn_unbind(v->evtchn, *port);
	*port = 0;
}

void vf_prepare(struct vfront *v, unsigned int order)
{
	v->order = order;
	v->entries = vhca_ring_entries(order);
	vf_share(v, &v->ring, 1u << order, v->backend, true);
	vf_share(v, &v->data, v->entries, v->backend, true);
	vf_share(v, &v->directory, 1, v->backend, true);
	memcpy(v->directory.at, v->data.refs, v->entries * sizeof(v->data.refs[0]));
	vhca_front_init(&v->front, v->ring.at, order);
	v->port = bind_channel(v);
	if (v->wants_events) {
		vf_share(v, &v->bits, 1, v->backend, true);
		vf_share(v, &v->asyncs, 1, v->backend, true);
		v->event_port = bind_channel(v);
	}
	memset(&v->tally, 0, sizeof(v->tally));
	memset(v->busy, 0, sizeof(v->busy));
	v->outstanding = 0;
}

void vf_publish(struct vfront *v)
{
	unsigned int i;
	char key[24];

	vf_write(v, XEN_VHCA_FIELD_VERSION, "%u", XEN_VHCA_VERSION);
	vf_write(v, XEN_VHCA_FIELD_RING_PAGE_ORDER, "%u", v->order);
	for (i = 0; i < v->ring.count; i++) {
		snprintf(key, sizeof(key), XEN_VHCA_FIELD_RING_REF "%u", i);
		vf_write(v, key, "%u", v->ring.refs[i]);
	}
	vf_write(v, XEN_VHCA_FIELD_DATA_DIR_REF, "%u", v->directory.refs[0]);
	vf_write(v, XEN_VHCA_FIELD_EVENT_CHANNEL, "%u", v->port);
	vf_remove(v, XEN_VHCA_FIELD_EVENT_VECTORS); /* one */
	if (!v->wants_events) {
		vf_remove(v, XEN_VHCA_FIELD_CQ_EVENT_REF);
		vf_remove(v, XEN_VHCA_FIELD_ASYNC_EVENT_REF);
		vf_remove(v, XEN_VHCA_FIELD_EVENT_EVENT_CHANNEL);
		return;
	}
	vf_write(v, XEN_VHCA_FIELD_CQ_EVENT_REF, "%u", v->bits.refs[0]);
	vf_write(v, XEN_VHCA_FIELD_ASYNC_EVENT_REF, "%u", v->asyncs.refs[0]);
	vf_write(v, XEN_VHCA_FIELD_EVENT_EVENT_CHANNEL, "%u", v->event_port);
}

void vf_connect(struct vfront *v, unsigned int order)
{
	const struct xen_vhca_req query = { .op = XEN_VHCA_OP_DEVICE_QUERY };

	vf_wait_offer(v);
	vf_set_state(v, VF_INITIALISING);
	vf_prepare(v, order);
	vf_publish(v);
	vf_set_state(v, VF_INITIALISED);
	vf_expect_backend(v, VF_CONNECTED);
	require(!vf_do(v, &query)->status, "query the device");
	memcpy(&v->attr, vf_data(v, v->next_id), sizeof(v->attr));
	require(!vhca_check_device_attr(&v->attr), "the device has sensible attributes");
	vf_set_state(v, VF_CONNECTED);
}

void vf_release(struct vfront *v)
{
	unbind_channel(v, &v->port);
	unbind_channel(v, &v->event_port);
	vf_unshare(v, &v->ring);
	vf_unshare(v, &v->directory);
	vf_unshare(v, &v->data);
	vf_unshare(v, &v->bits);
	vf_unshare(v, &v->asyncs);
}

static void wait_let_go(struct vfront *v)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	enum vf_state is;

	do {
		is = vf_backend_state(v);
		if (is == VF_CLOSED || is == VF_INIT_WAIT || is == VF_INITIALISING)
			return;
		wait_backend(v);
	} while (now_ms() < until);
	require(false, "the backend lets go (it is in state %u)", is);
}

void vf_disconnect(struct vfront *v)
{
	vf_set_state(v, VF_CLOSING);
	wait_let_go(v);
	vf_release(v);
	vf_set_state(v, VF_CLOSED);
}

void vf_wait_closed(struct vfront *v, char *reason, size_t size)
{
	vf_expect_backend(v, VF_CLOSED);
	*reason = 0;
	read_key(v, v->back_dir, XEN_VHCA_FIELD_ERROR, reason, size);
	vf_set_state(v, VF_CLOSING);
	vf_release(v);
	vf_set_state(v, VF_CLOSED);
}

void vf_close(struct vfront *v)
{
	xenevtchn_close(v->evtchn);
	xengntshr_close(v->gntshr);
	xs_close(v->xs);
}

/* -- commands -- */

uint8_t *vf_data(struct vfront *v, unsigned int id)
{
	return v->data.at + (size_t)id * VF_PAGE;
}

void vf_kick(struct vfront *v)
{
	require(!xenevtchn_notify(v->evtchn, v->port), "notify the backend");
}

void vf_push(struct vfront *v)
{
	if (vhca_front_push(&v->front))
		vf_kick(v);
}

void vf_put_raw(struct vfront *v, const struct xen_vhca_req *req)
{
	RING_IDX prod = v->front.ring.req_prod_pvt;

	memcpy(RING_GET_REQUEST(&v->front.ring, prod), req, sizeof(*req));
	v->front.ring.req_prod_pvt = prod + 1;
}

static unsigned int free_id(struct vfront *v)
{
	unsigned int i;

	if (v->outstanding == v->entries)
		vf_collect(v, v->entries - 1);
	for (i = 1; i <= v->entries; i++)
		if (!v->busy[(v->next_id + i) % v->entries])
			break;
	v->next_id = (v->next_id + i) % v->entries;
	return v->next_id;
}

unsigned int vf_send(struct vfront *v, const struct xen_vhca_req *req, const uint32_t *refs,
		     unsigned int n)
{
	unsigned int id = free_id(v);
	struct xen_vhca_req copy = *req;

	copy.id = id;
	if (n)
		memcpy(vf_data(v, id), refs, n * sizeof(*refs));
	require(!vhca_front_put(&v->front, &copy), "a free id");
	v->sent[id] = copy;
	v->busy[id] = true;
	v->outstanding++;
	vf_push(v);
	return id;
}

static void count(struct vf_tally *tally, const struct xen_vhca_rsp *rsp)
{
	if (rsp->op >= XEN_VHCA_OPS || vhca_op_name(rsp->op)[0] == '?') {
		tally->unknown++;
		return;
	}
	tally->commands[rsp->op]++;
	if (rsp->status)
		tally->refused[rsp->op][rsp->status]++;
}

static void take(struct vfront *v, struct xen_vhca_rsp *rsp)
{
	const struct xen_vhca_req *req = &v->sent[rsp->id];

	if (v->noise)
		memset((char *)rsp + v->noise, 0, 4);
	require(v->busy[rsp->id], "a response to a request that waits (id %u)", rsp->id);
	require(!vhca_check_response(req, rsp), "a response that is well formed (to %s, status %s)",
		vhca_op_name(req->op), vhca_status_name(rsp->status));
	v->rsp[rsp->id] = *rsp;
	v->busy[rsp->id] = false;
	v->outstanding--;
	count(&v->tally, rsp);
}

/* Returns false after the deadline. */
static bool wait_event(struct vfront *v, uint64_t until)
{
	struct pollfd event = { .fd = xenevtchn_fd(v->evtchn), .events = POLLIN };
	uint64_t now = now_ms();
	xenevtchn_port_or_error_t port;

	if (now >= until || poll(&event, 1, until - now) != 1)
		return false;
	port = xenevtchn_pending(v->evtchn);
	if (port >= 0)
		xenevtchn_unmask(v->evtchn, port);
	return true;
}

void vf_collect(struct vfront *v, unsigned int left)
{
	uint64_t until = now_ms() + opt.deadline_ms;
	struct xen_vhca_rsp rsp;
	int got;

	for (;;) {
		while ((got = vhca_front_next(&v->front, &rsp)) == 1)
			take(v, &rsp);
		require(!got, "the backend keeps to the ring");
		if (v->outstanding <= left)
			return;
		if (vhca_front_more(&v->front))
			continue;
		require(wait_event(v, until), "answers to %u commands", v->outstanding);
	}
}

struct xen_vhca_rsp *vf_do_refs(struct vfront *v, const struct xen_vhca_req *req,
				const uint32_t *refs, unsigned int n)
{
	unsigned int id = vf_send(v, req, refs, n);

	while (v->busy[id])
		vf_collect(v, v->outstanding - 1);
	return &v->rsp[id];
}

struct xen_vhca_rsp *vf_do(struct vfront *v, const struct xen_vhca_req *req)
{
	return vf_do_refs(v, req, NULL, 0);
}
