/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"
#include "xt.h"

#include <string.h>

static const pe_option_info rows[] = {
	PE_INT("k", "8", 1, 100, "an integer"),
	PE_REAL("base", "10000", 1, 1e6, "a real"),
	PE_BOOLEAN("flag", "0", "a flag"),
	PE_CHOICE("pad", "zero", "zero|nan|error", "a choice"),
	PE_LIST("sections", "", 0, 64, "a list"),
	PE_STRING("file", "", "a text"),
};
/* As long as the per-frequency factors of a long-context model. */
#define TEN_NUMBERS \
	"1.0123456789/2.0123456789/3.0123456789/4.0123456789/5.0123456789/" \
	"1.0123456789/2.0123456789/3.0123456789/4.0123456789/5.0123456789"
#define LONG_LIST "sections=" TEN_NUMBERS "/" TEN_NUMBERS "/" TEN_NUMBERS "/" TEN_NUMBERS

static const pe_preset_info presets[] = {
	{"small", "k=2,pad=nan,sections=1/2", "for the test"},
	{"other", "base=7", "for the test"},
	{"long", LONG_LIST ",k=3", "for the test"},
};
static const struct pe_option_table table = PE_TABLE("toy", rows, presets);

static pe_params *make(void **state)
{
	pe_params *params;
	assert_int_equal(pe_params_from_table(*state, &table, &params), PE_OK);
	return params;
}

static void starts_with_the_defaults(void **state)
{
	pe_params *p = make(state);
	int64_t count;
	assert_int_equal(pe_params_int(p, "k"), 8);
	assert_true(pe_params_real(p, "base") == 10000);
	assert_false(pe_params_bool(p, "flag"));
	assert_int_equal(pe_params_choice(p, "pad"), 0);
	pe_params_list(p, "sections", &count);
	assert_int_equal(count, 0);
	assert_string_equal(pe_params_text(p, "file"), "");
	assert_int_equal(pe_params_count(p), 6);
	assert_false(pe_params_is_set(p, "k"));
	pe_params_destroy(&p);
	assert_null(p);
}

static void takes_what_is_in_range(void **state)
{
	pe_params *p = make(state);
	int64_t count;
	xt_set(p, "k=100,base=1e6,flag=1,pad=error,sections=16/24/24.5,file=a b");
	assert_int_equal(pe_params_int(p, "k"), 100);
	assert_true(pe_params_real(p, "base") == 1e6);
	assert_true(pe_params_bool(p, "flag"));
	assert_int_equal(pe_params_choice(p, "pad"), 2);
	const double *list = pe_params_list(p, "sections", &count);
	assert_int_equal(count, 3);
	assert_true(list[2] == 24.5);
	assert_string_equal(pe_params_get(p, "file"), "a b");
	assert_true(pe_params_is_set(p, "k"));
	pe_params_destroy(&p);
}

static void refuses_the_rest_and_changes_nothing(void **state)
{
	static const struct {
		const char *name, *value, *message;
	} cases[] = {
		{"k", "0", "toy: k: \"0\" is not an integer from 1 to 100"},
		{"k", "101", "1 to 100"},
		{"k", "12x", "\"12x\""},
		{"k", "", "\"\""},
		{"k", "1e1", "not an integer"},
		{"k", "99999999999999999999", "not an integer"},
		{"base", "nan", "not a number from 1 to 1000000"},
		{"base", "inf", "not a number"},
		{"base", "0x10", "not a number"},
		{"base", " 3", "not a number"},
		{"flag", "yes", "not 0 or 1"},
		{"pad", "zer", "not one of zero|nan|error"},
		{"pad", "", "not one of"},
		{"sections", "1//2", "a list"},
		{"sections", "1/65", "0 to 64"},
		{"preset", "none", "no preset \"none\""},
	};
	pe_params *p = make(state);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		xt_fails(*state, pe_params_set(p, cases[i].name, cases[i].value), PE_ERR_RANGE, cases[i].message);
	xt_fails(*state, pe_params_set(p, "K", "1"), PE_ERR_ARGUMENT, "toy has no option \"K\"");
	assert_int_equal(pe_params_int(p, "k"), 8);
	assert_int_equal(pe_params_choice(p, "pad"), 0);
	assert_null(pe_params_get(p, "nothing"));
	pe_params_destroy(&p);
}

/* A preset fills what was not set by name, whichever comes first. */
static void presets_yield_to_names(void **state)
{
	pe_params *p = make(state);
	int64_t count;
	xt_set(p, "k=5,preset=small");
	assert_int_equal(pe_params_int(p, "k"), 5);
	assert_int_equal(pe_params_choice(p, "pad"), 1);
	pe_params_list(p, "sections", &count);
	assert_int_equal(count, 2);
	assert_string_equal(pe_params_get(p, "preset"), "small");
	xt_set(p, "pad=error,preset=other");
	assert_int_equal(pe_params_choice(p, "pad"), 2);
	pe_params_list(p, "sections", &count);
	assert_int_equal(count, 0); /* the first preset's settings are gone */
	assert_true(pe_params_real(p, "base") == 7);
	xt_set(p, "preset=long");
	assert_true(pe_params_list(p, "sections", &count)[39] == 5.0123456789);
	assert_int_equal(count, 40);
	xt_set(p, "preset=other");
	pe_params *copy;
	assert_int_equal(pe_params_copy(*state, p, &copy), PE_OK);
	assert_true(pe_params_real(copy, "base") == 7);
	assert_true(pe_params_is_set(copy, "k") && !pe_params_is_set(copy, "base"));
	pe_params_destroy(&copy);
	pe_params_destroy(&p);
}

static void survives_lack_of_memory(void **state)
{
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		pe_params *p = NULL;
		xt_shortage_begin(&s);
		pe_status status = pe_params_from_table(*state, &table, &p);
		if (status == PE_OK)
			status = pe_params_set(p, "sections", "1/2/3");
		if (status == PE_OK)
			status = pe_params_set(p, "preset", "small");
		xt_shortage_end(&s, status);
		pe_params_destroy(&p);
	}
}

/* A preset is taken whole or not at all. */
static void a_preset_that_fails_changes_nothing(void **state)
{
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		pe_params *p = make(state);
		int64_t count;
		xt_set(p, "base=9");
		xt_shortage_begin(&s);
		xt_shortage_end(&s, pe_params_set(p, "preset", "small"));
		assert_true(pe_params_real(p, "base") == 9);
		assert_int_equal(pe_params_int(p, "k"), s.over ? 2 : 8);
		assert_true(s.over == (pe_params_choice(p, "pad") != 0));
		pe_params_list(p, "sections", &count);
		assert_int_equal(count != 0, s.over);
		assert_int_equal(pe_params_get(p, "preset") != NULL, s.over);
		pe_params_destroy(&p);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_with_the_defaults),
		cmocka_unit_test(takes_what_is_in_range),
		cmocka_unit_test(refuses_the_rest_and_changes_nothing),
		cmocka_unit_test(presets_yield_to_names),
		cmocka_unit_test(a_preset_that_fails_changes_nothing),
		cmocka_unit_test(survives_lack_of_memory),
	};
	return xt_run(argc, argv, tests);
}
