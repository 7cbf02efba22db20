// Symbols that glibc 2.28 does not have, for wheels that are built with a newer one.
#define _GNU_SOURCE  // for stat64
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

/// libstdc++ counts references without atomic operations while this is true. It is never true here.
char __libc_single_threaded = 0;

/// Waits until the time `end` of `clock` [s, ns]. glibc 2.28 knows only the clock of the condition, which
/// is the realtime clock. The thread pool, the only caller, repeats short waits, so a change of that
/// clock makes one of them shorter or longer.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* end) {
  const long kNanoseconds = 1000000000;
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += end->tv_sec - now.tv_sec;
  real.tv_nsec += end->tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) {
    real.tv_nsec += kNanoseconds;
    --real.tv_sec;
  } else if (real.tv_nsec >= kNanoseconds) {
    real.tv_nsec -= kNanoseconds;
    ++real.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &real);
}

// glibc before 2.33 has these functions of libstdc++ under other names, which take the version of the
// struct as their first argument.
#ifdef __x86_64__
enum { kStatVersion = 1 };
#else
enum { kStatVersion = 0 };
#endif
int __xstat(int version, const char* path, struct stat* result);
int __fxstat64(int version, int file, struct stat64* result);

int stat(const char* path, struct stat* result) { return __xstat(kStatVersion, path, result); }

int fstat64(int file, struct stat64* result) { return __fxstat64(kStatVersion, file, result); }
