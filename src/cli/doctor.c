/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `pinfold doctor`: what this machine can hold, proved. Each backend carries out a real run in a scene made for it,
 * with the user's policy, in which a program tries what each guarantee forbids and what it must leave possible. What is
 * printed of a guarantee is the outcome's own state, so it cannot say anything else than a run does; "proved" is what
 * the program saw.
 */
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ANSWER_BYTES = 8192,
	RUN_MS = 30000, /* for one run; it takes some ten */
	END_MS = 3000,  /* for what a run leaves to end */
	TRIES = 10,
	GUARANTEES = 16,
};

enum verdict { NOT_TRIED, PROVED, FAILED };

struct examined {
	struct pinfold_guarantee guarantee; /* its strings belong to the outcome */
	enum verdict verdict;
	char through[192]; /* probes that were done and are forbidden, blank-separated */
	char missing[192]; /* and those that were not done and are to be possible */
};

/* One backend. */
struct examination {
	const char *backend;
	struct session session;
	struct pinfold_outcome *outcome;
	struct pinfold_error error; /* of a run that never was */
	struct examined guarantees[GUARANTEES];
	size_t count;
	bool has_left; /* something of the run was still alive when it had ended */
};

/* ---- one run ---- */

static int set(struct examination *exam, const char *name, const char *text, struct pinfold_error *err)
{
	return pinfold_policy_set(exam->session.policy, name, text, err);
}

/* The user's own policy, for the scene's worktree, and so that it runs whatever is missing. */
static int make_policy(struct examination *exam, const struct scene *scene, const struct request *request,
		       struct pinfold_error *err)
{
	char secret[PATH_MAX + 16];
	struct pinfold_policy *policy = exam->session.policy = pinfold_policy_new();
	int r = policy ? set_config_of(policy, request, err) : -ENOMEM;

	snprintf(secret, sizeof(secret), "%s/secret", scene->top);
	for (size_t i = 0; r == 0 && i < request->setting_count; i++)
		if (strcmp(request->settings[i].name, "backend") != 0 && strcmp(request->settings[i].name, "mode") != 0)
			r = set(exam, request->settings[i].name, request->settings[i].text, err);
	if (r == 0)
		r = set(exam, "hide", secret, err);
	if (r == 0)
		r = set(exam, "mode", "auto", err);
	if (r == 0)
		r = set(exam, "backend", exam->backend, err);
	return r == 0 ? pinfold_policy_load(policy, NULL, err) : r;
}

/* What the run's processes said, and whether the last of them is gone: the pipe ends with them. */
static void hear(struct examination *exam, int fd, char *answer)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	size_t length = 0;
	ssize_t n = -1;

	while (length < ANSWER_BYTES - 1 && poll(&poll_fd, 1, END_MS) == 1 &&
	       (n = read(fd, answer + length, ANSWER_BYTES - 1 - length)) > 0)
		length += (size_t)n;
	exam->has_left = n != 0;
	answer[length] = '\0';
}

static int run_probes(struct examination *exam, const struct scene *scene, char *answer, struct pinfold_error *err)
{
	static char self[PATH_MAX], word[] = "__probe";
	char *argv[] = { self, word, (char *)scene->top, (char *)scene->pid, (char *)scene->port_text,
			 (char *)scene->name, NULL };
	struct pinfold_run_options options = PINFOLD_RUN_OPTIONS_INIT;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct pinfold_run *run = NULL;
	int ends[2], r;

	self[length > 0 ? length : 0] = '\0';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return usage_error(err, "doctor: out of descriptors");
	options.stdio[1] = ends[1];
	r = session_plan(&exam->session, argv, false, err);
	if (r == 0)
		r = pinfold_run_start(&run, exam->session.plan, &options, err);
	/* the first time may be the end of a try: the set-up is made once more without what was missing */
	for (int tries = 0; tries == 0 || (r == -ETIMEDOUT && tries < TRIES); tries++)
		r = r < 0 && r != -ETIMEDOUT ? r : pinfold_run_wait(run, RUN_MS / TRIES, &exam->outcome, err);
	pinfold_run_free(run);
	close(ends[1]);
	if (r == 0)
		hear(exam, ends[0], answer);
	close(ends[0]);
	return r;
}

/* ---- judging ---- */

static struct examined *find(struct examination *exam, const char *name)
{
	for (size_t i = 0; i < exam->count; i++)
		if (strcmp(exam->guarantees[i].guarantee.name, name) == 0)
			return &exam->guarantees[i];
	return NULL;
}

