#include "harness/store.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct store {
    sqlite3 *db;
    const char *path;
};

/* Migration i brings a store from version i to i + 1. They are only ever appended to. */
static const char *const migrations[] = {
    "CREATE TABLE epoch(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, created_s INTEGER NOT "
    "NULL);"
    "CREATE TABLE build(id INTEGER PRIMARY KEY, artifact TEXT NOT NULL, candidate TEXT NOT NULL, "
    "commit_sha TEXT NOT NULL,"
    " tree TEXT NOT NULL, recipe TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, log "
    "TEXT NOT NULL,"
    " wall_ns INTEGER NOT NULL, files_written INTEGER NOT NULL, edges INTEGER NOT NULL, clean "
    "INTEGER NOT NULL,"
    " created_s INTEGER NOT NULL);"
    "CREATE INDEX build_artifact ON build(artifact);"
    "CREATE INDEX build_commit ON build(candidate, commit_sha);"
    "CREATE TABLE result(id INTEGER PRIMARY KEY, job TEXT NOT NULL, artifact TEXT NOT NULL, "
    "candidate TEXT NOT NULL,"
    " commit_sha TEXT NOT NULL, problem TEXT NOT NULL, variant TEXT NOT NULL, machine TEXT NOT "
    "NULL, data TEXT NOT NULL,"
    " seed INTEGER NOT NULL, round INTEGER NOT NULL, purpose TEXT NOT NULL, stage TEXT NOT NULL, "
    "outcome TEXT NOT NULL,"
    " detail TEXT NOT NULL, signature TEXT NOT NULL, code TEXT NOT NULL, kernels INTEGER NOT NULL,"
    " workspace_bytes INTEGER NOT NULL, code_bytes INTEGER NOT NULL, compile_ns INTEGER NOT NULL, "
    "execute_ns INTEGER NOT NULL,"
    " stats TEXT NOT NULL, log TEXT NOT NULL, epoch INTEGER NOT NULL REFERENCES epoch(id), "
    "created_s INTEGER NOT NULL);"
    "CREATE INDEX result_job ON result(job);"
    "CREATE INDEX result_artifact ON result(artifact, problem);"
    "CREATE TABLE pair(id INTEGER PRIMARY KEY, session TEXT NOT NULL, problem TEXT NOT NULL, "
    "variant TEXT NOT NULL,"
    " anchor TEXT NOT NULL, artifact TEXT NOT NULL, position INTEGER NOT NULL, anchor_first "
    "INTEGER NOT NULL,"
    " anchor_ns INTEGER NOT NULL, candidate_ns INTEGER NOT NULL, anchor_samples TEXT NOT NULL, "
    "candidate_samples TEXT NOT NULL,"
    " note TEXT NOT NULL, epoch INTEGER NOT NULL REFERENCES epoch(id), created_s INTEGER NOT NULL);"
    "CREATE UNIQUE INDEX pair_place ON pair(session, problem, artifact, position);"
    "CREATE TABLE comparison(row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, candidate_file TEXT "
    "NOT NULL, candidate TEXT NOT NULL,"
    " machine_file TEXT NOT NULL, gate_file TEXT NOT NULL, base_commit TEXT NOT NULL, head_commit "
    "TEXT NOT NULL,"
    " base_artifact TEXT NOT NULL, head_artifact TEXT NOT NULL, command TEXT NOT NULL, epoch "
    "INTEGER NOT NULL REFERENCES epoch(id),"
    " created_s INTEGER NOT NULL);"
    "CREATE TABLE comparison_item(id INTEGER PRIMARY KEY, comparison TEXT NOT NULL, problem TEXT "
    "NOT NULL, variant TEXT NOT NULL,"
    " model TEXT NOT NULL, batch INTEGER NOT NULL, count INTEGER NOT NULL, checked INTEGER NOT "
    "NULL, timed INTEGER NOT NULL);"
    "CREATE INDEX comparison_item_of ON comparison_item(comparison);"
    "CREATE TABLE blame(id INTEGER PRIMARY KEY, hunt TEXT NOT NULL, candidate TEXT NOT NULL, "
    "good_commit TEXT NOT NULL,"
    " bad_commit TEXT NOT NULL, problem TEXT NOT NULL, variant TEXT NOT NULL, label TEXT NOT NULL, "
    "level TEXT NOT NULL,"
    " culprit TEXT NOT NULL, parent TEXT NOT NULL, error_probability REAL NOT NULL, effect REAL "
    "NOT NULL, because TEXT NOT NULL,"
    " suspects TEXT NOT NULL, builds INTEGER NOT NULL, runs INTEGER NOT NULL, created_s INTEGER "
    "NOT NULL);"
    "CREATE INDEX blame_hunt ON blame(hunt, problem);"
    "CREATE INDEX blame_range ON blame(candidate, good_commit, bad_commit);"
    "CREATE TABLE step(id INTEGER PRIMARY KEY, blame INTEGER NOT NULL REFERENCES blame(id), "
    "commit_sha TEXT NOT NULL,"
    " answer TEXT NOT NULL, detail TEXT NOT NULL);"
    "CREATE INDEX step_blame ON step(blame);",
};

