/* yaml.c: trees that know their place, key tables, every fault at once, bounds. */
#include "test.h"

#include "folder.h"
#include "src/yaml.h"

static const char *const purposes[] = {"both", "correctness", "timing", NULL};

struct limits {
    int64_t build_ns, memory_bytes;
};
struct layer {
    const char *text;
    int64_t count;
};
struct all {
    const char *text, *word;
    int64_t number, duration_ns, size_bytes;
    double real;
    bool flag;
    struct yaml_texts texts;
    struct yaml_argvs argvs;
    struct limits limits;
    struct yaml_structs layers;
    const struct yaml_node *node;
};

static const struct yaml_key limit_keys[] = {
    {.name = "build", .type = YAML_DURATION, .offset = offsetof(struct limits, build_ns), .fallback = "30m", .help = "of a build"},
    {.name = "memory", .type = YAML_BYTES, .offset = offsetof(struct limits, memory_bytes), .required = true, .help = "of a child"},
    {0},
};
static const struct yaml_key layer_keys[] = {
    {.name = "problem", .type = YAML_TEXT, .offset = offsetof(struct layer, text), .required = true, .help = "a problem"},
    {.name = "count", .type = YAML_INT, .offset = offsetof(struct layer, count), .min = 1, .max = 1000, .fallback = "1", .help = "how often"},
    {0},
};
static const struct yaml_key keys[] = {
    {.name = "text", .type = YAML_TEXT, .offset = offsetof(struct all, text), .fallback = "", .help = "a text"},
    {.name = "purpose", .type = YAML_WORD, .offset = offsetof(struct all, word), .words = purposes, .fallback = "both", .help = "what for"},
    {.name = "number", .type = YAML_INT, .offset = offsetof(struct all, number), .min = -5, .max = 100, .help = "a number"},
    {.name = "duration", .type = YAML_DURATION, .offset = offsetof(struct all, duration_ns), .help = "a duration"},
    {.name = "size", .type = YAML_BYTES, .offset = offsetof(struct all, size_bytes), .help = "a size"},
    {.name = "real", .type = YAML_REAL, .offset = offsetof(struct all, real), .min = 0.5, .max = 2, .help = "a real"},
    {.name = "flag", .type = YAML_BOOL, .offset = offsetof(struct all, flag), .fallback = "yes", .help = "a flag"},
    {.name = "texts", .type = YAML_TEXTS, .offset = offsetof(struct all, texts), .help = "texts"},
    {.name = "steps", .type = YAML_ARGVS, .offset = offsetof(struct all, argvs), .help = "commands"},
    {.name = "limits", .type = YAML_STRUCT, .offset = offsetof(struct all, limits), .table = limit_keys, .help = "limits"},
    {.name = "layers", .type = YAML_STRUCTS, .offset = offsetof(struct all, layers), .table = layer_keys, .size = sizeof(struct layer),
     .help = "layers"},
    {.name = "node", .type = YAML_NODE, .offset = offsetof(struct all, node), .help = "whatever"},
    {0},
};

/* One file, read and bound. */
struct reading {
    struct arena arena;
    struct yaml_faults faults;
    struct yaml_node *root;
    struct all all;
};

static int setup(void **state)
{
    struct reading *r = xcalloc(1, sizeof *r);
    yaml_faults_init(&r->faults, "f.yaml");
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct reading *r = *state;
    yaml_faults_release(&r->faults);
    arena_release(&r->arena);
    free(r);
    return 0;
}

static void again(struct reading *r)
{
    yaml_faults_release(&r->faults);
    yaml_faults_init(&r->faults, "f.yaml");
    r->all = (struct all){0};
}

static void parse_bytes(struct reading *r, const char *text, size_t length)
{
    again(r);
    yaml_parse(&r->root, &r->arena, &r->faults, text, length);
}

static void parse(struct reading *r, const char *text)
{
    parse_bytes(r, text, strlen(text));
}

