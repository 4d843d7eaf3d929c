/* Reads the rules file and keeps its patterns compiled; knows nothing of traces. */
#include "classify/rules.h"

#include <stdio.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "classify/roles.h"

#define RULES_MAX	4096	      /* rules in a file; more is a mistake, not a need */
#define RULES_MAX_BYTES (1u << 20)    /* of a rules file */
#define MATCH_LIMIT	(1000 * 1000) /* PCRE2 steps a name: a pattern that blows up is an error */
#define MATCH_MAX_BYTES 1024	      /* of a name: what tells names apart stands at their front */
#define MAX_GROUPS	32

extern const char embedded_names_rules[];

struct rule {
	struct rule *next;
	pcre2_code *code;
	int unit_group; /* number of (?<unit>...), 0 if none */
	uint32_t line;
	uint8_t role;
};

struct rules {
	struct rule *first[DOMAIN_COUNT], **last[DOMAIN_COUNT];
	pcre2_match_context *context;
	uint64_t hash;
	uint32_t count;
};

#define WORD(name, word) word,
static const char *const kernel_words[] = {KERNEL_ROLES(WORD)};
static const char *const call_words[] = {CALL_ROLES(WORD)};
static const char *const op_words[] = {OP_ROLES(WORD)};

static const struct {
	const char *word;
	const char *const *classes;
	uint32_t class_count;
} domains[] = {
	[DOMAIN_KERNEL] = {"kernel", kernel_words, KERNEL_ROLE_COUNT},
	[DOMAIN_CALL] = {"call", call_words, CALL_ROLE_COUNT},
	[DOMAIN_OP] = {"op", op_words, OP_ROLE_COUNT},
};

/* The next blank-separated field of [*at, end), or an empty one. */
static const char *take_field(const char **at, const char *end, size_t *ret_length)
{
	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	const char *start = *at;
	while (*at < end && **at != ' ' && **at != '\t')
		(*at)++;
	*ret_length = (size_t)(*at - start);
	return start;
}

