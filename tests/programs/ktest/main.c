// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - uses the device xenib0 as kernel modules do. A case is run by writing its name to the
 * module's parameter "run"; the write fails if the case does. It says why in the kernel's log.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "ktest.h"

static DEFINE_MUTEX(lock);
static struct ib_device *device; /* NULL: there is none for kernel modules */

static const struct {
	const char *name;
	int (*run)(struct ib_device *dev);
} cases[] = {
	{ "rc-send", case_rc_send },
	{ "rc-event", case_rc_event },
	{ "rc-list", case_rc_list },
	{ "ud-send", case_ud_send },
	{ "drain", case_drain },
	{ "outside", case_outside },
	{ "many", case_many },
	{ "grow", case_grow },
	{ "srq", case_srq },
	{ "coherent", case_coherent },
	{ "lie-length", case_lie_length },
	{ "late-rc", case_late_rc },
	{ "late-read", case_late_read },
	{ "late-region", case_late_region },
	{ "late-sent-on", case_late_sent_on },
	{ "late-srq", case_late_srq },
	{ "late-ud", case_late_ud },
	{ "death", death_start },
	/* Regions */
	{ "reg-list", case_reg_list },
	{ "reg-pieces", case_reg_pieces },
	{ "reg-fragments", case_reg_fragments },
	{ "reg-local", case_reg_local },
	{ "reg-remote-inv", case_reg_remote_inv },
	{ "reg-access", case_reg_access },
	{ "reg-stale", case_reg_stale },
	{ "reg-pd", case_reg_pd },
	{ "lie-entries", case_lie_entries },
	{ "reg-stress", case_reg_stress },
};

unsigned int foreign_key;
module_param(foreign_key, uint, 0644);
MODULE_PARM_DESC(foreign_key, "a key of somebody else's memory, for lie-entries");

unsigned long long foreign_at;
module_param(foreign_at, ullong, 0644);
MODULE_PARM_DESC(foreign_at, "where that memory is");

static int run_case(unsigned int i)
{
	int err = -ENODEV;

	mutex_lock(&lock);
	if (device)
		err = cases[i].run(device);
	mutex_unlock(&lock);
	pr_info("ktest: %s: %d\n", cases[i].name, err);
	return err;
}

static int set_run(const char *name, const struct kernel_param *param)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (sysfs_streq(name, cases[i].name))
			return run_case(i);
	}
	return -EINVAL;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "name of a case");

static int add(struct ib_device *dev)
{
	if (strcmp(dev_name(&dev->dev), "xenib0"))
		return -EOPNOTSUPP;
	mutex_lock(&lock);
	device = dev;
	mutex_unlock(&lock);
	return 0;
}

static void forget(struct ib_device *dev, void *data)
{
	death_end(dev);
	mutex_lock(&lock);
	device = NULL;
	mutex_unlock(&lock);
}

static struct ib_client client = {
	.name = "xenib-ktest",
	.add = add,
	.remove = forget,
};

static int __init ktest_init(void)
{
	return ib_register_client(&client);
}

static void __exit ktest_exit(void)
{
	ib_unregister_client(&client);
}

module_init(ktest_init);
module_exit(ktest_exit);

MODULE_DESCRIPTION("uses xenib0 as kernel modules do");
MODULE_LICENSE("GPL");
