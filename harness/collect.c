#include "harness/collect_internal.h"

#include "harness/drivers/driver.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

static int describe_commit(struct report_commit *out, struct page *p, const char *sha)
{
    *out = (struct report_commit){
        .sha = *sha ? sha : "prebuilt", .subject = "", .author = "", .date = ""};
    if (!p->q->repo || strlen(sha) != REPO_SHA_SIZE - 1)
        return 0;
    struct repo_commit c;
    int status = repo_commit(&c, p->arena, p->q->repo, sha);
    if (status < 0)
        return status;
    char date[16];
    struct tm tm;
    time_t when = (time_t)c.date_s;
    gmtime_r(&when, &tm);
    strftime(date, sizeof date, "%Y-%m-%d", &tm);
    *out = (struct report_commit){
        .sha = sha, .subject = c.subject, .author = c.author, .date = arena_strdup(p->arena, date)};
    return 0;
}

/* The candidate's own words for a problem, "" when it has none. */
static const char *their_words(struct page *p, const char *problem, const char *variant)
{
    const struct driver *driver = driver_find(p->q->candidate->driver);
    struct driver_request request = {
        .arch = p->arch, .variant = variant, .asymmetric_pads = p->q->candidate->asymmetric_pads};
    struct buf out;
    buf_init(&out, BUF_MAX_LINE);
    const char *words = "";
    if (driver && problem_parse(&request.problem, problem) == 0 &&
        driver->spell(&out, &request) == 0)
        words = arena_strdup(p->arena, out.data);
    err_clear();
    buf_release(&out);
    return words;
}

static const char *again_run(const struct page *p, const char *commit, const char *problem)
{
    return arena_printf(p->arena, "assay run %s --rev %.12s --problem '%s'", p->q->options,
                        *commit ? commit : "HEAD", problem);
}

static enum tone check_tone(const struct gate *g, enum check_change c)
{
    if (c == CHECK_MISSING || c == CHECK_STILL_FAILING)
        return TONE_DOUBT;
    switch (check_change_answer(g, c)) {
    case GATE_BLOCKS:
        return TONE_BAD;
    case GATE_DOUBTS:
        return TONE_DOUBT;
    case GATE_PASSES:
        break;
    }
    return c == CHECK_NOT_APPLICABLE ? TONE_PLAIN : TONE_GOOD;
}

bool collect_is_told(const struct compared *c)
{
    return c->item.check || check_change_is_coverage(c->change);
}

static void add_check(struct page *p, const struct compared *c)
{
    p->report->checks[p->report->check_count++] = (struct report_check){
        .problem = c->item.problem,
        .change = check_change_words(c->change),
        .tone = check_tone(p->q->gate, c->change),
        .base = judge_describe(p->arena, &c->base),
        .head = judge_describe(p->arena, &c->head),
        .signature = *c->head.signature ? c->head.signature : c->base.signature,
        .again = again_run(p, p->q->comparison->row.head_commit, c->item.problem),
        .theirs = their_words(p, c->item.problem, c->item.variant)};
}

/* Worst first: what blocks, then doubts, then passes; in the order of the sweep within. */
static int by_tone(const void *left, const void *right)
{
    static const int order[] = {
        [TONE_BAD] = 0, [TONE_DOUBT] = 1, [TONE_PLAIN] = 2, [TONE_GOOD] = 3};
    const struct report_check *l = left, *r = right;
    int difference = order[l->tone] - order[r->tone];
    return difference ? difference : strcmp(l->problem, r->problem);
}

static void collect_checks(struct page *p)
{
    const struct comparison *c = p->q->comparison;
    p->report->checks = ARENA_ARRAY(p->arena, c->once_count, struct report_check);
    p->report->configurations = ARENA_ARRAY(p->arena, c->once_count, const char *);
    for (size_t i = 0; i < c->once_count; i++) {
        p->report->configurations[p->report->configuration_count++] = c->once[i]->item.problem;
        if (collect_is_told(c->once[i]))
            add_check(p, c->once[i]);
    }
    qsort(p->report->checks, p->report->check_count, sizeof *p->report->checks, by_tone);
}

