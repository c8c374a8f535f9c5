/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter of a relay's process. The other way round than the command's: it names the few calls that are allowed, and
 * any other ends the process, since nothing but a fault could make it. Made at run time of the tables beside the loop.
 *
 *   another architecture: end
 *   for each rule:  its call?  its argument is one of two values, else end
 *   for each call:  allowed
 *   end
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <stddef.h>

#include "base/err.h"
#include "linux/enter.h"
#include "linux/seccomp.h"
#include "net/relay.h"

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the system calls of this architecture have not been looked at"
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the two halves of an argument are the other way round here"
#endif

enum {
	PROGRAM_MAX = 128,
	RULE_LENGTH = 5, /* without the jump over it */
	WIDE_LENGTH = 2,
	ARGUMENT_OFFSET = offsetof(struct seccomp_data, args),
};

struct program {
	struct sock_filter code[PROGRAM_MAX];
	unsigned short n;
};

static void add(struct program *program, struct sock_filter instruction)
{
	if (program->n < PROGRAM_MAX)
		program->code[program->n] = instruction;
	program->n++;
}

static void load(struct program *program, size_t offset)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Goes so many instructions further where it is that value, else where it is not. */
static void jump_if(struct program *program, uint32_t value, uint8_t yes, uint8_t no)
{
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no));
}

static void end_with(struct program *program, uint32_t action)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* The number is loaded, and is again behind it. Of a wide argument the upper half has to be 0. */
static void add_rule(struct program *program, const struct relay_rule *rule)
{
	size_t offset = ARGUMENT_OFFSET + 8 * (size_t)rule->argument;

	jump_if(program, (uint32_t)rule->call, 0, RULE_LENGTH + (rule->is_wide ? WIDE_LENGTH : 0));
	if (rule->is_wide) {
		load(program, offset + 4);
		jump_if(program, 0, 0, 3);
	}
	load(program, offset);
	jump_if(program, (uint32_t)rule->value[0], 2, 0);
	jump_if(program, (uint32_t)rule->value[1], 1, 0);
	end_with(program, SECCOMP_RET_KILL_PROCESS);
	load(program, offsetof(struct seccomp_data, nr));
}

int relay_filter_install(struct pinfold_error *err)
{
	struct program program = {.n = 0};
	int r;

	load(&program, offsetof(struct seccomp_data, arch));
	jump_if(&program, OWN_ARCHITECTURE, 1, 0);
	end_with(&program, SECCOMP_RET_KILL_PROCESS);
	load(&program, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < relay_rule_count; i++)
		add_rule(&program, &relay_rules[i]);
	for (size_t i = 0; i < relay_call_count; i++) {
		jump_if(&program, (uint32_t)relay_calls[i], 0, 1);
		end_with(&program, SECCOMP_RET_ALLOW);
	}
	end_with(&program, SECCOMP_RET_KILL_PROCESS);
	r = program.n > PROGRAM_MAX ? -E2BIG : seccomp_install_code(program.code, program.n);
	return r < 0 ? err_sys(err, PINFOLD_UNAVAILABLE, -r, "install the seccomp filter of", "the relay of ports") : 0;
}
