/* Lets one call that writes below a directory fail, and counts such calls.
 *
 * Loaded in front of the C library (LD_PRELOAD). FAIL_BELOW is the directory, FAIL_CALL the number
 * of the call that fails with ENOSPC, counted from 1 in each process; 0 fails none. If FAIL_KILLS is
 * set, the call does not fail: the process is killed in front of it. At its end a process appends its
 * number of calls to the file FAIL_COUNTS.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int calls;

static int is_below(const char *path) {
    const char *directory = getenv("FAIL_BELOW");
    return directory != NULL && path != NULL && strncmp(path, directory, strlen(directory)) == 0;
}

static int is_file_below(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* Whether this call is the one that fails. */
static int fails(int counts) {
    const char *which = getenv("FAIL_CALL");
    if (!counts || which == NULL) return 0;
    int number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (number != atoi(which)) return 0;
    if (getenv("FAIL_KILLS") != NULL) raise(SIGKILL);
    errno = ENOSPC;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *bytes, size_t count) {
    if (fails(is_file_below(file))) return -1;
    return REAL(write)(file, bytes, count);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (fails(is_file_below(file))) return -1;
    return REAL(writev)(file, parts, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    if (fails(is_file_below(file))) return -1;
    return REAL(pwrite)(file, bytes, count, offset);
}

int fsync(int file) {
    if (fails(is_file_below(file))) return -1;
    return REAL(fsync)(file);
}

int fdatasync(int file) {
    if (fails(is_file_below(file))) return -1;
    return REAL(fdatasync)(file);
}

int rename(const char *from, const char *to) {
    if (fails(is_below(to))) return -1;
    return REAL(rename)(from, to);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to) {
    if (fails(is_below(to))) return -1;
    return REAL(renameat)(from_directory, from, to_directory, to);
}

int link(const char *from, const char *to) {
    if (fails(is_below(to))) return -1;
    return REAL(link)(from, to);
}

int mkdir(const char *path, mode_t mode) {
    if (fails(is_below(path))) return -1;
    return REAL(mkdir)(path, mode);
}

__attribute__((destructor)) static void tell(void) {
    const char *counts = getenv("FAIL_COUNTS");
    if (counts == NULL || calls == 0) return;
    FILE *file = fopen(counts, "a");
    if (file == NULL) return;
    fprintf(file, "%d\n", calls);
    fclose(file);
}