static int fail(const struct store *s, const char *what)
{
    return err_set(ERR_FOREIGN, "store %s: %s: %s", s->path, what, sqlite3_errmsg(s->db));
}

static int execute(struct store *s, const char *sql)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, sql);
}

static void finalize_ptr(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}

/* Prepare and bind. `types` has a letter a parameter: t const char * (NULL is ""), i int64_t, r
 * double. */
static int vprepare(sqlite3_stmt **out, struct store *s, const char *sql, const char *types,
                    va_list args)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail(s, sql);
    for (int i = 0; types[i]; i++) {
        int code = SQLITE_OK;
        if (types[i] == 't') {
            const char *text = va_arg(args, const char *);
            code = sqlite3_bind_text(statement, i + 1, text ? text : "", -1, SQLITE_TRANSIENT);
        } else if (types[i] == 'i') {
            code = sqlite3_bind_int64(statement, i + 1, va_arg(args, int64_t));
        } else {
            code = sqlite3_bind_double(statement, i + 1, va_arg(args, double));
        }
        if (code != SQLITE_OK)
            return fail(s, sql);
    }
    *out = TAKE(statement);
    return 0;
}

static int prepare(sqlite3_stmt **out, struct store *s, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    int status = vprepare(out, s, sql, types, args);
    va_end(args);
    return status;
}

/* One statement that gives no rows. */
static int change(struct store *s, const char *sql, const char *types, ...)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *statement = NULL;
    va_list args;
    va_start(args, types);
    int status = vprepare(&statement, s, sql, types, args);
    va_end(args);
    if (status < 0)
        return status;
    return sqlite3_step(statement) == SQLITE_DONE ? 0 : fail(s, sql);
}

/* 1 when there is a row, 0 at the end. */
static int next_row(struct store *s, sqlite3_stmt *statement)
{
    int code = sqlite3_step(statement);
    return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : fail(s, "reading rows");
}

static const char *text_at(struct arena *a, sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? arena_strdup(a, text) : "";
}

static int64_t int_at(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_int64(statement, column);
}

/* Rows of one kind, collected: read the columns into *row, given the statement at a row. */
typedef void row_reader(void *row, struct arena *a, sqlite3_stmt *statement);

static int collect(void **out, size_t *count, size_t size, row_reader *read, struct arena *a,
                   struct store *s, sqlite3_stmt *statement)
{
    size_t room = 0, used = 0;
    char *rows = NULL;
    int more;
    while ((more = next_row(s, statement)) > 0) {
        if (used == room) {
            size_t larger = room ? 2 * room : 16;
            char *moved = arena_array(a, larger, size);
            if (used > 0)
                memcpy(moved, rows, used * size);
            rows = moved;
            room = larger;
        }
        read(rows + used++ * size, a, statement);
    }
    *out = rows;
    *count = used;
    return more;
}

/* The first row, if there is one. */
static int first(void *row, bool *found, row_reader *read, struct arena *a, struct store *s,
                 sqlite3_stmt *statement)
{
    int more = next_row(s, statement);
    *found = more > 0;
    if (more > 0)
        read(row, a, statement);
    return more < 0 ? more : 0;
}

static int schema_version(int64_t *out, struct store *s)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *statement = NULL;
    int status = prepare(&statement, s, "PRAGMA user_version", "");
    if (status < 0)
        return status;
    status = next_row(s, statement);
    if (status < 0)
        return status;
    *out = int_at(statement, 0);
    return 0;
}

/* Each migration with its version number in one transaction, so that a kill leaves a whole version.
 */
