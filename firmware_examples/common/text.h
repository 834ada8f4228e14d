/* text.h -- text and numbers over the serial line. */
#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>

/* Text in flash, as TEXT("...") and the class names of a model are. */
void put_text(const char *text);

void put_number(uint16_t number);

void put_line_end(void);

#endif
