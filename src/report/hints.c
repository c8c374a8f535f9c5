/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows of data/hint_words.tsv hold. Each line of the output is asked for the causes in their order, and the first
 * that explains it has it: "connection refused" is a port, and not the network as well.
 *
 * The text is hostile, and long: only its end is looked at, and each line for as long as a cause is still missing.
 */
#include "report/hints.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "report/outcome.h"

enum {
	TEXT_MOST = 64 * 1024,
	LINE_MOST = 4096,     /* of a longer one, only its beginning */
	LINES_BEFORE = 3,     /* cargo and others name the path above the error */
	WORDS_MOST = 10000,   /* that are taken for paths */
	TEXT_HINT_MOST = 4 * PATH_MAX,
};

struct line {
	const char *text;  /* as it was printed, with blanks for what moves the cursor */
	const char *small; /* in small letters */
};

struct searching {
	const struct pinfold_outcome *outcome;
	struct arena *arena; /* freed when the search is over */
	struct line *lines;
	size_t line_count, line_cap;
	struct hint_found *found;
	size_t words; /* looked up so far */
	int error;
};

/* ---- lines ----------------------------------------------------------------------------------------------------- */

/* Colours and their like: ESC [ … letter. The number of bytes. */
static size_t escape_length(const char *text, size_t length)
{
	size_t n = 2;

	if (length < 2 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (n < length && text[n] >= 0x20 && text[n] < 0x40)
		n++;
	return n < length ? n + 1 : n;
}

static char *clean(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1, 1);

	for (size_t i = 0; copy && i < length; i++) {
		const size_t escape = escape_length(text + i, length - i);

		if (escape) {
			memset(copy + i, ' ', escape);
			i += escape - 1;
		} else {
			copy[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i];
		}
	}
	return copy;
}