static int migrate(struct store *s)
{
    int64_t version;
    int status = execute(s, "BEGIN IMMEDIATE");
    if (status == 0)
        status = schema_version(&version, s);
    if (status == 0 && version > (int64_t)COUNT_OF(migrations))
        status = err_set(ERR_INVALID,
                         "store %s was written by a newer assay (schema %lld, this one knows %zu)",
                         s->path, (long long)version, COUNT_OF(migrations));
    for (size_t i = status == 0 ? (size_t)version : COUNT_OF(migrations);
         i < COUNT_OF(migrations) && status == 0; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "PRAGMA user_version = %zu", i + 1);
        status = execute(s, migrations[i]);
        if (status == 0)
            status = execute(s, sql);
    }
    if (status == 0)
        return execute(s, "COMMIT");
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

int store_open(struct store **out, const char *path)
{
    CLEANUP(store_close_ptr) struct store *s = xcalloc(1, sizeof *s);
    s->path = xstrdup(path);
    if (sqlite3_open(path, &s->db) != SQLITE_OK)
        return fail(s, "opening");
    sqlite3_busy_timeout(s->db, 60000);
    int status = execute(
        s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    if (status == 0)
        status = migrate(s);
    if (status < 0)
        return status;
    *out = TAKE(s);
    return 0;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    sqlite3_close(s->db);
    free((char *)s->path);
    free(s);
}

void store_close_ptr(struct store **s)
{
    store_close(*s);
}

static int64_t now_s(int64_t given)
{
    return given ? given : (int64_t)time(NULL);
}

int store_epoch(int64_t *out, struct store *s, const char *text)
{
    int status =
        change(s, "INSERT INTO epoch(text, created_s) VALUES(?1, ?2) ON CONFLICT(text) DO NOTHING",
               "ti", text, now_s(0));
    CLEANUP(finalize_ptr) sqlite3_stmt *statement = NULL;
    if (status == 0)
        status = prepare(&statement, s, "SELECT id FROM epoch WHERE text = ?1", "t", text);
    if (status == 0)
        status = next_row(s, statement);
    if (status < 0)
        return status;
    *out = int_at(statement, 0);
    return 0;
}

int store_epoch_text(const char **out, struct arena *a, struct store *s, int64_t epoch)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *statement = NULL;
    int status = prepare(&statement, s, "SELECT text FROM epoch WHERE id = ?1", "i", epoch);
    if (status == 0)
        status = next_row(s, statement);
    if (status < 0)
        return status;
    *out = status > 0 ? text_at(a, statement, 0) : "";
    return 0;
}

/* An outcome word that this version does not know (an older assay reading newer rows) reads as
 * infra: nothing is concluded from it. */
static enum outcome outcome_at(sqlite3_stmt *statement, int column)
{
    enum outcome o;
    const char *word = (const char *)sqlite3_column_text(statement, column);
    return word && outcome_parse(&o, word) ? o : OUTCOME_INFRA;
}

#define BUILD_COLUMNS                                                                              \
    "artifact, candidate, commit_sha, tree, recipe, outcome, detail, log, wall_ns, "               \
    "files_written, edges, clean, created_s"

static void read_build(void *row, struct arena *a, sqlite3_stmt *q)
{
    *(struct build_row *)row = (struct build_row){.row = int_at(q, 0),
                                                  .artifact = text_at(a, q, 1),
                                                  .candidate = text_at(a, q, 2),
                                                  .commit = text_at(a, q, 3),
                                                  .tree = text_at(a, q, 4),
                                                  .recipe = text_at(a, q, 5),
                                                  .outcome = outcome_at(q, 6),
                                                  .detail = text_at(a, q, 7),
                                                  .log = text_at(a, q, 8),
                                                  .wall_ns = int_at(q, 9),
                                                  .files_written = int_at(q, 10),
                                                  .edges = int_at(q, 11),
                                                  .clean = int_at(q, 12),
                                                  .created_s = int_at(q, 13)};
}

int store_add_build(struct store *s, const struct build_row *r)
{
    return change(s,
                  "INSERT INTO build(" BUILD_COLUMNS
                  ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                  "ttttttttiiiii", r->artifact, r->candidate, r->commit, r->tree, r->recipe,
                  outcome_word(r->outcome), r->detail, r->log, r->wall_ns, r->files_written,
                  r->edges, (int64_t)r->clean, now_s(r->created_s));
}

