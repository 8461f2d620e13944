/* miir.h: the C interface through which clients reach pebble. It has the functions and the meaning of rocMLIR's Miir.h, version 6.
 *
 * A client makes a handle from an option string, asks how many kernels the problem takes, and then makes one handle a kernel with
 * --kernel_id 0..n-1, lowers it, and takes its binary and its launch dimensions. The kernels are launched in that order; their arguments are three
 * bare pointers: filter, input, output. All calls hold one mutex. No text is ever printed: NULL means "not applicable" or "malformed".
 */
#ifndef PEBBLE_MIIR_H
#define PEBBLE_MIIR_H

#include <stddef.h>

#define MIIR_VERSION_FLAT 6
#define MIIR_EXPORT __attribute__((visibility("default")))

enum MiirStatus { MIIR_SUCCESS = 0, MIIR_INVALID_PARAM = 1, MIIR_INVALID_MODULE = 2, MIIR_BUILD_FAILURE = 3 };
typedef void *MiirHandle;

MIIR_EXPORT MiirHandle miirCreateHandle(const char *options);
MIIR_EXPORT enum MiirStatus miirDestroyHandle(MiirHandle handle);
MIIR_EXPORT int miirGetKernelCount(MiirHandle handle);
MIIR_EXPORT int miirGetWorkspaceSize(MiirHandle handle);
MIIR_EXPORT enum MiirStatus miirLowerTuningParams(MiirHandle handle);
MIIR_EXPORT enum MiirStatus miirLowerBin(MiirHandle handle);
/* With a NULL buffer the size is given; with one it is filled. */
MIIR_EXPORT enum MiirStatus miirBufferGet(MiirHandle handle, char *buffer, size_t *size);
/* global = workgroups * local. */
MIIR_EXPORT enum MiirStatus miirGetExecutionDims(MiirHandle handle, size_t *global, size_t *local);

#endif
