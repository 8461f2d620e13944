#include "harness/drivers/driver.h"

#include <string.h>

const struct driver *const drivers[] = {&driver_miir, NULL};

const struct driver *driver_find(const char *name)
{
    for (size_t i = 0; drivers[i]; i++) {
        if (strcmp(drivers[i]->name, name) == 0)
            return drivers[i];
    }
    return NULL;
}
