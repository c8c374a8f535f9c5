/* SPDX-License-Identifier: Apache-2.0 */
/* `config paths --json`: the files that were looked for. */
#include <errno.h>
#include <unistd.h>

#include "base/json.h"
#include "report/report.h"

static json_t *file_json(const struct policy_file *file)
{
	json_t *object = json_object();
	int r = json_put_bytes(object, "layer", report_layer_names[file->layer]);

	r |= json_put_bytes(object, "path", file->path);
	r |= json_put(object, "exists", json_boolean(file->exists));
	if (file->exists)
		r |= json_put_bytes(object, "sha256", file->sha256);
	if (file->layer == LAYER_PROJECT)
		r |= json_put(object, "trusted", json_boolean(file->trusted));
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* It is none of the layers, and one more file that decides. */
static int append_trust(json_t *array, const struct pinfold_policy *policy)
{
	struct arena arena = { 0 };
	const char *path = trust_path(&arena, &policy->who);
	json_t *object = path ? json_object() : NULL;
	int r = 0;

	if (path) {
		r = json_put_bytes(object, "layer", "trust");
		r |= json_put_bytes(object, "path", path);
		r |= json_put(object, "exists", json_boolean(access(path, F_OK) == 0));
		r |= json_array_append_new(array, object);
	}
	arena_free(&arena);
	return r;
}

int paths_json(const struct pinfold_policy *policy, struct buf *out)
{
	json_t *array = json_array();
	int r = array ? 0 : -ENOMEM;

	for (size_t i = 0; i < policy->file_count; i++)
		r |= json_array_append_new(array, file_json(&policy->files[i]));
	if (r == 0)
		r = append_trust(array, policy);
	json_write(json_done(array, r), JSON_INDENT(2), out);
	buf_char(out, '\n');
	return out->error;
}
