/* main: where there is no libFuzzer, each file named on the command line is one input. */
#include "src/fs.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of just the input's size, so that reading one byte past it is seen. */
static void run_input(const struct buf *input)
{
    uint8_t *data = xmalloc(input->length);
    memcpy(data, input->data, input->length);
    LLVMFuzzerTestOneInput(data, input->length);
    free(data);
}

static int run_file(const char *path)
{
    struct buf input;
    buf_init(&input, BUF_MAX_FILE);
    int status = fs_read(&input, path);
    if (status == 0)
        run_input(&input);
    buf_release(&input);
    return status;
}

/* Every file of a folder, so that a corpus grows without a list of its names. */
static int run_folder(const char *path, size_t *count)
{
    struct arena a = {0};
    char **names;
    size_t found;
    int status = fs_list(&names, &found, &a, path);
    for (size_t i = 0; status == 0 && i < found; i++, ++*count)
        status = run_file(fs_join(&a, path, names[i]));
    arena_release(&a);
    return status;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        int status = fs_is_folder(argv[i]) ? run_folder(argv[i], &count) : run_file(argv[i]);
        if (status < 0)
            die("%s", err_message());
        count += !fs_is_folder(argv[i]);
    }
    printf("%zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