static void add_word(char *words, size_t size, const char *word)
{
	size_t length = strlen(words);

	snprintf(words + length, size - length, "%s%s", length ? " " : "", word);
}

static void judge(struct examined *examined, const char *probe, bool is_forbidden, bool is_done)
{
	if (examined->verdict == NOT_TRIED)
		examined->verdict = PROVED;
	if (is_forbidden && is_done) {
		examined->verdict = FAILED;
		add_word(examined->through, sizeof(examined->through), probe);
	} else if (!is_forbidden && !is_done) {
		add_word(examined->missing, sizeof(examined->missing), probe);
	}
}

static void judge_answer(struct examination *exam, char *answer)
{
	char guarantee[32], probe[32], wanted[8];
	int errnum, used;

	for (; sscanf(answer, "%31s %31s %7s %d%n", guarantee, probe, wanted, &errnum, &used) == 4; answer += used) {
		struct examined *examined = find(exam, guarantee);

		if (examined && examined->guarantee.state != PINFOLD_NOT_ASKED)
			judge(examined, probe, strcmp(wanted, "no") == 0, errnum == 0);
	}
	if (find(exam, "cleanup"))
		judge(find(exam, "cleanup"), "left-alive", true, exam->has_left);
}

static void examine(struct examination *exam, const struct scene *scene, const struct request *request,
		    struct pinfold_host *host)
{
	char answer[ANSWER_BYTES] = "";
	int r;

	exam->session.host = host;
	r = make_policy(exam, scene, request, &exam->error);
	if (r == 0)
		r = run_probes(exam, scene, answer, &exam->error);
	if (r == 0 && pinfold_outcome_error(exam->outcome))
		exam->error = *pinfold_outcome_error(exam->outcome);
	while (exam->outcome && exam->count < GUARANTEES &&
	       pinfold_outcome_guarantee(exam->outcome, exam->count, &exam->guarantees[exam->count].guarantee) == 0)
		exam->count++;
	if (r == 0 && pinfold_outcome_ran(exam->outcome))
		judge_answer(exam, answer);
}

static void end_examination(struct examination *exam)
{
	exam->session.host = NULL; /* the doctor's */
	session_close(&exam->session);
	exam->outcome = pinfold_outcome_free(exam->outcome);
}

static bool has_run(const struct examination *exam)
{
	return exam->outcome && pinfold_outcome_ran(exam->outcome);
}

/* A guarantee that is said to be held, and is not; where the user will work, also one that leaves less than it says. */
static bool has_failure(const struct examination *exam, bool is_here)
{
	for (size_t i = 0; i < exam->count; i++) {
		const struct examined *examined = &exam->guarantees[i];

		if (examined->guarantee.state != PINFOLD_HELD || strcmp(examined->guarantee.name, "limits") == 0)
			continue;
		if (examined->verdict != PROVED || (is_here && examined->missing[0]))
			return true;
	}
	return false;
}

/* ---- what is printed ---- */

static const char *word_of(const struct examined *examined)
{
	if (examined->guarantee.state == PINFOLD_NOT_ASKED || examined->verdict == NOT_TRIED)
		return "";
	if (examined->guarantee.state == PINFOLD_HELD)
		return examined->verdict == PROVED ? "proved" : "FAILED";
	return examined->verdict == PROVED ? "the probes did not get through" : "as it says";
}

static void print_guarantee(const struct examined *examined)
{
	const struct pinfold_guarantee *guarantee = &examined->guarantee;

	printf("  %-12s %-10s %s", guarantee->name,
	       guarantee->state == PINFOLD_NOT_ASKED ? "not asked" : pinfold_state_name(guarantee->state),
	       word_of(examined));
	if (examined->through[0])
		printf("%s(%s)", word_of(examined)[0] ? " " : "", examined->through);
	if (examined->missing[0])
		printf("; not possible: %s", examined->missing);
	if (guarantee->why)
		printf(": %s", guarantee->why);
	putchar('\n');
}

static void print_exam(const struct examination *exam)
{
	char text[2048];

	printf("\n%s\n", exam->backend);
	if (!has_run(exam)) {
		pinfold_error_text(&exam->error, text, sizeof(text));
		printf("  not available: %s\n", text);
		return;
	}
	for (size_t i = 0; i < exam->count; i++)
		print_guarantee(&exam->guarantees[i]);
}