static int bind(struct reading *r, const char *text)
{
    parse(r, text);
    if (r->root)
        yaml_bind(&r->all, &r->arena, &r->faults, r->root, "", keys);
    return yaml_faults_check(&r->faults);
}

static void assert_fault(struct reading *r, const char *text, const char *whole_message)
{
    assert_int_equal(bind(r, text), ERR_INVALID);
    assert_string_equal(err_message(), whole_message);
}

/* A broken text: one fault and no tree. */
static void assert_broken(struct reading *r, const char *text, const char *part)
{
    parse(r, text);
    assert_null(r->root);
    assert_fails(yaml_faults_check(&r->faults), ERR_INVALID, part);
    assert_int_equal(r->faults.count, 1);
}

static void nodes_know_their_place(void **state)
{
    struct reading *r = *state;
    parse(r, "# a comment\na: 1\nb:\n  - x\n  - {c: \"2\"}\n");
    assert_ok(yaml_faults_check(&r->faults));
    assert_int_equal(r->root->kind, YAML_MAP);
    assert_int_equal(r->root->count, 2);
    assert_int_equal(r->root->line, 2);
    const struct yaml_node *a = yaml_get(r->root, "a"), *b = yaml_get(r->root, "b");
    assert_string_equal(a->text, "1");
    assert_false(a->quoted);
    assert_int_equal(a->line, 2);
    assert_int_equal(a->column, 4);
    assert_int_equal(b->kind, YAML_LIST);
    assert_int_equal(b->count, 2);
    assert_int_equal(b->items[0]->line, 4);
    assert_int_equal(b->items[0]->column, 5);
    const struct yaml_node *c = yaml_get(b->items[1], "c");
    assert_true(c->quoted);
    assert_string_equal(b->items[1]->keys[0]->text, "c");
    assert_int_equal(c->line, 5);
    assert_int_equal(c->column, 9);
    assert_null(yaml_get(r->root, "c"));
    assert_null(yaml_get(b, "c"));
}

static void every_type_is_bound(void **state)
{
    struct reading *r = *state;
    assert_ok(bind(r, "text: conv\npurpose: timing\nnumber: -5\nduration: 500ms\nsize: 16M\nreal: 1.25\nflag: no\n"
                      "texts: [a, \"\", '3']\nsteps:\n  - [cmake, -B, out]\n  - [ninja]\n"
                      "limits: {build: 1h, memory: 4k}\nlayers:\n  - problem: p\n  - {problem: q, count: 7}\nnode: [1]\n"));
    const struct all *v = &r->all;
    assert_string_equal(v->text, "conv");
    assert_ptr_equal(v->word, purposes[2]);
    assert_int_equal(v->number, -5);
    assert_int_equal(v->duration_ns, 500000000);
    assert_int_equal(v->size_bytes, 16 << 20);
    assert_true(v->real == 1.25);
    assert_false(v->flag);
    assert_int_equal(v->texts.count, 3);
    assert_string_equal(v->texts.items[0], "a");
    assert_string_equal(v->texts.items[1], "");
    assert_string_equal(v->texts.items[2], "3");
    assert_int_equal(v->texts.nodes[1]->column, 12);
    assert_int_equal(v->argvs.count, 2);
    assert_string_equal(v->argvs.items[0][2], "out");
    assert_null(v->argvs.items[0][3]);
    assert_string_equal(v->argvs.items[1][0], "ninja");
    assert_int_equal(v->limits.build_ns, 3600000000000);
    assert_int_equal(v->limits.memory_bytes, 4096);
    assert_int_equal(v->layers.count, 2);
    const struct layer *layers = v->layers.items;
    assert_string_equal(layers[0].text, "p");
    assert_int_equal(layers[0].count, 1);
    assert_int_equal(layers[1].count, 7);
    assert_int_equal(v->layers.nodes[1]->line, 15);
    assert_int_equal(v->node->kind, YAML_LIST);
}

