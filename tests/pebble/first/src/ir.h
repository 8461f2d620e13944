/* ir: what all lowerings need of LLVM: a kernel, loops, index arithmetic, and numbers of every type.
 *
 * Local variables are stack slots; LLVM's first pass turns them into registers, so that nobody writes phi nodes here.
 * Lane vectors have `lanes` elements; with one lane, as on GPUs, they are plain scalars.
 */
#ifndef PEBBLE_IR_H
#define PEBBLE_IR_H

#include "target.h"

struct ir {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMValueRef argument[3]; /* base pointers, by enum operand */
    LLVMValueRef tile;        /* i64: which tile this workgroup (on GPUs: this work-item) computes */
    LLVMTypeRef i32, i64, f32;
    int lanes;
    const struct target *target;
    LLVMBasicBlockRef leave; /* where the kernel returns */
};

/* Open the kernel; the builder stands where `tile` (below `tiles`) is known. */
void ir_open_kernel(struct ir *ir, const char *name, int64_t tiles);
void ir_close_kernel(struct ir *ir);

struct ir_loop {
    LLVMValueRef counter, index;
    LLVMBasicBlockRef head, exit;
};
/* for (index = 0; index < count; index++) { ... } with i64 index. */
LLVMValueRef ir_loop_begin(struct ir *ir, struct ir_loop *loop, int64_t count);
void ir_loop_end(struct ir *ir, struct ir_loop *loop);

LLVMValueRef ir_const64(struct ir *ir, int64_t value);
LLVMValueRef ir_const32(struct ir *ir, int64_t value);
LLVMValueRef ir_splat(struct ir *ir, LLVMValueRef scalar); /* to a lane vector */
LLVMValueRef ir_lane_numbers(struct ir *ir);               /* <0, 1, 2, ...> of i32 */
/* value / divisor and value % divisor of unsigned scalars or vectors. */
LLVMValueRef ir_divide(struct ir *ir, LLVMValueRef value, int64_t divisor, LLVMValueRef *rest);
/* a * factor + b, in i64; b may be NULL. */
LLVMValueRef ir_scale(struct ir *ir, LLVMValueRef a, int64_t factor, LLVMValueRef b);

/* The type in which numbers of `type` are computed: f32, or i32 for integers. */
LLVMTypeRef ir_compute_type(struct ir *ir, enum type type);
/* One element, widened to its compute type. offset: i64, in elements. */
LLVMValueRef ir_load(struct ir *ir, enum type type, LLVMValueRef base, LLVMValueRef offset);
/* Lanes at base + offset + lane_offset (i32 vector), widened; lanes outside the mask are zero and touch no memory. */
LLVMValueRef ir_gather(struct ir *ir, enum type type, LLVMValueRef base, LLVMValueRef offset, LLVMValueRef lane_offset, LLVMValueRef mask);
/* The same for lanes that are neighbours in memory: base + offset + 0, 1, 2, ... */
LLVMValueRef ir_load_lanes(struct ir *ir, enum type type, LLVMValueRef base, LLVMValueRef offset, LLVMValueRef mask);
/* The reverse of ir_gather, rounded to the type. */
void ir_scatter(struct ir *ir, enum type type, LLVMValueRef value, LLVMValueRef base, LLVMValueRef offset, LLVMValueRef lane_offset,
                LLVMValueRef mask);
/* A scalar, rounded to the type, stored. */
void ir_store(struct ir *ir, enum type type, LLVMValueRef value, LLVMValueRef base, LLVMValueRef offset);

/* accumulator += a * b on lane vectors; accumulator is a stack slot. One rounding. */
void ir_accumulate(struct ir *ir, enum type type, LLVMValueRef accumulator, LLVMValueRef a, LLVMValueRef b);
/* A stack slot for a lane vector of the compute type, set to zero. */
LLVMValueRef ir_accumulator(struct ir *ir, enum type type);
LLVMValueRef ir_read(struct ir *ir, enum type type, LLVMValueRef accumulator);
/* The sum of the lanes. */
LLVMValueRef ir_reduce(struct ir *ir, enum type type, LLVMValueRef vector);

#endif
