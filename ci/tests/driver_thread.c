/* What CUDA's driver leaves in a process that opens a device: a thread that sleeps, and calls what it is given. */
#include <pthread.h>
#include <semaphore.h>

void (*handler)(void);
volatile int done;
static sem_t asleep;

static void *events(void *unused) {
  for (;;) {
    sem_wait(&asleep);
    if (handler) handler();
    done = 1;
  }
  return unused;
}

int open_device(void) {
  pthread_t thread;
  return sem_init(&asleep, 0, 0) || pthread_create(&thread, 0, events, 0);
}

int wake(void) { return sem_post(&asleep); }
