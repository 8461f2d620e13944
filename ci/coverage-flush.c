/* Linked into the build of `make coverage` alone, with --wrap: gcov writes its counts at exit(), so a fork of ours that leaves by _exit(), and a
 * broken invariant that a test provokes, would count as lines that nobody reached. */
void __gcov_dump(void);
_Noreturn void __real__exit(int code);
_Noreturn void __real_abort(void);
_Noreturn void __wrap__exit(int code);
_Noreturn void __wrap_abort(void);

void __wrap__exit(int code)
{
    __gcov_dump();
    __real__exit(code);
}

void __wrap_abort(void)
{
    __gcov_dump();
    __real_abort();
}