int store_find_build(struct build_row *out, bool *found, struct arena *a, struct store *s,
                     const char *artifact)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = prepare(&q, s,
                         "SELECT id, " BUILD_COLUMNS
                         " FROM build WHERE artifact = ?1 ORDER BY id DESC LIMIT 1",
                         "t", artifact);
    return status < 0 ? status : first(out, found, read_build, a, s, q);
}

int store_find_commit_build(struct build_row *out, bool *found, struct arena *a, struct store *s,
                            const char *candidate, const char *commit)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = prepare(&q, s,
                         "SELECT id, " BUILD_COLUMNS
                         " FROM build WHERE candidate = ?1 AND commit_sha = ?2 AND clean = 0"
                         " ORDER BY id DESC LIMIT 1",
                         "tt", candidate, commit);
    return status < 0 ? status : first(out, found, read_build, a, s, q);
}

#define RESULT_COLUMNS                                                                             \
    "job, artifact, candidate, commit_sha, problem, variant, machine, data, seed, round, "         \
    "purpose, stage, outcome, detail, signature, "                                                 \
    "code, kernels, workspace_bytes, code_bytes, compile_ns, execute_ns, stats, log, epoch, "      \
    "created_s"

static void read_result(void *row, struct arena *a, sqlite3_stmt *q)
{
    struct result_row *r = row;
    *r = (struct result_row){.row = int_at(q, 0),
                             .job = text_at(a, q, 1),
                             .artifact = text_at(a, q, 2),
                             .candidate = text_at(a, q, 3),
                             .commit = text_at(a, q, 4),
                             .problem = text_at(a, q, 5),
                             .variant = text_at(a, q, 6),
                             .machine = text_at(a, q, 7),
                             .data = text_at(a, q, 8),
                             .seed = int_at(q, 9),
                             .round = int_at(q, 10),
                             .outcome = outcome_at(q, 13),
                             .detail = text_at(a, q, 14),
                             .signature = text_at(a, q, 15),
                             .code = text_at(a, q, 16),
                             .kernels = int_at(q, 17),
                             .workspace_bytes = int_at(q, 18),
                             .code_bytes = int_at(q, 19),
                             .compile_ns = int_at(q, 20),
                             .execute_ns = int_at(q, 21),
                             .stats = text_at(a, q, 22),
                             .log = text_at(a, q, 23),
                             .epoch = int_at(q, 24),
                             .created_s = int_at(q, 25)};
    r->purpose = strcmp(text_at(a, q, 11), purpose_word(PURPOSE_TIMING)) == 0 ? PURPOSE_TIMING
                                                                              : PURPOSE_CORRECTNESS;
    if (!stage_parse(&r->stage, text_at(a, q, 12)))
        r->stage = STAGE_CHECKOUT;
}

int store_add_result(struct store *s, struct result_row *r)
{
    int status =
        change(s,
               "INSERT INTO result(" RESULT_COLUMNS
               ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
               " ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)",
               "ttttttttiittttttiiiiittii", r->job, r->artifact, r->candidate, r->commit,
               r->problem, r->variant, r->machine, r->data, r->seed, r->round,
               purpose_word(r->purpose), stage_word(r->stage), outcome_word(r->outcome), r->detail,
               r->signature, r->code, r->kernels, r->workspace_bytes, r->code_bytes, r->compile_ns,
               r->execute_ns, r->stats, r->log, r->epoch, now_s(r->created_s));
    if (status == 0)
        r->row = sqlite3_last_insert_rowid(s->db);
    return status;
}

int store_find_result(struct result_row *out, bool *found, struct arena *a, struct store *s,
                      const char *job)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = prepare(
        &q, s, "SELECT id, " RESULT_COLUMNS " FROM result WHERE job = ?1 ORDER BY id DESC LIMIT 1",
        "t", job);
    return status < 0 ? status : first(out, found, read_result, a, s, q);
}

int store_get_result(struct result_row *out, bool *found, struct arena *a, struct store *s,
                     int64_t row)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status =
        prepare(&q, s, "SELECT id, " RESULT_COLUMNS " FROM result WHERE id = ?1", "i", row);
    return status < 0 ? status : first(out, found, read_result, a, s, q);
}