static bool find_word(
	const char *const *words, uint32_t count, const char *text, size_t length, uint32_t *ret)
{
	for (uint32_t i = 0; i < count; i++) {
		if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static bool refuse_class(
	struct err *err, uint32_t line, uint32_t domain, const char *text, size_t length)
{
	char known[512] = "";
	for (uint32_t i = 0; i < domains[domain].class_count; i++) {
		const size_t used = strlen(known);
		snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
			domains[domain].classes[i]);
	}
	return err_set(err, ERR_USAGE, "line %u: no %s class \"%.*s\"; known: %s", line,
		domains[domain].word, (int)length, text, known);
}

static bool compile(struct rule *rule, const char *pattern, size_t length, struct err *err)
{
	int code;
	PCRE2_SIZE offset;
	rule->code = pcre2_compile((PCRE2_SPTR)pattern, length,
		PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_BACKSLASH_C, &code, &offset, NULL);
	if (!rule->code) {
		PCRE2_UCHAR text[160];
		pcre2_get_error_message(code, text, sizeof text);
		return err_set(err, ERR_USAGE, "line %u: column %zu of the pattern: %s", rule->line,
			offset + 1, (const char *)text);
	}
	/* Without JIT the pattern is matched all the same. */
	pcre2_jit_compile(rule->code, PCRE2_JIT_COMPLETE);
	const int group = pcre2_substring_number_from_name(rule->code, (PCRE2_SPTR) "unit");
	rule->unit_group = group > 0 ? group : 0;
	if (rule->unit_group >= MAX_GROUPS)
		return err_set(err, ERR_USAGE, "line %u: more than %d groups before (?<unit>)",
			rule->line, MAX_GROUPS);
	return true;
}

static bool add_rule(
	struct rules *rules, uint32_t line, const char *at, const char *end, struct err *err)
{
	size_t domain_length, class_length;
	const char *domain_text = take_field(&at, end, &domain_length);
	const char *class_text = take_field(&at, end, &class_length);
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (at == end)
		return err_set(err, ERR_USAGE, "line %u: a rule is DOMAIN CLASS PATTERN", line);

	uint32_t domain = DOMAIN_COUNT, role = 0;
	for (uint32_t d = 0; d < DOMAIN_COUNT; d++)
		if (find_word(&domains[d].word, 1, domain_text, domain_length, &role))
			domain = d;
	if (domain == DOMAIN_COUNT)
		return err_set(err, ERR_USAGE,
			"line %u: no domain \"%.*s\"; known: kernel, call, op", line,
			(int)domain_length, domain_text);
	if (!find_word(domains[domain].classes, domains[domain].class_count, class_text,
		    class_length, &role))
		return refuse_class(err, line, domain, class_text, class_length);
	if (rules->count++ == RULES_MAX)
		return err_set(err, ERR_USAGE, "more than %d rules", RULES_MAX);

	struct rule *rule = mem_new(1, sizeof *rule, err);
	if (!rule)
		return false;
	*rules->last[domain] = rule;
	rules->last[domain] = &rule->next;
	rule->line = line;
	rule->role = (uint8_t)role;
	return compile(rule, at, (size_t)(end - at), err);
}

static bool add_text(struct rules *rules, const char *text, const char *name, struct err *err)
{
	uint32_t line = 0;
	for (const char *at = text; *at;) {
		const char *end = strchrnul(at, '\n'), *next = *end ? end + 1 : end;
		line++;
		while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
			end--;
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		if (at < end && *at != '#' && !add_rule(rules, line, at, end, err))
			return err_prefix(err, "%s", name);
		at = next;
	}
	rules->hash = XXH3_64bits_withSeed(text, strlen(text), rules->hash);
	return true;
}

struct rules *rules_parse(const char *text, const char *name, struct err *err)
{
	struct rules *rules = mem_new(1, sizeof *rules, err);
	if (!rules)
		return NULL;
	for (uint32_t d = 0; d < DOMAIN_COUNT; d++)
		rules->last[d] = &rules->first[d];
	rules->context = pcre2_match_context_create(NULL);
	if (!rules->context)
		err_set(err, ERR_NOMEM, "out of memory for the rules");
	if (!rules->context || (text && !add_text(rules, text, name, err)) ||
		!add_text(rules, embedded_names_rules, "built-in rules", err)) {
		rules_free(rules);
		return NULL;
	}
	pcre2_set_match_limit(rules->context, MATCH_LIMIT);
	return rules;
}

/* The whole of a small text file, NUL-terminated. */
static char *load_text(const char *path, struct err *err)
{
	FILE *file = fopen(path, "rbe");
	if (!file) {
		err_set(err, ERR_USAGE, "%s: %m", path);
		return NULL;
	}
	char *text = mem_new(RULES_MAX_BYTES + 1, 1, err);
	if (text) {
		const size_t length = fread(text, 1, RULES_MAX_BYTES + 1, file);
		if (ferror(file) || length > RULES_MAX_BYTES || memchr(text, '\0', length)) {
			err_set(err, ERR_USAGE, "%s: not a rules file (text, at most %u bytes)",
				path, RULES_MAX_BYTES);
			mem_free(text);
			text = NULL;
		} else {
			text[length] = '\0';
		}
	}
	fclose(file);
	return text;
}

struct rules *rules_load(const char *path, struct err *err)
{
	if (!path)
		return rules_parse(NULL, "", err);
	char *text = load_text(path, err);
	if (!text)
		return NULL;
	struct rules *rules = rules_parse(text, path, err);
	mem_free(text);
	return rules;
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (uint32_t d = 0; d < DOMAIN_COUNT; d++) {
		while (rules->first[d]) {
			struct rule *next = rules->first[d]->next;
			pcre2_code_free(rules->first[d]->code);
			mem_free(rules->first[d]);
			rules->first[d] = next;
		}
	}
	pcre2_match_context_free(rules->context);
	mem_free(rules);
}

uint64_t rules_hash(const struct rules *rules)
{
	return rules->hash;
}

bool rules_match(const struct rules *rules, enum rule_domain domain, const char *text,
	uint32_t length, struct rule_match *ret, struct err *err)
{
	*ret = (struct rule_match){0};
	length = length < MATCH_MAX_BYTES ? length : MATCH_MAX_BYTES;
	pcre2_match_data *data = pcre2_match_data_create(MAX_GROUPS, NULL);
	if (!data)
		return err_set(err, ERR_NOMEM, "out of memory for the rules");
	int result = PCRE2_ERROR_NOMATCH;
	const struct rule *rule = rules->first[domain];
	for (; rule; rule = rule->next) {
		result = pcre2_match(
			rule->code, (PCRE2_SPTR)text, length, 0, 0, data, rules->context);
		if (result != PCRE2_ERROR_NOMATCH)
			break;
	}
	if (rule && result < 0) {
		pcre2_match_data_free(data);
		return err_set(err, ERR_USAGE, "rules: line %u: the pattern gives up on \"%.60s\"",
			rule->line, text);
	}
	if (rule) {
		ret->role = rule->role;
		const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
		const int group = rule->unit_group;
		if (group) {
			ret->has_unit = true;
			if (group < MAX_GROUPS && group < result &&
				ends[2 * group] != PCRE2_UNSET) {
				ret->unit_start = (uint32_t)ends[2 * group];
				ret->unit_length =
					(uint32_t)(ends[2 * group + 1] - ends[2 * group]);
			}
		}
	}
	pcre2_match_data_free(data);
	return true;
}