static void missing_keys_fall_back(void **state)
{
    struct reading *r = *state;
    parse(r, "texts: one\n");
    r->all.number = 42;
    yaml_bind(&r->all, &r->arena, &r->faults, r->root, "", keys);
    assert_ok(yaml_faults_check(&r->faults));
    assert_string_equal(r->all.text, "");
    assert_string_equal(r->all.word, "both");
    assert_true(r->all.flag);
    assert_int_equal(r->all.number, 42);
    assert_int_equal(r->all.texts.count, 1);
    assert_string_equal(r->all.texts.items[0], "one");
    /* A map that is not there still has its table's fallbacks; what is required in it is not missed. */
    assert_int_equal(r->all.limits.build_ns, 1800000000000);
    assert_int_equal(r->all.limits.memory_bytes, 0);
    assert_null(r->all.node);
    assert_ok(bind(r, "{}"));
}

static void every_fault_is_told_at_its_place(void **state)
{
    struct reading *r = *state;
    assert_fault(r,
                 "txet: a\npurpose: tming\nnumber: many\nsize: 3 cows\nlayers:\n  - count: 0\n  - problem: p\n    cuont: 2\n  - 7\n"
                 "limits: [1]\nsteps:\n  - ninja\n  - []\n",
                 "f.yaml:1:1: txet: there is no such key (did you mean `text`?)\n"
                 "f.yaml:2:10: purpose: `tming` is not one of both, correctness, timing (did you mean `timing`?)\n"
                 "f.yaml:3:9: number: `many` is not a whole number\n"
                 "f.yaml:4:7: size: `3 cows` is no size: the units are  k M G T\n"
                 "f.yaml:6:12: layers[0].count: 0 is not between 1 and 1000\n"
                 "f.yaml:6:5: layers[0].problem: is missing: a problem\n"
                 "f.yaml:8:5: layers[1].cuont: there is no such key (did you mean `count`?)\n"
                 "f.yaml:9:5: layers[2]: `7` is not a map of keys\n"
                 "f.yaml:10:9: limits: a list stands where a map of keys is wanted\n"
                 "f.yaml:12:5: steps[0]: `ninja` is not a list of words: the command and its arguments\n"
                 "f.yaml:13:5: steps[1]: a list stands where a list of words: the command and its arguments is wanted");
    assert_int_equal(err_code(), ERR_INVALID);
}