static enum tone speed_tone(const struct speed_judgement *j)
{
    switch (j->verdict) {
    case SPEED_REGRESSED:
        return j->blocks ? TONE_BAD : TONE_DOUBT;
    case SPEED_INCONCLUSIVE:
    case SPEED_MISSING:
        return TONE_DOUBT;
    case SPEED_IDENTICAL_CODE:
        return TONE_PLAIN;
    default:
        return TONE_GOOD;
    }
}

/* A time's interval becomes a rate's: rate_new / rate_old - 1 = t_old / t_new - 1. */
static struct report_speed speed_row(const struct speed_judgement *j, double work)
{
    return (struct report_speed){.rate_new = j->head_ns > 0 ? work / j->head_ns * 1e9 : 0,
                                 .rate_old = j->base_ns > 0 ? work / j->base_ns * 1e9 : 0,
                                 .change = expm1(-j->effect.mean),
                                 .change_low = expm1(-j->effect.high),
                                 .change_high = expm1(-j->effect.low),
                                 .compare = speed_verdict_words(j->verdict),
                                 .tone = speed_tone(j),
                                 .pairs = (int64_t)j->effect.pairs,
                                 .reason = j->reason};
}

static void add_problem_speed(struct page *p, const struct compared *c)
{
    struct problem problem;
    if (problem_parse(&problem, c->item.problem) < 0)
        bug("a stored problem is malformed: %s", err_message());
    struct report_speed row = speed_row(&c->speed, (double)problem_flops(&problem) / 1e9);
    row.test = c->item.problem;
    row.batch = c->item.batch;
    row.unit = "GFLOP/s";
    const struct comparison_row *r = &p->q->comparison->row;
    row.again = arena_printf(p->arena,
                             "assay compare %s --base %.12s --head %.12s --problem '%s' --round 1",
                             p->q->options, r->base_commit, r->head_commit, c->item.problem);
    row.theirs = their_words(p, c->item.problem, c->item.variant);
    p->report->speeds[p->report->speed_count++] = row;
}

/* The layers of one model stand together in a comparison. */
static size_t add_model_speed(struct page *p, size_t first)
{
    const struct comparison *c = p->q->comparison;
    const char *name = c->items[first].item.model;
    size_t end = first;
    while (end < c->count && strcmp(c->items[end].item.model, name) == 0)
        end++;
    if (!c->items[first].item.time)
        return end;
    struct judge_layer *layers = ARENA_ARRAY(p->arena, end - first, struct judge_layer);
    for (size_t i = first; i < end; i++)
        layers[i - first] =
            (struct judge_layer){.count = c->items[i].item.count, .judgement = &c->items[i].speed};
    struct speed_judgement judgement;
    judge_model(&judgement, p->arena, p->q->gate, layers, end - first);
    struct report_speed row = speed_row(&judgement, (double)c->items[first].item.batch);
    row.test = name;
    row.batch = c->items[first].item.batch;
    row.unit = "images/s";
    row.model = true;
    row.again = row.theirs = "";
    p->report->speeds[p->report->speed_count++] = row;
    return end;
}

/* Models first, then problems: worst first. */
static int by_change(const void *left, const void *right)
{
    const struct report_speed *l = left, *r = right;
    if (l->model != r->model)
        return l->model ? -1 : 1;
    return (l->change > r->change) - (l->change < r->change);
}

static void collect_speeds(struct page *p)
{
    const struct comparison *c = p->q->comparison;
    p->report->speeds = ARENA_ARRAY(p->arena, 2 * c->count, struct report_speed);
    for (size_t i = 0; i < c->count;)
        i = *c->items[i].item.model ? add_model_speed(p, i) : i + 1;
    for (size_t i = 0; i < c->once_count; i++) {
        const struct compared *item = c->once[i];
        if (item->item.time && (item->timed || item->change == CHECK_PASSES))
            add_problem_speed(p, item);
    }
    qsort(p->report->speeds, p->report->speed_count, sizeof *p->report->speeds, by_change);
}

