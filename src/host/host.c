/* SPDX-License-Identifier: Apache-2.0 */
#include "host/host.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "linux/landlock.h"

const char *const host_fact_names[FACT_COUNT] = {
	[FACT_NAMESPACES] = "namespaces",
	[FACT_NET_NAMESPACE] = "network namespace",
	[FACT_MOUNTS] = "mount attributes",
	[FACT_OVERLAY] = "overlay over the home",
	[FACT_FRESH_PROC] = "fresh /proc",
	[FACT_IDMAP] = "id-mapped mounts",
	[FACT_SECCOMP] = "seccomp",
	[FACT_LANDLOCK] = "Landlock",
	[FACT_BWRAP] = "bubblewrap",
	[FACT_WATCH] = "watch over the mounts",
};

bool host_has_capability(int cap)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 }, { 0 } };

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[cap / 32].effective & (1U << (cap % 32));
}

/* Seen from inside, a map names the ids of the user namespace around it. */
static bool is_root_mapped(void)
{
	FD_CLEANUP int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	char text[4096], *line = text;
	unsigned inside, outside;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n < 0)
		return false;
	text[n] = '\0';
	for (; line; line = strchr(line, '\n'), line += line != NULL)
		if (sscanf(line, "%u %u", &inside, &outside) == 2 && inside == 0)
			return outside != 0;
	return false;
}

void host_read(struct pinfold_host *host)
{
	struct utsname name;

	*host = (struct pinfold_host){ 0 };
	if (uname(&name) == 0) {
		snprintf(host->kernel, sizeof(host->kernel), "%.127s", name.release);
		snprintf(host->machine, sizeof(host->machine), "%.31s", name.machine);
	}
	host->landlock_abi = landlock_abi(&host->landlock_errno);
	if (host->landlock_abi > 0)
		host->landlock_errata = landlock_errata();
	else
		host_learn(host, FACT_LANDLOCK, "create a Landlock ruleset", "", host->landlock_errno);
	host->is_root = geteuid() == 0;
	host->is_mapped_root = host->is_root && is_root_mapped();
	host->has_admin = host_has_capability(CAP_SYS_ADMIN);
}

void host_learn(struct pinfold_host *host, enum host_fact fact, const char *step, const char *object, int errnum)
{
	struct host_finding *finding = &host->fact[fact];

	finding->state = FACT_NO;
	finding->errnum = errnum;
	snprintf(finding->step, sizeof(finding->step), "%s", step);
	snprintf(finding->object, sizeof(finding->object), "%s", object);
}