int store_by_configuration(const void *left, const void *right)
{
    const struct result_row *l = left, *r = right;
    int order = strcmp(l->problem, r->problem);
    if (order == 0)
        order = strcmp(l->variant, r->variant);
    return order ? order : (l->row > r->row) - (l->row < r->row);
}

int store_list_results(struct result_row **out, size_t *count, struct arena *a, struct store *s,
                       const char *artifact)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status =
        artifact
            ? prepare(&q, s,
                      "SELECT id, " RESULT_COLUMNS " FROM result WHERE artifact = ?1 ORDER BY id",
                      "t", artifact)
            : prepare(&q, s, "SELECT id, " RESULT_COLUMNS " FROM result ORDER BY id", "");
    return status < 0 ? status : collect((void **)out, count, sizeof **out, read_result, a, s, q);
}

#define PAIR_COLUMNS                                                                               \
    "session, problem, variant, anchor, artifact, position, anchor_first, anchor_ns, "             \
    "candidate_ns, anchor_samples, candidate_samples, "                                            \
    "note, epoch, created_s"

static void read_pair(void *row, struct arena *a, sqlite3_stmt *q)
{
    *(struct pair_row *)row = (struct pair_row){.row = int_at(q, 0),
                                                .session = text_at(a, q, 1),
                                                .problem = text_at(a, q, 2),
                                                .variant = text_at(a, q, 3),
                                                .anchor = text_at(a, q, 4),
                                                .artifact = text_at(a, q, 5),
                                                .position = int_at(q, 6),
                                                .anchor_first = int_at(q, 7),
                                                .anchor_ns = int_at(q, 8),
                                                .candidate_ns = int_at(q, 9),
                                                .anchor_samples = text_at(a, q, 10),
                                                .candidate_samples = text_at(a, q, 11),
                                                .note = text_at(a, q, 12),
                                                .epoch = int_at(q, 13),
                                                .created_s = int_at(q, 14)};
}

int store_add_pair(struct store *s, const struct pair_row *r)
{
    return change(s,
                  "INSERT INTO pair(" PAIR_COLUMNS
                  ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                  "tttttiiiitttii", r->session, r->problem, r->variant, r->anchor, r->artifact,
                  r->position, (int64_t)r->anchor_first, r->anchor_ns, r->candidate_ns,
                  r->anchor_samples, r->candidate_samples, r->note, r->epoch, now_s(r->created_s));
}

int store_list_pairs(struct pair_row **out, size_t *count, struct arena *a, struct store *s,
                     const char *session, const char *problem, const char *artifact)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = prepare(&q, s,
                         "SELECT id, " PAIR_COLUMNS
                         " FROM pair WHERE session = ?1 AND problem = ?2 AND artifact = ?3"
                         " ORDER BY position",
                         "ttt", session, problem, artifact);
    return status < 0 ? status : collect((void **)out, count, sizeof **out, read_pair, a, s, q);
}

#define COMPARISON_COLUMNS                                                                         \
    "id, candidate_file, candidate, machine_file, gate_file, base_commit, head_commit, "           \
    "base_artifact, head_artifact, command, epoch, "                                               \
    "created_s"

static void read_comparison(void *row, struct arena *a, sqlite3_stmt *q)
{
    *(struct comparison_row *)row = (struct comparison_row){.row = int_at(q, 0),
                                                            .id = text_at(a, q, 1),
                                                            .candidate_file = text_at(a, q, 2),
                                                            .candidate = text_at(a, q, 3),
                                                            .machine_file = text_at(a, q, 4),
                                                            .gate_file = text_at(a, q, 5),
                                                            .base_commit = text_at(a, q, 6),
                                                            .head_commit = text_at(a, q, 7),
                                                            .base_artifact = text_at(a, q, 8),
                                                            .head_artifact = text_at(a, q, 9),
                                                            .command = text_at(a, q, 10),
                                                            .epoch = int_at(q, 11),
                                                            .created_s = int_at(q, 12)};
}

static int add_comparison_rows(struct store *s, const struct comparison_row *r,
                               const struct comparison_item *items, size_t count)
{
    int status = change(s,
                        "INSERT INTO comparison(" COMPARISON_COLUMNS
                        ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                        "ttttttttttii", r->id, r->candidate_file, r->candidate, r->machine_file,
                        r->gate_file, r->base_commit, r->head_commit, r->base_artifact,
                        r->head_artifact, r->command, r->epoch, now_s(r->created_s));
    for (size_t i = 0; i < count && status == 0; i++)
        status =
            change(s,
                   "INSERT INTO comparison_item(comparison, problem, variant, model, batch, count, "
                   "checked, timed)"
                   " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                   "ttttiiii", r->id, items[i].problem, items[i].variant, items[i].model,
                   items[i].batch, items[i].count, (int64_t)items[i].check, (int64_t)items[i].time);
    return status;
}