static void wrong_values(void **state)
{
    struct reading *r = *state;
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"number: \"5\"", "f.yaml:1:9: number: `5` is not a whole number"},
        {"number: !!str 5", "f.yaml:1:9: number: `5` is not a whole number"},
        {"number: 5.0", "f.yaml:1:9: number: `5.0` is not a whole number"},
        {"number: 99999999999999999999", "f.yaml:1:9: number: `99999999999999999999` is not a whole number"},
        {"number: 101", "f.yaml:1:9: number: 101 is not between -5 and 100"},
        {"number: [1]", "f.yaml:1:9: number: a list stands where a single value is wanted"},
        {"real: nan", "f.yaml:1:7: real: `nan` is not a number"},
        {"real: inf", "f.yaml:1:7: real: `inf` is not a number"},
        {"real: 0.25", "f.yaml:1:7: real: 0.25 is not between 0.5 and 2"},
        {"real: '1'", "f.yaml:1:7: real: `1` is not a number"},
        {"flag: maybe", "f.yaml:1:7: flag: `maybe` is not yes or no"},
        {"flag: \"yes\"", "f.yaml:1:7: flag: `yes` is not yes or no without quotes"},
        {"duration: 5", "f.yaml:1:11: duration: `5` is no duration: the units are ns us ms s m h"},
        {"purpose: zebra", "f.yaml:1:10: purpose: `zebra` is not one of both, correctness, timing"},
        {"texts: [a, [b]]", "f.yaml:1:12: texts[1]: a list stands where a single value is wanted"},
        {"texts: {a: b}", "f.yaml:1:8: texts: a map stands where a single value is wanted"},
        {"texts: [a, ]\ntext: {a: b}", "f.yaml:2:7: text: a map stands where a single value is wanted"},
        {"texts:\n- a\n-", "f.yaml:3:2: texts[1]: has no value"},
        {"steps: ninja", "f.yaml:1:8: steps: `ninja` is not a list of commands, each a list of words"},
        {"steps: [[a, [b]]]", "f.yaml:1:13: steps[0][1]: a list stands where a single value is wanted"},
        {"layers: {}", "f.yaml:1:9: layers: a map stands where a list of maps is wanted"},
        {"limits: {build: 1s}", "f.yaml:1:9: limits.memory: is missing: of a child"},
        {"limits: {zzzzz: 1s, memory: 1}", "f.yaml:1:10: limits.zzzzz: there is no such key"},
        {"text:", "f.yaml:1:1: text: has no value"},
        {"text: ~", "f.yaml:1:1: text: has no value"},
        {"- text", "f.yaml:1:1: a list stands where a map of keys is wanted"},
        {"<<: {text: a}", "f.yaml:1:1: <<: there is no such key"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_fault(r, cases[i].text, cases[i].fault);
    assert_ok(bind(r, "node:\ntext: \"\"\n"));
    assert_ok(bind(r, "text: !!str 5\nnumber: !!int 5\nflag: true\n"));
    assert_true(r->all.flag);
    assert_ok(bind(r, "flag: false\n"));
    assert_false(r->all.flag);
}

static void a_key_given_twice(void **state)
{
    struct reading *r = *state;
    assert_fault(r, "text: a\nnumber: 1\ntext: b\nnumber: 2\ntext: c\n",
                 "f.yaml:4:1: number: given twice, first in line 2\n"
                 "f.yaml:3:1: text: given twice, first in line 1\n"
                 "f.yaml:5:1: text: given twice, first in line 1");
    assert_fault(r, "{limits: {memory: 1, memory: 2}}", "f.yaml:1:22: memory: given twice, first in line 1");
    assert_ok(bind(r, "layers: [{problem: a}, {problem: b}]"));
}

static void broken_text(void **state)
{
    struct reading *r = *state;
    assert_broken(r, "", "f.yaml:1:1: the file is empty");
    assert_broken(r, "# only a comment\n", "the file is empty");
    assert_broken(r, "a: [1, 2\nb: 3\n", "f.yaml:2:");
    assert_broken(r, "a: 1\n\tb: 2\n", "f.yaml:2:");
    assert_broken(r, "a: \"open\n", "quoted scalar");
    assert_broken(r, "a: 1\n--- \nb: 2\n", "f.yaml:2:1: a second document in one file");
    assert_broken(r, "a: !mine 1\n", "f.yaml:1:4: the tag !mine is not known here");
    assert_broken(r, "a: !!python/object 1\n", "tag:yaml.org,2002:python/object is not known");
    assert_broken(r, "a: !!binary aGk=\n", "is not known");
    assert_broken(r, "a: *nowhere\n", "f.yaml:1:4: there is no anchor `nowhere`");
    assert_broken(r, "a: &x [1, *x]\n", "f.yaml:1:11: an alias inside its own anchor");
    assert_broken(r, "[a]: 1\n", "a key must be a word");
    assert_broken(r, "? {a: 1}\n: 2\n", "a key must be a word");
    assert_broken(r, "a: \"x\\0y\"\n", "f.yaml:1:4: a NUL byte inside a text");
    assert_broken(r, "ab: c\nde: \xff\xfe\n", "f.yaml:2:5: ");
    assert_broken(r, "ab: c\nde: \x01\n", "f.yaml:2:5: control characters are not allowed");
    parse_bytes(r, "a: b\0c: d", 9);
    assert_null(r->root);
    assert_int_equal(r->faults.count, 1);
}