/* Problems with one culprit for one kind of failure are one blame. */
static bool same_story(const struct blame_row *x, const struct blame_row *y)
{
    bool alike = strcmp(x->level, y->level) == 0 && strcmp(x->culprit, y->culprit) == 0 &&
                 strcmp(x->label, y->label) == 0;
    return alike && (*x->culprit || strcmp(x->suspects, y->suspects) == 0);
}

static const char *blame_title(struct page *p, const struct blame_row *b)
{
    if (strcmp(b->label, "slower") == 0)
        return b->effect > 0 ? arena_printf(p->arena, "slower by %.2fx", 1 + b->effect) : "slower";
    return *b->label ? b->label : "failure";
}

static enum tone blame_tone(const char *level)
{
    if (strcmp(level, "PROVEN") == 0 || strcmp(level, "CONFIRMED") == 0)
        return TONE_BAD;
    return strcmp(level, "UNCHANGED-CODE") == 0 ? TONE_PLAIN : TONE_DOUBT;
}

static int add_suspects(struct report_blame *out, struct page *p, const struct blame_row *b)
{
    if (strcmp(b->level, "RANGE") != 0 || !*b->suspects)
        return 0;
    char *rest = arena_strdup(p->arena, b->suspects);
    out->suspects = ARENA_ARRAY(p->arena, strlen(rest) / 40 + 1, struct report_commit);
    int status = 0;
    for (char *sha; status == 0 && (sha = strsep(&rest, " "));)
        status = describe_commit(&out->suspects[out->suspect_count++], p, sha);
    return status;
}

static enum tone step_tone(const char *answer)
{
    return strcmp(answer, "good") == 0  ? TONE_GOOD
           : strcmp(answer, "bad") == 0 ? TONE_BAD
                                        : TONE_DOUBT;
}

static int add_steps(struct report_blame *out, struct page *p, const struct blame_row *b)
{
    struct step_row *steps;
    size_t count;
    int status = store_list_steps(&steps, &count, p->arena, p->q->store, b->hunt, b->problem);
    if (status < 0)
        return status;
    out->steps = ARENA_ARRAY(p->arena, count, struct report_step);
    for (size_t i = 0; i < count && status == 0; i++) {
        struct report_step *s = &out->steps[out->step_count++];
        *s = (struct report_step){.answer = steps[i].answer,
                                  .tone = step_tone(steps[i].answer),
                                  .detail = steps[i].detail};
        status = describe_commit(&s->commit, p, steps[i].commit);
    }
    return status;
}

static int add_blame(struct page *p, const struct blame_row *b)
{
    struct report_blame *out = &p->report->blames[p->report->blame_count++];
    *out = (struct report_blame){.what = blame_title(p, b),
                                 .level = b->level,
                                 .tone = blame_tone(b->level),
                                 .error_probability = *b->culprit ? b->error_probability : -1,
                                 .because = b->because,
                                 .builds = b->builds,
                                 .runs = b->runs,
                                 .theirs = their_words(p, b->problem, b->variant)};
    out->again = arena_printf(p->arena,
                              "assay bisect %s --good %.12s --bad %.12s%s --problem '%s' --round 1",
                              p->q->options, b->good_commit, b->bad_commit,
                              strcmp(b->label, "slower") == 0 ? " --slower" : "", b->problem);
    int status = *b->culprit ? describe_commit(&out->culprit, p, b->culprit) : 0;
    if (status == 0)
        status = add_suspects(out, p, b);
    return status < 0 ? status : add_steps(out, p, b);
}

static int collect_blames(struct page *p)
{
    const struct comparison_row *r = &p->q->comparison->row;
    struct blame_row *rows;
    size_t count;
    int status = store_list_blames(&rows, &count, p->arena, p->q->store, r->candidate,
                                   r->base_commit, r->head_commit);
    if (status < 0)
        return status;
    p->report->blames = ARENA_ARRAY(p->arena, count, struct report_blame);
    bool *told = ARENA_ARRAY(p->arena, count, bool);
    for (size_t i = 0; i < count && status == 0; i++) {
        if (told[i])
            continue;
        status = add_blame(p, &rows[i]);
        struct report_blame *out = &p->report->blames[p->report->blame_count - 1];
        out->problems = ARENA_ARRAY(p->arena, count, const char *);
        for (size_t k = i; k < count; k++) {
            if (told[k] || !same_story(&rows[i], &rows[k]))
                continue;
            told[k] = true;
            out->problems[out->problem_count++] = rows[k].problem;
        }
    }
    return status;
}

