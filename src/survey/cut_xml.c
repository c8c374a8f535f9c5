/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maven's settings.xml and NuGet.Config. Elements, attributes and text are read; comments are left out; a document
 * type, CDATA, a character reference, or an element that is not closed means that the file stays hidden.
 */
#include "survey/cut.h"

#include <string.h>
#include <strings.h>

enum { DEPTH_MAX = 32, ATTRIBUTES_MAX = 32 };

struct span {
	const char *p;
	size_t n;
};

struct attribute {
	struct span name, value;
};

struct element {
	struct span name; /* without the namespace's prefix */
	struct attribute attributes[ATTRIBUTES_MAX];
	size_t attribute_count;
	bool is_empty; /* <x/> */
};

struct xml {
	struct buf *out;
	const char *p, *end;
	struct span open[DEPTH_MAX];
	size_t depth;
	size_t cut_depth; /* 0: nothing is being cut; else the depth of the element that is */
	bool had_root;
};

static bool is(struct span span, const char *word)
{
	return span.n == strlen(word) && !strncasecmp(span.p, word, span.n);
}

static bool begins(const struct xml *xml, const char *word)
{
	return (size_t)(xml->end - xml->p) >= strlen(word) && !memcmp(xml->p, word, strlen(word));
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_-.:", c)) ||
	       (unsigned char)c >= 0x80;
}

static void skip_space(struct xml *xml)
{
	while (xml->p < xml->end && is_space(*xml->p))
		xml->p++;
}

static struct span read_name(struct xml *xml)
{
	struct span name = { xml->p, 0 };

	while (xml->p < xml->end && is_name(*xml->p))
		xml->p++;
	name.n = (size_t)(xml->p - name.p);
	return name;
}

static struct span without_prefix(struct span name)
{
	const char *colon = memrchr(name.p, ':', name.n);

	if (!colon)
		return name;
	return (struct span){ colon + 1, name.n - (size_t)(colon + 1 - name.p) };
}

/* Only the five entities that every reader knows. */
static bool has_known_entities(struct span text)
{
	static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" };
	const char *p = text.p, *end = text.p + text.n;

	while ((p = memchr(p, '&', (size_t)(end - p)))) {
		bool is_known = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if ((size_t)(end - p) >= strlen(known[i]) && !memcmp(p, known[i], strlen(known[i])))
				is_known = true;
		if (!is_known)
			return false;
		p++;
	}
	return true;
}

static bool read_attribute(struct xml *xml, struct attribute *ret)
{
	const char *end;
	char quote;

	ret->name = read_name(xml);
	skip_space(xml);
	if (!ret->name.n || xml->p >= xml->end || *xml->p++ != '=')
		return false;
	skip_space(xml);
	if (xml->p >= xml->end || (*xml->p != '"' && *xml->p != '\''))
		return false;
	quote = *xml->p++;
	end = memchr(xml->p, quote, (size_t)(xml->end - xml->p));
	if (!end)
		return false;
	ret->value = (struct span){ xml->p, (size_t)(end - xml->p) };
	xml->p = end + 1;
	return !memchr(ret->value.p, '<', ret->value.n) && has_known_entities(ret->value);
}

/* From behind "<" to behind ">". */
static bool read_element(struct xml *xml, struct element *ret)
{
	*ret = (struct element){ .name = without_prefix(read_name(xml)) };
	if (!ret->name.n)
		return false;
	while (true) {
		skip_space(xml);
		if (begins(xml, "/>")) {
			xml->p += 2;
			ret->is_empty = true;
			return true;
		}
		if (begins(xml, ">")) {
			xml->p++;
			return true;
		}
		if (ret->attribute_count == ATTRIBUTES_MAX || !is_space(xml->p[-1]) ||
		    !read_attribute(xml, &ret->attributes[ret->attribute_count]))
			return false;
		ret->attribute_count++;
	}
}

/* Elements that go whole. In Maven, `servers` holds nothing but logins; a mirror's or repository's id stays. */
static bool is_secret_element(struct span name)
{
	static const char *const names[] = { "servers", "packageSourceCredentials", "apikeys", "clientCertificates" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is(name, names[i]))
			return true;
	return cut_is_secret_name(name.p, name.n);
}

/* NuGet names its settings in attributes: <add key="http_proxy.password" value="…" />. */
static enum cut_value judge_attribute(struct buf *out, const struct attribute *attribute)
{
	struct span name = attribute->name;

	if (is(attribute->name, "fingerprint") || is(attribute->name, "schemaLocation"))
		return CUT_KEEP; /* public, and looks random */
	if (is(attribute->name, "key"))
		name = attribute->value;
	if (cut_is_secret_name(name.p, name.n))
		return CUT_DROP;
	return cut_judge(out, attribute->value.p, attribute->value.n);
}