static void aliases_share_their_anchor(void **state)
{
    struct reading *r = *state;
    assert_ok(bind(r, "node: &l {problem: p, count: 3}\nlayers: [*l, *l, {problem: &t q}]\ntext: *t\n"));
    const struct layer *layers = r->all.layers.items;
    assert_int_equal(r->all.layers.count, 3);
    assert_string_equal(layers[0].text, "p");
    assert_int_equal(layers[1].count, 3);
    assert_string_equal(r->all.text, "q");
    assert_ptr_equal(r->all.layers.nodes[0], r->all.node);
    /* The latest anchor of a name holds. */
    assert_ok(bind(r, "node: &x 1\ntext: &x two\ntexts: [*x]\n"));
    assert_string_equal(r->all.texts.items[0], "two");
}

/* "a0: &a0 [x,x...]", then each line names the one before nine times. */
static void a_billion_laughs(void **state)
{
    struct reading *r = *state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    buf_add_text(&b, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 20; i++) {
        buf_printf(&b, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++)
            buf_printf(&b, "%s*a%d", k ? "," : "", i - 1);
        buf_add_text(&b, "]\n");
    }
    assert_broken(r, b.data, "more nodes than a configuration file can want");
    buf_release(&b);
}

static void nest(struct buf *b, int levels, const char *inside)
{
    for (int i = 0; i < levels; i++)
        buf_add_char(b, '[');
    buf_add_text(b, inside);
    for (int i = 0; i < levels; i++)
        buf_add_char(b, ']');
}