/* Everything that `add` does, or nothing. */
static int commit_or_roll_back(struct store *s, int status)
{
    if (status == 0)
        status = execute(s, "COMMIT");
    if (status < 0)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

int store_add_comparison(struct store *s, const struct comparison_row *r,
                         const struct comparison_item *items, size_t count)
{
    int status = execute(s, "BEGIN IMMEDIATE");
    if (status < 0)
        return status;
    return commit_or_roll_back(s, add_comparison_rows(s, r, items, count));
}

int store_find_comparison(struct comparison_row *out, bool *found, struct arena *a, struct store *s,
                          const char *id)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = strcmp(id, "latest") == 0
                     ? prepare(&q, s,
                               "SELECT row, " COMPARISON_COLUMNS
                               " FROM comparison ORDER BY row DESC LIMIT 1",
                               "")
                     : prepare(&q, s,
                               "SELECT row, " COMPARISON_COLUMNS
                               " FROM comparison WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2",
                               "t", id);
    if (status < 0)
        return status;
    status = first(out, found, read_comparison, a, s, q);
    if (status < 0 || !*found || strcmp(id, "latest") == 0)
        return status;
    status = next_row(s, q);
    return status > 0 ? err_set(ERR_INVALID, "`%s` begins more than one comparison", id) : status;
}

static void read_item(void *row, struct arena *a, sqlite3_stmt *q)
{
    *(struct comparison_item *)row = (struct comparison_item){.problem = text_at(a, q, 0),
                                                              .variant = text_at(a, q, 1),
                                                              .model = text_at(a, q, 2),
                                                              .batch = int_at(q, 3),
                                                              .count = int_at(q, 4),
                                                              .check = int_at(q, 5),
                                                              .time = int_at(q, 6)};
}

int store_list_comparison_items(struct comparison_item **out, size_t *count, struct arena *a,
                                struct store *s, const char *id)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = prepare(&q, s,
                         "SELECT problem, variant, model, batch, count, checked, timed FROM "
                         "comparison_item WHERE comparison = ?1"
                         " ORDER BY id",
                         "t", id);
    return status < 0 ? status : collect((void **)out, count, sizeof **out, read_item, a, s, q);
}

int store_list_comparisons(struct comparison_row **out, size_t *count, struct arena *a,
                           struct store *s)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status =
        prepare(&q, s, "SELECT row, " COMPARISON_COLUMNS " FROM comparison ORDER BY row", "");
    return status < 0 ? status
                      : collect((void **)out, count, sizeof **out, read_comparison, a, s, q);
}

#define BLAME_COLUMNS                                                                              \
    "hunt, candidate, good_commit, bad_commit, problem, variant, label, level, culprit, parent, "  \
    "error_probability, effect, because, "                                                         \
    "suspects, builds, runs, created_s"

static void read_blame(void *row, struct arena *a, sqlite3_stmt *q)
{
    *(struct blame_row *)row = (struct blame_row){.row = int_at(q, 0),
                                                  .hunt = text_at(a, q, 1),
                                                  .candidate = text_at(a, q, 2),
                                                  .good_commit = text_at(a, q, 3),
                                                  .bad_commit = text_at(a, q, 4),
                                                  .problem = text_at(a, q, 5),
                                                  .variant = text_at(a, q, 6),
                                                  .label = text_at(a, q, 7),
                                                  .level = text_at(a, q, 8),
                                                  .culprit = text_at(a, q, 9),
                                                  .parent = text_at(a, q, 10),
                                                  .error_probability = sqlite3_column_double(q, 11),
                                                  .effect = sqlite3_column_double(q, 12),
                                                  .because = text_at(a, q, 13),
                                                  .suspects = text_at(a, q, 14),
                                                  .builds = int_at(q, 15),
                                                  .runs = int_at(q, 16),
                                                  .created_s = int_at(q, 17)};
}

