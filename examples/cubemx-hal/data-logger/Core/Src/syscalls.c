/* What the C library asks of a system: there is none. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/types.h>

int _close(int file);
int _fstat(int file, struct stat *st);
int _getpid(void);
int _isatty(int file);
int _kill(int pid, int sig);
off_t _lseek(int file, off_t offset, int whence);
int _read(int file, char *buffer, int length);
int _write(int file, const char *buffer, int length);
void _exit(int status);

int _close(int file)
{
    (void)file;
    return -1;
}

int _fstat(int file, struct stat *st)
{
    (void)file;
    st->st_mode = S_IFCHR;
    return 0;
}

int _getpid(void) { return 1; }

int _isatty(int file)
{
    (void)file;
    return 1;
}

int _kill(int pid, int sig)
{
    (void)pid;
    (void)sig;
    errno = EINVAL;
    return -1;
}

off_t _lseek(int file, off_t offset, int whence)
{
    (void)file;
    (void)offset;
    (void)whence;
    return 0;
}

int _read(int file, char *buffer, int length)
{
    (void)file;
    (void)buffer;
    (void)length;
    return 0;
}

int _write(int file, const char *buffer, int length)
{
    (void)file;
    (void)buffer;
    return length;
}

void _exit(int status)
{
    (void)status;
    for (;;) {
    }
}