static void depth_is_bounded(void **state)
{
    struct reading *r = *state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    nest(&b, 64, "x");
    parse(r, b.data);
    assert_ok(yaml_faults_check(&r->faults));
    buf_clear(&b);
    nest(&b, 65, "x");
    assert_broken(r, b.data, "f.yaml:1:66: nested too deeply");
    buf_clear(&b);
    nest(&b, 100000, "x");
    assert_broken(r, b.data, "nested too deeply");
    /* By aliases: 40 levels within 22 (the list's own and that of its key) fit, within 25 they do not. */
    for (int outer = 22; outer <= 25; outer += 3) {
        buf_clear(&b);
        buf_add_text(&b, "a: &a ");
        nest(&b, 40, "x");
        buf_add_text(&b, "\nb: &b ");
        nest(&b, outer, "*a");
        buf_add_text(&b, "\nc: *b\n");
        if (outer == 25)
            assert_broken(r, b.data, "nested too deeply");
        else
            parse(r, b.data);
    }
    buf_clear(&b);
    buf_add_text(&b, "a0: &a0 x\n");
    for (int i = 1; i < 100; i++)
        buf_printf(&b, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    assert_broken(r, b.data, "f.yaml:65:");
    buf_release(&b);
}

static void size_and_anchors_are_bounded(void **state)
{
    struct reading *r = *state;
    size_t size = (16 << 20) + 1;
    char *text = xmalloc(size);
    memset(text, ' ', size);
    text[0] = 'a';
    parse_bytes(r, text, size);
    assert_null(r->root);
    assert_fails(yaml_faults_check(&r->faults), ERR_INVALID, "f.yaml:1:1: larger than 16 MiB");
    parse_bytes(r, text, size - 1);
    assert_ok(yaml_faults_check(&r->faults));
    free(text);
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    for (int i = 0; i < 513; i++)
        buf_printf(&b, "- &a%d x\n", i);
    assert_broken(r, b.data, "f.yaml:513:3: too many anchors");
    buf_release(&b);
}

static void of_many_faults_fifty_are_told(void **state)
{
    struct reading *r = *state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    for (int i = 0; i < 60; i++)
        buf_printf(&b, "wrong%d: 1\n", i);
    assert_int_equal(bind(r, b.data), ERR_INVALID);
    assert_non_null(strstr(err_message(), "wrong49: there is no such key\nand 10 more"));
    assert_null(strstr(err_message(), "wrong50"));
    buf_release(&b);
}

/* A key of 100,000, all of them alike: the sorted check of repeats must manage. */
static void large_maps_are_checked(void **state)
{
    struct reading *r = *state;
    struct buf b;
    buf_init(&b, BUF_MAX_FILE);
    for (int i = 0; i < 100000; i++)
        buf_printf(&b, "k%d: 1\n", i);
    parse(r, b.data);
    assert_ok(yaml_faults_check(&r->faults));
    assert_int_equal(r->root->count, 100000);
    buf_add_text(&b, "k77: 1\n");
    parse(r, b.data);
    assert_fails(yaml_faults_check(&r->faults), ERR_INVALID, "f.yaml:100001:1: k77: given twice, first in line 78");
    buf_release(&b);
}

static void files_are_loaded(void **state)
{
    struct reading *r = *state;
    void *held;
    assert_int_equal(folder_setup(&held), 0);
    struct folder *f = held;
    assert_ok(yaml_load(&r->root, &r->arena, &r->faults, folder_file(f, "a.yaml", "text: x\n")));
    assert_string_equal(yaml_get(r->root, "text")->text, "x");
    assert_ok(yaml_load(&r->root, &r->arena, &r->faults, folder_file(f, "b.yaml", "text: [x\n")));
    assert_null(r->root);
    assert_int_equal(r->faults.count, 1);
    assert_fails(yaml_load(&r->root, &r->arena, &r->faults, fs_join(&f->arena, f->path, "none.yaml")), ERR_NOTFOUND, "none.yaml");
    assert_fails(yaml_load(&r->root, &r->arena, &r->faults, f->path), ERR_IO, "directory");
    size_t size = 17 << 20;
    char *text = xcalloc(1, size);
    memset(text, '#', size - 1);
    again(r);
    assert_ok(yaml_load(&r->root, &r->arena, &r->faults, folder_file(f, "large.yaml", text)));
    assert_null(r->root);
    assert_fails(yaml_faults_check(&r->faults), ERR_INVALID, "larger than 16 MiB");
    free(text);
    folder_teardown(&held);
}

static void tables_print_themselves(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    static const struct yaml_key table[] = {
        {.name = "layers", .type = YAML_STRUCTS, .table = layer_keys, .help = "layers of the network"},
        {.name = "limits", .type = YAML_STRUCT, .table = limit_keys, .help = "of children"},
        {0},
    };
    yaml_print_keys(&b, table);
    assert_string_equal(b.data, "layers              list of maps: layers of the network\n"
                                "  problem           text, required: a problem\n"
                                "  count             whole number, default 1: how often\n"
                                "limits              map: of children\n"
                                "  build             duration, default 30m: of a build\n"
                                "  memory            size, required: of a child\n");
    buf_clear(&b);
    yaml_print_keys(&b, keys);
    for (const struct yaml_key *k = keys; k->name; k++)
        assert_non_null(strstr(b.data, k->name));
    buf_release(&b);
}

#define WITH_READING(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_READING(nodes_know_their_place),
        WITH_READING(every_type_is_bound),
        WITH_READING(missing_keys_fall_back),
        WITH_READING(every_fault_is_told_at_its_place),
        WITH_READING(wrong_values),
        WITH_READING(a_key_given_twice),
        WITH_READING(broken_text),
        WITH_READING(aliases_share_their_anchor),
        WITH_READING(a_billion_laughs),
        WITH_READING(depth_is_bounded),
        WITH_READING(size_and_anchors_are_bounded),
        WITH_READING(of_many_faults_fifty_are_told),
        WITH_READING(large_maps_are_checked),
        WITH_READING(files_are_loaded),
        WITH_READING(tables_print_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