static char *small_letters(struct arena *arena, const char *text)
{
	char *copy = arena_strdup(arena, text);

	for (char *p = copy; p && *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p += 'a' - 'A';
	return copy;
}

static void add_line(struct searching *s, const char *text, size_t length)
{
	struct line *all = arena_grow(s->arena, s->lines, s->line_count, s->line_count + 1, sizeof(*all), &s->line_cap);
	char *copy = clean(s->arena, text, length < LINE_MOST ? length : LINE_MOST);
	char *small = copy ? small_letters(s->arena, copy) : NULL;

	if (!all || !small) {
		s->error = -ENOMEM;
		return;
	}
	s->lines = all;
	all[s->line_count++] = (struct line){ copy, small };
}

/* Blank ones are no lines. */
static void split(struct searching *s, const char *text, size_t length)
{
	if (length > TEXT_MOST) {
		text += length - TEXT_MOST;
		length = TEXT_MOST;
	}
	while (length && !s->error) {
		const char *end = memchr(text, '\n', length);
		size_t n = end ? (size_t)(end - text) : length;

		if (n)
			add_line(s, text, n);
		n += end != NULL;
		text += n;
		length -= n;
	}
}

/* ---- paths on a line ------------------------------------------------------------------------------------------- */

static size_t quote_length(const char *p)
{
	if (*p == '\'' || *p == '"' || *p == '`')
		return 1;
	return strncmp(p, "\u2018", 3) == 0 || strncmp(p, "\u201c", 3) == 0 ? 3 : 0;
}

static const char *closing(const char *quote, size_t length)
{
	if (length == 1)
		return strchr(quote + 1, *quote);
	return strstr(quote + length, quote[2] == '\x98' ? "\u2019" : "\u201d");
}

/* The next word of the line; *ret_bare: nothing but a colon behind it says that it may be a path. NULL at the end. */
static const char *next_word(const char **at, size_t *ret_length, bool *ret_bare)
{
	const char *p = *at + strspn(*at, " ()[]{}<>,;=|:");
	const size_t quote = quote_length(p);
	const char *close = quote ? closing(p, quote) : NULL;
	size_t length;

	if (!*p)
		return NULL;
	p += quote;
	if (close) {
		*at = close + quote;
		*ret_length = (size_t)(close - p);
		*ret_bare = false;
		return p;
	}
	length = strcspn(p, " \"`()[]{}<>,;=|");
	*at = p + length;
	*ret_bare = !memchr(p, '/', length);
	if (!*ret_bare || memchr(p, ':', length)) /* "bash: line 1: out.txt: Read-only file system" */
		length = strcspn(p, ":") < length ? strcspn(p, ":") : length;
	else
		length = 0;
	while (length && strchr("'.", p[length - 1]))
		length--;
	*ret_length = length;
	return p;
}

/* What a place is for the row that asks, EVIDENCE_COUNT: nothing. */
static enum table_evidence meaning_of(const struct hint_evidence *evidence, const char *path, enum table_evidence asked,
				      const char **ret_path)
{
	static const enum table_evidence of_kind[PLACE_KIND_COUNT] = {
		[PLACE_OPEN] = EVIDENCE_COUNT,
		[PLACE_SHOWN] = EVIDENCE_OUTSIDE,
		[PLACE_HIDDEN] = EVIDENCE_HIDDEN,
		[PLACE_PROTECTED] = EVIDENCE_PROTECTED,
		[PLACE_REGISTERED] = EVIDENCE_REGISTERED,
		[PLACE_READ_ONLY] = EVIDENCE_READ_ONLY,
		[PLACE_CLOSED] = EVIDENCE_CLOSED,
	};
	const bool is_pinned = asked == EVIDENCE_PINNED;
	const struct hint_place *place = is_pinned ? hints_pinned(evidence, path) : hints_place(evidence, path);

	*ret_path = place ? place->path : NULL;
	if (is_pinned)
		return place ? EVIDENCE_PINNED : EVIDENCE_COUNT;
	return place ? of_kind[place->kind] : EVIDENCE_OUTSIDE;
}

/* Is this word a path that is what the row says? Programs name it as seen from where they are, git from the top. */
static bool is_path(struct searching *s, const char *word, size_t length, enum table_evidence asked,
		    const char **ret_path)
{
	const struct hint_evidence *evidence = &s->outcome->evidence;
	const bool is_home = length > 2 && word[0] == '~' && word[1] == '/' && evidence->home;
	const char *const bases[] = { is_home ? evidence->home : evidence->bases[0], evidence->bases[1] };
	char *text = arena_strndup(s->arena, word + (is_home ? 2 : 0), length - (is_home ? 2 : 0));

	for (int i = 0; text && i < (is_home || text[0] == '/' ? 1 : 2); i++) {
		char *path = path_normal(s->arena, bases[i], text);

		if (path && meaning_of(evidence, path, asked, ret_path) == asked)
			return true;
	}
	return false;
}

enum on_line { LINE_NAMES_NONE, LINE_NAMES_OTHERS, LINE_NAMES_IT };

/* bare_ones: of the words that only a colon marks, else of those that look like a path. */
static enum on_line look_at_words(struct searching *s, const struct line *line, bool bare_ones,
				  enum table_evidence asked, const char **ret_path)
{
	enum on_line ret = LINE_NAMES_NONE;
	const char *at = line->text, *word;
	size_t length;
	bool is_bare;

	while ((word = next_word(&at, &length, &is_bare)) && s->words < WORDS_MOST) {
		if (!length || length >= PATH_MAX || is_bare != bare_ones)
			continue;
		s->words++;
		ret = LINE_NAMES_OTHERS;
		if (is_path(s, word, length, asked, ret_path))
			return LINE_NAMES_IT;
	}
	return ret;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static bool is_of_path(enum table_evidence evidence)
{
	return evidence >= EVIDENCE_HIDDEN && evidence <= EVIDENCE_OUTSIDE;
}

/* Words that look like a path decide, then, on the line itself, those that a colon follows. Only an error that hardly
 * anything but a pen gives is looked up further above. */
static bool is_on_path(struct searching *s, size_t line, const struct table_hint_words *row, const char **ret_path)
{
	const size_t before = row->evidence == EVIDENCE_HIDDEN ? 0 : LINES_BEFORE;

	for (size_t back = 0; back <= before && back <= line; back++) {
		const struct line *at = &s->lines[line - back];
		enum on_line names = look_at_words(s, at, false, row->evidence, ret_path);

		if (names == LINE_NAMES_NONE && back == 0)
			names = look_at_words(s, at, true, row->evidence, ret_path);
		if (names != LINE_NAMES_NONE)
			return names == LINE_NAMES_IT;
	}
	return false;
}

/* What a row without words says is in the outcome. */
static bool holds_by_itself(const struct pinfold_outcome *outcome, enum table_evidence evidence)
{
	switch (evidence) {
	case EVIDENCE_TIME:
		return outcome->result.timed_out;
	case EVIDENCE_VIOLATION:
		return outcome->check.count > 0;
	case EVIDENCE_KEPT:
		return outcome->has_dropped;
	default:
		return false;
	}
}

static bool holds(const struct pinfold_outcome *outcome, size_t row, const char **ret_path)
{
	const struct table_hint_words *words = &tables_hint_words[row];
	const struct hint_evidence *evidence = &outcome->evidence;

	switch (words->evidence) {
	case EVIDENCE_REMOVED:
		return strv_has(&outcome->removed, words->argument);
	case EVIDENCE_SOCKET:
		return strv_has(&evidence->sockets, words->argument);
	case EVIDENCE_SECRET:
		*ret_path = evidence->secrets ? evidence->secrets[row] : NULL;
		return *ret_path != NULL;
	default:
		return evidence->holds[words->evidence];
	}
}

/* The first row that explains the line; its cause is found. */
static void explain(struct searching *s, size_t line)
{
	for (size_t i = 0; i < tables_hint_words_count; i++) {
		const struct table_hint_words *row = &tables_hint_words[i];
		const char *path = NULL;

		if (!row->words || !strstr(s->lines[line].small, row->words) || !holds(s->outcome, i, &path))
			continue;
		if (is_of_path(row->evidence) && !is_on_path(s, line, row, &path))
			continue;
		if (!s->found[row->cause].is_found)
			s->found[row->cause] = (struct hint_found){ true, path };
		return;
	}
}

int hints_find(const struct pinfold_outcome *outcome, const char *text, size_t length,
	       struct hint_found found[TABLE_HINTS])
{
	struct arena arena = { 0 };
	struct searching s = { .outcome = outcome, .arena = &arena, .found = found };

	memset(found, 0, TABLE_HINTS * sizeof(*found));
	if (!outcome->result.ran)
		return 0; /* its error says why, and what helps */
	for (size_t i = 0; i < tables_hint_words_count; i++)
		if (holds_by_itself(outcome, tables_hint_words[i].evidence))
			found[tables_hint_words[i].cause].is_found = true;
	if (text && outcome_status(&outcome->result) != 0)
		split(&s, text, length);
	for (size_t i = 0; i < s.line_count && !s.error; i++)
		explain(&s, i);
	arena_free(&arena);
	return s.error;
}

/* ---- the text -------------------------------------------------------------------------------------------------- */

char *hints_text(struct arena *arena, size_t cause, const struct hint_found *found, bool for_agent)
{
	static const char place[] = "{path}";
	struct buf text BUF_CLEANUP = BUF_INIT(TEXT_HINT_MOST);
	const char *rest = for_agent ? tables_hints[cause].agent : tables_hints[cause].human, *hole;

	for (; (hole = strstr(rest, place)); rest = hole + sizeof(place) - 1) {
		buf_add(&text, rest, (size_t)(hole - rest));
		buf_shell(&text, found->path ? found->path : "PATH");
	}
	buf_str(&text, rest);
	return text.error ? NULL : arena_strndup(arena, text.data, text.len);
}