/* As an error says it: what a path holds forges no line. */
static void step_text(const struct pinfold_missing *missing, char *text, size_t size)
{
	struct pinfold_error error = { .code = PINFOLD_UNAVAILABLE, .errnum = missing->errnum };

	snprintf(error.operation, sizeof(error.operation), "%s", missing->step);
	snprintf(error.object, sizeof(error.object), "%s", missing->object);
	pinfold_error_text(&error, text, size);
}

static void print_missing(const struct pinfold_host *host)
{
	struct pinfold_missing missing;
	const char *lead = "\nmissing here\n";
	char text[1024];

	for (size_t i = 0;; i++) {
		int r = pinfold_host_missing(host, i, &missing);

		if (r < 0)
			return;
		if (r == 0)
			continue;
		step_text(&missing, text, sizeof(text));
		printf("%s  %s: %s\n    cause: %s: %s\n    fix: %s\n", lead, missing.name, text, missing.cause,
		       missing.text, missing.fix);
		lead = "";
	}
}

static void json_member(const char *name, const char *text, bool is_first)
{
	printf("%s\"%s\":", is_first ? "" : ",", name);
	if (text)
		print_json_string(text);
	else
		fputs("null", stdout);
}

static void json_guarantee(const struct pinfold_host *host, const struct examined *examined, bool is_first)
{
	const struct pinfold_guarantee *guarantee = &examined->guarantee;
	struct pinfold_missing missing = { 0 };
	bool is_missing = guarantee->missing >= 0 &&
			  pinfold_host_missing(host, (size_t)guarantee->missing, &missing) == 1;

	printf("%s\"%s\":{", is_first ? "" : ",", guarantee->name);
	json_member("state", pinfold_state_name(guarantee->state), true);
	json_member("why", guarantee->why, false);
	json_member("step", is_missing ? missing.step : NULL, false);
	json_member("errno", is_missing ? strerror(missing.errnum) : NULL, false);
	json_member("cause", is_missing ? missing.cause : NULL, false);
	json_member("fix", is_missing ? missing.fix : NULL, false);
	printf(",\"proved\":%s", examined->verdict == NOT_TRIED ? "null" :
				 examined->verdict == PROVED    ? "true" :
								  "false");
	json_member("through", examined->through, false);
	json_member("not_possible", examined->missing, false);
	putchar('}');
}

static void json_exam(const struct pinfold_host *host, const struct examination *exam, bool is_first)
{
	char text[2048];

	printf("%s\"%s\":{\"available\":%s", is_first ? "" : ",", exam->backend, has_run(exam) ? "true" : "false");
	if (!has_run(exam)) {
		pinfold_error_text(&exam->error, text, sizeof(text));
		json_member("error", text, false);
		/* what was planned for it never was */
		fputs(",\"guarantees\":{}}", stdout);
		return;
	}
	fputs(",\"guarantees\":{", stdout);
	for (size_t i = 0; i < exam->count; i++)
		json_guarantee(host, &exam->guarantees[i], i == 0);
	fputs("}}", stdout);
}

/* ---- the whole ---- */

/* What a run here would be, by the user's own mode, now that the machine is known. */
struct here {
	bool is_refused;
	const char *backend; /* static */
	struct pinfold_error error;
};

static int look_here(struct here *here, const struct request *request, struct pinfold_host *host)
{
	static char word[] = "true";
	char *const command[] = { word, NULL };
	struct session session = { .policy = pinfold_policy_new(), .host = host };
	int r = session.policy ? set_config_of(session.policy, request, &here->error) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < request->setting_count; i++)
		r = pinfold_policy_set(session.policy, request->settings[i].name, request->settings[i].text,
				       &here->error);
	if (r == 0)
		r = pinfold_policy_load(session.policy, NULL, &here->error);
	if (r == 0)
		r = session_plan(&session, command, true, &here->error);
	if (r == 0) {
		here->is_refused = pinfold_plan_refusal(session.plan, &here->error) < 0;
		here->backend = pinfold_plan_backend(session.plan);
	}
	session.host = NULL;
	session_close(&session);
	return r;
}

struct doctor {
	struct pinfold_host *host;
	struct examination exams[8];
	size_t count;
	struct here here;
};

static const struct examination *exam_here(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->count; i++)
		if (doctor->here.backend && strcmp(doctor->exams[i].backend, doctor->here.backend) == 0)
			return &doctor->exams[i];
	return NULL;
}