/* What is known of the builds of a range's commits. */
enum built { BUILT_UNKNOWN, BUILT_WELL, BUILT_NOT };

static int know_builds(enum built *built, struct build_row *rows, struct page *p,
                       const struct repo_range *range)
{
    int status = 0;
    for (size_t i = 0; i < range->count && status == 0; i++) {
        bool found;
        status = store_find_commit_build(&rows[i], &found, p->arena, p->q->store,
                                         p->q->candidate->name, range->commits[i].sha);
        built[i] = status < 0 || !found            ? BUILT_UNKNOWN
                   : rows[i].outcome == OUTCOME_OK ? BUILT_WELL
                                                   : BUILT_NOT;
    }
    return status;
}

/* The first commit after `broken` that builds again, as words; "" when none is known. */
static const char *repaired_by(struct page *p, const struct repo_range *range,
                               const enum built *built, size_t broken)
{
    for (size_t i = broken + 1; i < range->count; i++) {
        for (size_t k = 0; k < range->commits[i].parent_count; k++) {
            size_t parent = range->commits[i].parents[k];
            if (built[i] == BUILT_WELL && built[parent] == BUILT_NOT && parent >= broken)
                return arena_printf(p->arena, "; %.10s builds again (%s)", range->commits[i].sha,
                                    range->commits[i].subject);
        }
    }
    return "";
}

/* A commit that does not build while its parents do is to blame for that, and nothing is left to
 * chance. */
static int add_broken(struct page *p, const struct repo_range *range, const enum built *built,
                      const struct build_row *rows, size_t i)
{
    const struct repo_commit *commit = &range->commits[i];
    bool parents_build = commit->parent_count > 0;
    for (size_t k = 0; k < commit->parent_count; k++) {
        if (built[commit->parents[k]] == BUILT_NOT)
            return 0; /* the blame is an earlier commit's */
        parents_build = parents_build && built[commit->parents[k]] == BUILT_WELL;
    }
    struct report_blame *out = &p->report->blames[p->report->blame_count++];
    *out = (struct report_blame){
        .what = "does not build",
        .level = parents_build ? "CONFIRMED" : "LIKELY",
        .tone = TONE_DOUBT,
        .error_probability = -1,
        .builds = 1,
        .again = arena_printf(p->arena, "assay build %s %.12s", p->q->options, commit->sha)};
    out->because =
        arena_printf(p->arena, "%s: %s%s",
                     parents_build ? "its parent builds and it does not" : "it does not build",
                     rows[i].detail, repaired_by(p, range, built, i));
    return describe_commit(&out->culprit, p, commit->sha);
}

/* Commits of the range that were tried and do not build. */
static int collect_broken(struct page *p)
{
    const struct comparison_row *r = &p->q->comparison->row;
    struct repo_range range;
    bool ancestor = false;
    if (!p->q->repo || strlen(r->base_commit) != REPO_SHA_SIZE - 1 ||
        strlen(r->head_commit) != REPO_SHA_SIZE - 1)
        return 0;
    int status = repo_is_ancestor(&ancestor, p->q->repo, r->base_commit, r->head_commit);
    if (status < 0 || !ancestor)
        return status;
    status = repo_range(&range, p->arena, p->q->repo, r->base_commit, r->head_commit);
    if (status < 0)
        return status;
    enum built *built = ARENA_ARRAY(p->arena, range.count, enum built);
    struct build_row *rows = ARENA_ARRAY(p->arena, range.count, struct build_row);
    status = know_builds(built, rows, p, &range);
    struct report_blame *blames =
        ARENA_ARRAY(p->arena, p->report->blame_count + range.count, struct report_blame);
    if (p->report->blame_count > 0)
        memcpy(blames, p->report->blames, p->report->blame_count * sizeof *blames);
    p->report->blames = blames;
    for (size_t i = 0; i < range.count && status == 0; i++) {
        if (built[i] == BUILT_NOT)
            status = add_broken(p, &range, built, rows, i);
    }
    return status;
}