static int add_blame_rows(struct store *s, const struct blame_row *r, const struct step_row *steps,
                          size_t count)
{
    int status = change(s,
                        "INSERT INTO blame(" BLAME_COLUMNS
                        ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
                        " ?15, ?16, ?17)",
                        "ttttttttttrrttiii", r->hunt, r->candidate, r->good_commit, r->bad_commit,
                        r->problem, r->variant, r->label, r->level, r->culprit, r->parent,
                        r->error_probability, r->effect, r->because, r->suspects, r->builds,
                        r->runs, now_s(r->created_s));
    int64_t blame = sqlite3_last_insert_rowid(s->db);
    for (size_t i = 0; i < count && status == 0; i++)
        status =
            change(s, "INSERT INTO step(blame, commit_sha, answer, detail) VALUES(?1, ?2, ?3, ?4)",
                   "ittt", blame, steps[i].commit, steps[i].answer, steps[i].detail);
    return status;
}

int store_add_blame(struct store *s, const struct blame_row *r, const struct step_row *steps,
                    size_t count)
{
    int status = execute(s, "BEGIN IMMEDIATE");
    if (status < 0)
        return status;
    return commit_or_roll_back(s, add_blame_rows(s, r, steps, count));
}

int store_find_blame(struct blame_row *out, bool *found, struct arena *a, struct store *s,
                     const char *hunt, const char *problem)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = prepare(&q, s,
                         "SELECT id, " BLAME_COLUMNS
                         " FROM blame WHERE hunt = ?1 AND problem = ?2 ORDER BY id DESC LIMIT 1",
                         "tt", hunt, problem);
    return status < 0 ? status : first(out, found, read_blame, a, s, q);
}

int store_list_blames(struct blame_row **out, size_t *count, struct arena *a, struct store *s,
                      const char *candidate, const char *good, const char *bad)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status =
        prepare(&q, s,
                "SELECT id, " BLAME_COLUMNS
                " FROM blame WHERE id IN (SELECT max(id) FROM blame WHERE candidate = ?1 AND"
                " good_commit = ?2 AND bad_commit = ?3 GROUP BY problem, variant, label = "
                "'slower') ORDER BY id",
                "ttt", candidate, good, bad);
    return status < 0 ? status : collect((void **)out, count, sizeof **out, read_blame, a, s, q);
}

static void read_step(void *row, struct arena *a, sqlite3_stmt *q)
{
    *(struct step_row *)row = (struct step_row){.hunt = text_at(a, q, 0),
                                                .problem = text_at(a, q, 1),
                                                .commit = text_at(a, q, 2),
                                                .answer = text_at(a, q, 3),
                                                .detail = text_at(a, q, 4)};
}

int store_list_steps(struct step_row **out, size_t *count, struct arena *a, struct store *s,
                     const char *hunt, const char *problem)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = prepare(
        &q, s,
        "SELECT b.hunt, b.problem, p.commit_sha, p.answer, p.detail FROM step p JOIN blame b ON "
        "p.blame = b.id"
        " WHERE b.id = (SELECT max(id) FROM blame WHERE hunt = ?1 AND problem = ?2) ORDER BY p.id",
        "tt", hunt, problem);
    return status < 0 ? status : collect((void **)out, count, sizeof **out, read_step, a, s, q);
}

int store_counts(struct store_counts *out, struct store *s)
{
    CLEANUP(finalize_ptr) sqlite3_stmt *q = NULL;
    int status = prepare(
        &q, s,
        "SELECT (SELECT count(*) FROM build), (SELECT count(*) FROM build WHERE outcome <> 'ok'),"
        " (SELECT count(*) FROM result), (SELECT count(*) FROM result WHERE outcome <> 'ok'),"
        " (SELECT count(*) FROM pair), (SELECT count(*) FROM comparison), (SELECT count(*) FROM "
        "blame),"
        " (SELECT count(*) FROM epoch)",
        "");
    if (status == 0)
        status = next_row(s, q);
    if (status < 0)
        return status;
    *out = (struct store_counts){.builds = int_at(q, 0),
                                 .builds_failed = int_at(q, 1),
                                 .results = int_at(q, 2),
                                 .results_bad = int_at(q, 3),
                                 .pairs = int_at(q, 4),
                                 .comparisons = int_at(q, 5),
                                 .blames = int_at(q, 6),
                                 .epochs = int_at(q, 7)};
    return 0;
}
