/* What hostile guests do: mistakes and malice by chance. Most don't come back. */
#ifndef TEST_CRIMES_H
#define TEST_CRIMES_H

void commit_by_chance(void);

#endif
