# Every mutant of the C files named: a line "FILE <tab> LINE <tab> FUNCTION <tab> the line as it would be". The files are formatted, so a binary operator stands
# between blanks. Left alone are comments, texts, the preprocessor, what guards against our own bugs, and how arrays grow.
function mask(line,    out, i, c, in_text) {
    out = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (in_comment) {
            if (substr(line, i, 2) == "*/") { in_comment = 0; out = out "~"; i++ }
            c = "~"
        } else if (in_text) {
            if (c == "\\") { out = out "~"; i++ }
            else if (c == in_text) in_text = ""
            c = "~"
        } else if (c == "\"" || c == "'") { in_text = c; c = "~" }
        else if (substr(line, i, 2) == "/*") { in_comment = 1; c = "~" }
        out = out c
    }
    return out
}
function emit(at, size, word) { printf "%s\t%d\t%s\t%s%s%s\n", file, line, name, substr($0, 1, at - 1), word, substr($0, at + size) }
function swap(from, to,    at, past) {
    for (past = 0; (at = index(substr(masked, past + 1), from)) > 0; past = at) {
        at += past
        emit(at, length(from), to)
    }
}
function is_word(c) { return c ~ /[A-Za-z0-9_.]/ }
function swap_word(from, to,    at, past) {
    for (past = 0; (at = index(substr(masked, past + 1), from)) > 0; past = at) {
        at += past
        if (!is_word(substr(masked, at - 1, 1)) && !is_word(substr(masked, at + length(from), 1))) emit(at, length(from), to)
    }
}
# if (X) and while (X), when X ends on the line; a single comparison is turned round already.
function negate(head,    at, i, depth, c, inner) {
    if (!match(masked, "(^|[^A-Za-z_])" head " \\(")) return
    at = RSTART + RLENGTH
    depth = 1
    for (i = at; i <= length(masked) && depth > 0; i++) {
        c = substr(masked, i, 1)
        depth += (c == "(") - (c == ")")
    }
    inner = substr($0, at, i - 1 - at)
    if (depth == 0 && (inner ~ /&&|\|\|/ || inner !~ / (==|!=|<|>|<=|>=) /)) emit(at, i - 1 - at, "!(" inner ")")
}
# A line is looked at when the next is known: a condition that leads to bug() is a guard.
function look(    was_table) {
    masked = mask($0)
    if (masked ~ /^[a-z].*\(/ && match(masked, /[a-z_0-9]+\(/)) name = substr($0, RSTART, RLENGTH - 1)
    # Constants stand in tables: one of structs ends with a bracket at the margin.
    if (masked ~ /^static const [^()]*$|^enum \{/) in_table = masked ~ /struct/ ? 2 : 1
    was_table = in_table
    if (in_table && (in_table == 1 ? masked ~ /;[~ ]*$/ : masked ~ /^}.*;[~ ]*$/)) in_table = 0
    if (was_table || masked ~ /^#/ || following ~ /bug\(/) return
    if (masked ~ /bug\(|capacity|room|larger|xrealloc|_Static_assert|sqlite3_bind|int_at|text_at/) return
    swap(" < ", " >= "); swap(" < ", " <= "); swap(" > ", " <= "); swap(" > ", " >= ")
    swap(" <= ", " > "); swap(" <= ", " < "); swap(" >= ", " < "); swap(" >= ", " > ")
    swap(" == ", " != "); swap(" != ", " == ")
    swap(" && ", " || "); swap(" || ", " && ")
    swap(" + ", " - "); swap(" - ", " + "); swap(" * ", " / "); swap(" / ", " * "); swap(" % ", " / ")
    swap(" += ", " -= "); swap(" |= ", " &= "); swap(" & ", " | ")
    swap_word("true", "false"); swap_word("false", "true"); swap_word("0", "1"); swap_word("1", "0"); swap_word("2", "3")
    negate("if"); negate("while")
}
function finish() {
    if (file == "") return
    following = ""
    $0 = held
    look()
}
FNR == 1 { this = $0; finish(); $0 = this; file = FILENAME; in_comment = in_table = 0; held = $0; line = 1; next }
{ following = $0; $0 = held; look(); held = following; line = FNR }
END { finish() }
