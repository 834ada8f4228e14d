/* port_host.h -- input and output of the harness through the standard streams. */
#ifndef BNCC_PORT_H
#define BNCC_PORT_H

#include <stddef.h>
#include <stdio.h>

static void port_open(void)
{
}

static int port_read(void *to, size_t size)
{
    return fread(to, 1U, size, stdin) == size;
}

static void port_write(const void *from, size_t size)
{
    (void)fwrite(from, 1U, size, stdout);
}

static int port_close(int status)
{
    return (fflush(stdout) == 0) ? status : 1;
}

#endif