/* A source of packages whose name says secret must not get lost. */
static bool has_address(const struct element *element)
{
	for (size_t i = 0; i < element->attribute_count; i++)
		if (memmem(element->attributes[i].value.p, element->attributes[i].value.n, "://", 3))
			return true;
	return false;
}

static enum cut_value judge_element(struct buf *out, const struct element *element)
{
	enum cut_value worst = CUT_KEEP;

	if (is_secret_element(element->name))
		return CUT_DROP;
	for (size_t i = 0; i < element->attribute_count && worst == CUT_KEEP; i++)
		worst = judge_attribute(out, &element->attributes[i]);
	return worst == CUT_DROP && has_address(element) ? CUT_UNSURE : worst;
}

static bool close_element(struct xml *xml, const char *start)
{
	struct span name;

	xml->p += 2;
	name = without_prefix(read_name(xml));
	skip_space(xml);
	if (!begins(xml, ">") || !xml->depth)
		return false;
	xml->p++;
	xml->depth--;
	if (name.n != xml->open[xml->depth].n || memcmp(name.p, xml->open[xml->depth].p, name.n))
		return false;
	if (!xml->cut_depth)
		cut_add(xml->out, start, (size_t)(xml->p - start));
	else if (xml->cut_depth == xml->depth + 1)
		xml->cut_depth = 0;
	return true;
}

static bool open_element(struct xml *xml, const char *start)
{
	struct element element;
	enum cut_value verdict = CUT_DROP;

	xml->p++;
	if (!read_element(xml, &element) || xml->depth == DEPTH_MAX || (!xml->depth && xml->had_root))
		return false;
	if (!xml->had_root && !is(element.name, "settings") && !is(element.name, "configuration"))
		return false;
	if (!xml->cut_depth)
		verdict = judge_element(xml->out, &element);
	if (verdict == CUT_UNSURE || (verdict != CUT_KEEP && !xml->had_root))
		return false;
	xml->had_root = true;
	if (verdict == CUT_KEEP)
		cut_add(xml->out, start, (size_t)(xml->p - start));
	if (element.is_empty)
		return true;
	xml->open[xml->depth++] = element.name;
	if (verdict != CUT_KEEP && !xml->cut_depth)
		xml->cut_depth = xml->depth;
	return true;
}

static bool read_comment(struct xml *xml)
{
	const char *end = memmem(xml->p + 4, (size_t)(xml->end - xml->p) - 4, "-->", 3);

	if (!end)
		return false;
	xml->p = end + 3;
	return true;
}

/* Of another encoding than UTF-8, what was looked through is not what Maven would read. */
static bool read_declaration(struct xml *xml, const char *begin)
{
	const char *end = memmem(xml->p, (size_t)(xml->end - xml->p), "?>", 2);
	size_t n = end ? (size_t)(end - xml->p) : 0;

	if (!end || xml->p != begin || memchr(xml->p + 1, '<', n - 1))
		return false;
	if (memmem(xml->p, n, "encoding", 8) && !memmem(xml->p, n, "utf-8", 5) && !memmem(xml->p, n, "UTF-8", 5))
		return false;
	buf_add(xml->out, xml->p, n + 2);
	xml->p = end + 2;
	return true;
}

static bool is_all_space(struct span text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!is_space(text.p[i]))
			return false;
	return true;
}

/* Text; the user's own properties show only what is plain. */
static bool read_text(struct xml *xml)
{
	const char *lt = memchr(xml->p, '<', (size_t)(xml->end - xml->p));
	struct span text = { xml->p, (size_t)((lt ? lt : xml->end) - xml->p) };
	bool is_property = xml->depth >= 2 && is(xml->open[xml->depth - 2], "properties");
	enum cut_value verdict;

	xml->p += text.n;
	if (is_all_space(text)) {
		if (!xml->cut_depth)
			buf_add(xml->out, text.p, text.n);
		return true;
	}
	if (!xml->depth || !has_known_entities(text))
		return false;
	if (xml->cut_depth)
		return true;
	verdict = cut_judge(xml->out, text.p, text.n);
	if (verdict == CUT_KEEP && is_property && !cut_is_plain(text.p, text.n))
		verdict = CUT_DROP;
	if (verdict == CUT_KEEP)
		cut_add(xml->out, text.p, text.n);
	return verdict != CUT_UNSURE;
}

static bool read_next(struct xml *xml, const char *begin)
{
	if (*xml->p != '<')
		return read_text(xml);
	if (begins(xml, "<!--"))
		return read_comment(xml);
	if (begins(xml, "<?xml "))
		return read_declaration(xml, begin);
	if (begins(xml, "</"))
		return close_element(xml, xml->p);
	return open_element(xml, xml->p);
}

int cut_xml(struct buf *out, const char *text, size_t len)
{
	struct xml xml = { .out = out, .p = text, .end = text + len };

	while (xml.p < xml.end)
		if (!read_next(&xml, text))
			return 0;
	return xml.had_root && !xml.depth ? 1 : 0;
}
