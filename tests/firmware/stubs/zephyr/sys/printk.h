/* What Zephyr's <zephyr/sys/printk.h> declares, for analyses without Zephyr. */
#ifndef ZEPHYR_SYS_PRINTK_H
#define ZEPHYR_SYS_PRINTK_H

__attribute__((format(printf, 1, 2))) void printk(const char *format, ...);

#endif