static void add_fact(struct page *p, const char *name, const char *value)
{
    if (value && *value)
        p->report->facts[p->report->fact_count++] = (struct report_fact){name, value};
}

/* The line of the epoch's text that begins with `word`, without it. */
static const char *epoch_line(struct arena *a, const char *epoch, const char *word)
{
    size_t length = strlen(word);
    for (const char *line = epoch; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, word, length) == 0 && line[length] == ' ')
            return arena_strndup(a, line + length + 1, strcspn(line + length + 1, "\n"));
    }
    return "";
}

static int collect_facts(struct page *p)
{
    const struct comparison_row *r = &p->q->comparison->row;
    const char *epoch;
    int status = store_epoch_text(&epoch, p->arena, p->q->store, r->epoch);
    if (status < 0)
        return status;
    p->arch = epoch_line(p->arena, epoch, "arch");
    p->report->facts = ARENA_ARRAY(p->arena, 10, struct report_fact);
    add_fact(p, "candidate", r->candidate);
    add_fact(p, "device", epoch_line(p->arena, epoch, "device"));
    add_fact(p, "arch", p->arch);
    add_fact(p, "cpu", epoch_line(p->arena, epoch, "cpu"));
    add_fact(p, "gate",
             arena_printf(p->arena, "%s: wrong results and slow-downs of %.0f %% block",
                          p->q->gate->name, 100 * p->q->gate->speed.regression));
    add_fact(p, "assay", epoch_line(p->arena, epoch, "assay"));
    add_fact(p, "comparison", arena_printf(p->arena, "%.12s", r->id));
    return 0;
}

static const char *number(struct arena *a, int64_t n)
{
    char t[32];
    return arena_strdup(a, report_count(t, sizeof t, n));
}

/* Every change that occurs is counted, and so is every speed verdict, so that nothing is hidden by
 * a short table. */
static void collect_counts(struct page *p)
{
    const struct comparison *c = p->q->comparison;
    int64_t change[CHECK_MISSING + 1] = {0}, speed[SPEED_MISSING + 1] = {0};
    for (size_t i = 0; i < c->once_count; i++) {
        const struct compared *item = c->once[i];
        change[item->change] += collect_is_told(item);
        if (item->item.time && (item->timed || item->change == CHECK_PASSES))
            speed[item->speed.verdict]++;
    }
    p->report->counts =
        ARENA_ARRAY(p->arena, COUNT_OF(change) + COUNT_OF(speed) + 1, struct report_fact);
    struct report_fact *counts = p->report->counts;
    counts[p->report->count_count++] = (struct report_fact){
        "configurations", number(p->arena, (int64_t)p->report->configuration_count)};
    for (size_t i = 0; i < COUNT_OF(change); i++) {
        if (change[i] > 0)
            counts[p->report->count_count++] = (struct report_fact){
                check_change_words((enum check_change)i), number(p->arena, change[i])};
    }
    for (size_t i = 0; i < COUNT_OF(speed); i++) {
        if (speed[i] > 0)
            counts[p->report->count_count++] = (struct report_fact){
                arena_printf(p->arena, "speed %s", speed_verdict_words((enum speed_verdict)i)),
                number(p->arena, speed[i])};
    }
}

int collect_report(struct report *out, struct arena *a, const struct collect_request *q)
{
    const struct comparison_row *r = &q->comparison->row;
    struct page p = {.report = out, .arena = a, .q = q};
    *out = (struct report){.command = r->command};
    int status = describe_commit(&out->base, &p, r->base_commit);
    if (status == 0)
        status = describe_commit(&out->head, &p, r->head_commit);
    if (status == 0)
        status = collect_facts(&p);
    if (status < 0)
        return status;
    collect_checks(&p);
    out->title =
        arena_printf(a, "%s: %.10s against %.10s", r->candidate, out->head.sha, out->base.sha);
    collect_speeds(&p);
    collect_states(&p);
    collect_counts(&p);
    collect_verdict(&p);
    status = collect_blames(&p);
    return status < 0 ? status : collect_broken(&p);
}