static bool is_well(const struct doctor *doctor)
{
	const struct examination *exam = exam_here(doctor);

	for (size_t i = 0; i < doctor->count; i++)
		if (has_run(&doctor->exams[i]) && has_failure(&doctor->exams[i], &doctor->exams[i] == exam))
			return false;
	return !doctor->here.is_refused && exam && has_run(exam);
}

static void print_text_of(const struct doctor *doctor)
{
	char text[2048];

	printf("pinfold %s, Landlock %d\n", pinfold_version(), pinfold_host_landlock_abi(doctor->host));
	for (size_t i = 0; i < doctor->count; i++)
		print_exam(&doctor->exams[i]);
	print_missing(doctor->host);
	if (doctor->here.is_refused) {
		pinfold_error_text(&doctor->here.error, text, sizeof(text));
		printf("\na run here: %s\n  %s\n", text, doctor->here.error.hint);
	} else {
		printf("\na run here takes the backend %s: %s\n", doctor->here.backend,
		       is_well(doctor) ? "all that is asked is proved" : "NOT all that is asked is proved");
	}
}

static void print_json_of(const struct doctor *doctor)
{
	printf("{\"pinfold\":1,\"landlock\":%d", pinfold_host_landlock_abi(doctor->host));
	json_member("backend", doctor->here.backend, false);
	printf(",\"refused\":%s,\"proved\":%s,\"backends\":{", doctor->here.is_refused ? "true" : "false",
	       is_well(doctor) ? "true" : "false");
	for (size_t i = 0; i < doctor->count; i++)
		json_exam(doctor->host, &doctor->exams[i], i == 0);
	fputs("}}\n", stdout);
}

/* Every word of the key but auto. */
static void examine_all(struct doctor *doctor, const struct scene *scene, const struct request *request)
{
	struct pinfold_key key;

	for (size_t i = 0; pinfold_key_at(i, &key) == 0; i++) {
		if (strcmp(key.name, "backend") != 0)
			continue;
		for (size_t word = 0; key.words[word] && doctor->count < 8; word++) {
			if (strcmp(key.words[word], "auto") == 0)
				continue;
			doctor->exams[doctor->count].backend = key.words[word];
			examine(&doctor->exams[doctor->count++], scene, request, doctor->host);
		}
	}
}

static int in_scene(struct doctor *doctor, const struct request *request, struct pinfold_error *err)
{
	struct scene scene;
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), r;

	r = scene_make(&scene, err);
	if (r == 0 && chdir("work") < 0)
		r = usage_error(err, "doctor: cannot enter '%s'", scene.top);
	setenv("PINFOLD_DOCTOR_API_TOKEN", "nothing", 1);
	if (r == 0)
		r = probe_controls(&scene, err);
	if (r == 0)
		examine_all(doctor, &scene, request);
	unsetenv("PINFOLD_DOCTOR_API_TOKEN");
	if (here < 0 || fchdir(here) < 0)
		r = r < 0 ? r : usage_error(err, "doctor: cannot go back to the directory of before");
	if (here >= 0)
		close(here);
	scene_remove(&scene);
	return r;
}

static int examine_machine(const struct request *request)
{
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	struct pinfold_error error;
	int status = EXIT_REFUSED, r = change_directory(request->directory, &error);

	if (doctor)
		doctor->host = pinfold_host_new();
	if (!doctor || !doctor->host)
		r = usage_error(&error, "out of memory");
	if (r == 0)
		r = in_scene(doctor, request, &error);
	/* a directory or a policy that no run could have */
	if (r == 0 && look_here(&doctor->here, request, doctor->host) < 0)
		doctor->here.is_refused = true;
	if (r == 0) {
		(request->is_json ? print_json_of : print_text_of)(doctor);
		status = is_well(doctor) ? EXIT_YES : EXIT_NO;
		if (print_end() != EXIT_YES)
			status = EXIT_REFUSED;
	} else {
		say_error(&error);
	}
	for (size_t i = 0; doctor && i < doctor->count; i++)
		end_examination(&doctor->exams[i]);
	if (doctor)
		pinfold_host_free(doctor->host);
	free(doctor);
	return status;
}

int doctor_command(const struct command *command, char **argv)
{
	struct request request;
	struct pinfold_error error;
	int r = request_parse(&request, command->where, argv, &error);
	int status;

	if (r == 0 && request.rest[0])
		r = usage_error(&error, "doctor: '%.64s' is one word too many", request.rest[0]);
	status = request_end(command, &request, r, &error);
	if (status < 0)
		status = examine_machine(&request);
	request_free(&request);
	return status;
}
