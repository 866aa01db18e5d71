/* What the test's kernel has. */
#define FVM_DOMAINS 3u
#define FVM_THREADS 1u
#define FVM_VCPUS 1u
#define FVM_VECTORS 1u
#define FVM_SIGNALS 1u
#define FVM_PINS 3u
#define FVM_IRQS 1u
