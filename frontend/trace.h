/* SPDX-License-Identifier: GPL-2.0 */
/*
 * trace.h - tracepoints of the command channel: a request that goes on the ring, and its response.
 * docs/debugging.md says how to read them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM xenib

#if !defined(XENIB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define XENIB_TRACE_H

#include <linux/tracepoint.h>
#include <xen/xenbus.h>

#include "compat.h"
#include "vhca_response.h"

TRACE_EVENT(xenib_cmd_send,
	TP_PROTO(const struct xenbus_device *xbdev, const struct xen_vhca_req *req,
		 size_t data_size),
	TP_ARGS(xbdev, req, data_size),
	TP_STRUCT__entry(
		__string(dev, dev_name(&xbdev->dev))
		__field(u16, id)
		__field(u8, op)
		__field(bool, posted)
		__field(size_t, data_size)
	),
	TP_fast_assign(
		XENIB_ASSIGN_STR(dev, dev_name(&xbdev->dev));
		__entry->id = req->id;
		__entry->op = req->op;
		__entry->posted = req->flags & XEN_VHCA_REQ_POSTED;
		__entry->data_size = data_size;
	),
	TP_printk("%s id=%u op=%u posted=%u data=%zu", __get_str(dev), __entry->id, __entry->op,
		  __entry->posted, __entry->data_size)
);

TRACE_EVENT(xenib_cmd_done,
	TP_PROTO(const struct xenbus_device *xbdev, const struct xen_vhca_req *req,
		 const struct xen_vhca_rsp *rsp, int error),
	TP_ARGS(xbdev, req, rsp, error),
	TP_STRUCT__entry(
		__string(dev, dev_name(&xbdev->dev))
		__field(u16, id)
		__field(u8, op)
		__field(u16, status)
		__field(u32, hca_errno)
		__field(int, error)
	),
	TP_fast_assign(
		XENIB_ASSIGN_STR(dev, dev_name(&xbdev->dev));
		__entry->id = req->id;
		__entry->op = req->op;
		__entry->status = rsp->status;
		__entry->hca_errno = rsp->hca_errno;
		__entry->error = error;
	),
	TP_printk("%s id=%u op=%u status=%u hca_errno=%u error=%d", __get_str(dev), __entry->id,
		  __entry->op, __entry->status, __entry->hca_errno, __entry->error)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
