// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "forge.h"

/* The device of the command line, or the first: by its name, as the library is not asked here. */
static const char *choose_device(void)
{
	struct ibv_device **list;
	static char name[UVERBS_NAME_MAX];

	if (opt.device[0])
		return opt.device[0];
	list = ibv_get_device_list(NULL);
	require(list && list[0], "there is an RDMA device");
	snprintf(name, sizeof(name), "%s", ibv_get_device_name(list[0]));
	ibv_free_device_list(list);
	return name;
}

int forge_open(const struct forge *f)
{
	int fd = uabi_open(f->device);

	require(fd >= 0, "open %s (%s)", f->device, strerror(-fd));
	return fd;
}

/* Not an HCA that is passed through: only Xen's devices have a node in xenstore. */
static bool is_mlx5_vhca(const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/nodename", device);
	return !strncmp(device, "mlx5_", 5) && !access(path, F_OK);
}

void forge_begin(struct forge *f)
{
	int err;

	memset(f, 0, sizeof(*f));
	f->device = choose_device();
	if (strncmp(f->device, "xenib", 5) && !is_mlx5_vhca(f->device))
		skip("%s is not a device of xen-ibfront", f->device);
	f->fd = forge_open(f);
	err = uabi_make(f->fd, &f->set);
	require(!err, "make one object of each kind (%s)", strerror(-err));
	beside_start(&f->beside);
}

void forge_begin_xenib(struct forge *f)
{
	forge_begin(f);
	if (!uabi_is_mlx5())
		return;
	forge_end(f);
	skip("%s is of the personality mlx5", f->device);
}

void forge_begin_mlx5(struct forge *f)
{
	forge_begin(f);
	if (uabi_is_mlx5())
		return;
	forge_end(f);
	skip("%s is not of the personality mlx5", f->device);
}

void forge_end(struct forge *f)
{
	int err;

	check(!uabi_query_qp(f->fd, f->set.qp), "the attacker's own QP is still there");
	err = uabi_unmake(f->fd, &f->set);
	check(!err, "the attacker's own objects can be destroyed (%s)", strerror(-err));
	close(f->fd);
	beside_stop(&f->beside);
}

static bool is_one_of(int ret, const int *errors)
{
	for (; *errors; errors++)
		if (ret == -*errors)
			return true;
	return false;
}

void forge_refused_quick_at(const char *file, int line, int ret, const char *what,
			    const int *errors)
{
	check_at(file, line, is_one_of(ret, errors), "refused with one of the errors at this line",
		 "%s is refused (got %s)", what, ret < 0 ? strerrorname_np(-ret) : "success");
}

void forge_refused_at(const char *file, int line, struct forge *f, int ret, const char *what,
		      const int *errors)
{
	forge_refused_quick_at(file, line, ret, what, errors);
	beside_works(&f->beside, what);
}

int main(int argc, char **argv)
{
	const struct check_table tables[] = {
		forge_handles, forge_process, forge_addresses, forge_sizes,
		forge_memory,  forge_mmap,    forge_buffers,   forge_ioctl,
		forge_races,   forge_random,  forge_resize,    forge_mlx5,
	};

	vp_load_providers();
	return check_main_tables(
		argc, argv,
		"Attacks the guest's kernel through its verbs interface. Runs in a guest.", tables,
		ARRAY_SIZE(tables));
}
