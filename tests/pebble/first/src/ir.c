#include "ir.h"

#include <string.h>

static LLVMTypeRef lanes_of(struct ir *ir, LLVMTypeRef type)
{
    if (ir->lanes == 1)
        return type;
    return LLVMVectorType(type, (unsigned)ir->lanes);
}

LLVMValueRef ir_const64(struct ir *ir, int64_t value)
{
    return LLVMConstInt(ir->i64, (unsigned long long)value, 1);
}

LLVMValueRef ir_const32(struct ir *ir, int64_t value)
{
    return LLVMConstInt(ir->i32, (unsigned long long)value, 1);
}

LLVMValueRef ir_splat(struct ir *ir, LLVMValueRef scalar)
{
    if (ir->lanes == 1)
        return scalar;
    LLVMTypeRef type = lanes_of(ir, LLVMTypeOf(scalar));
    LLVMValueRef one = LLVMBuildInsertElement(ir->builder, LLVMGetPoison(type), scalar, ir_const32(ir, 0), "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(ir->i32, (unsigned)ir->lanes));
    return LLVMBuildShuffleVector(ir->builder, one, LLVMGetPoison(type), zeros, "");
}

LLVMValueRef ir_lane_numbers(struct ir *ir)
{
    if (ir->lanes == 1)
        return ir_const32(ir, 0);
    LLVMValueRef numbers[64];
    for (int i = 0; i < ir->lanes; i++)
        numbers[i] = ir_const32(ir, i);
    return LLVMConstVector(numbers, (unsigned)ir->lanes);
}

static LLVMValueRef const_like(struct ir *ir, LLVMValueRef value, int64_t number)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return LLVMConstInt(type, (unsigned long long)number, 1);
    LLVMValueRef same[64];
    for (int i = 0; i < ir->lanes; i++)
        same[i] = LLVMConstInt(LLVMGetElementType(type), (unsigned long long)number, 1);
    return LLVMConstVector(same, (unsigned)ir->lanes);
}

LLVMValueRef ir_divide(struct ir *ir, LLVMValueRef value, int64_t divisor, LLVMValueRef *rest)
{
    LLVMValueRef by = const_like(ir, value, divisor);
    LLVMValueRef quotient = LLVMBuildUDiv(ir->builder, value, by, "");
    if (rest)
        *rest = LLVMBuildURem(ir->builder, value, by, "");
    return quotient;
}

LLVMValueRef ir_scale(struct ir *ir, LLVMValueRef a, int64_t factor, LLVMValueRef b)
{
    LLVMValueRef product = LLVMBuildMul(ir->builder, a, const_like(ir, a, factor), "");
    return b ? LLVMBuildAdd(ir->builder, product, b, "") : product;
}

static LLVMValueRef call(struct ir *ir, const char *name, LLVMTypeRef *overloads, size_t count, LLVMValueRef *arguments, unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(ir->module, id, overloads, count);
    return LLVMBuildCall2(ir->builder, LLVMIntrinsicGetType(ir->context, id, overloads, count), function, arguments, n, "");
}

static LLVMTypeRef pointer_type(struct ir *ir)
{
    return LLVMPointerTypeInContext(ir->context, ir->target->kind == HOST ? 0 : 1);
}

static void add_attribute(struct ir *ir, const char *name, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(ir->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(ir->function, LLVMAttributeFunctionIndex, a);
}

/* Host kernels get the arguments' addresses and their workgroup's place. */
static void open_host(struct ir *ir, const char *name)
{
    LLVMTypeRef pointer = pointer_type(ir), parameters[2] = {pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(ir->context), parameters, 2, 0);
    ir->function = LLVMAddFunction(ir->module, name, type);
    add_attribute(ir, "prefer-vector-width", ir->target->lanes == 16 ? "512" : "256");
    LLVMPositionBuilderAtEnd(ir->builder, LLVMAppendBasicBlockInContext(ir->context, ir->function, "entry"));
    for (int i = 0; i < 3; i++) {
        LLVMValueRef index = ir_const64(ir, i);
        LLVMValueRef slot = LLVMBuildGEP2(ir->builder, pointer, LLVMGetParam(ir->function, 0), &index, 1, "");
        ir->argument[i] = LLVMBuildLoad2(ir->builder, pointer, LLVMBuildLoad2(ir->builder, pointer, slot, ""), "");
    }
    LLVMValueRef x = LLVMBuildLoad2(ir->builder, ir->i32, LLVMGetParam(ir->function, 1), "");
    ir->tile = LLVMBuildZExt(ir->builder, x, ir->i64, "tile");
}

static void open_gpu(struct ir *ir, const char *name)
{
    bool amd = ir->target->kind == AMDGCN;
    LLVMTypeRef pointer = pointer_type(ir), parameters[3] = {pointer, pointer, pointer};
    ir->function = LLVMAddFunction(ir->module, name, LLVMFunctionType(LLVMVoidTypeInContext(ir->context), parameters, 3, 0));
    LLVMSetFunctionCallConv(ir->function, amd ? LLVMAMDGPUKERNELCallConv : LLVMPTXKernelCallConv);
    add_attribute(ir, amd ? "amdgpu-flat-work-group-size" : "nvvm.maxntid", amd ? "256,256" : "256");
    LLVMPositionBuilderAtEnd(ir->builder, LLVMAppendBasicBlockInContext(ir->context, ir->function, "entry"));
    for (int i = 0; i < 3; i++)
        ir->argument[i] = LLVMGetParam(ir->function, (unsigned)i);
    LLVMValueRef group = call(ir, amd ? "llvm.amdgcn.workgroup.id.x" : "llvm.nvvm.read.ptx.sreg.ctaid.x", NULL, 0, NULL, 0);
    LLVMValueRef item = call(ir, amd ? "llvm.amdgcn.workitem.id.x" : "llvm.nvvm.read.ptx.sreg.tid.x", NULL, 0, NULL, 0);
    group = LLVMBuildZExt(ir->builder, group, ir->i64, "");
    item = LLVMBuildZExt(ir->builder, item, ir->i64, "");
    ir->tile = ir_scale(ir, group, ir->target->local, item);
}

void ir_open_kernel(struct ir *ir, const char *name, int64_t tiles)
{
    if (ir->target->kind == HOST)
        open_host(ir, name);
    else
        open_gpu(ir, name);
    LLVMBasicBlockRef work = LLVMAppendBasicBlockInContext(ir->context, ir->function, "work");
    ir->leave = LLVMAppendBasicBlockInContext(ir->context, ir->function, "leave");
    /* The last workgroup of a GPU may be partly idle. */
    LLVMValueRef in_range = LLVMBuildICmp(ir->builder, LLVMIntULT, ir->tile, ir_const64(ir, tiles), "");
    LLVMBuildCondBr(ir->builder, in_range, work, ir->leave);
    LLVMPositionBuilderAtEnd(ir->builder, work);
}

void ir_close_kernel(struct ir *ir)
{
    LLVMBuildBr(ir->builder, ir->leave);
    LLVMPositionBuilderAtEnd(ir->builder, ir->leave);
    LLVMBuildRetVoid(ir->builder);
}

LLVMValueRef ir_loop_begin(struct ir *ir, struct ir_loop *loop, int64_t count)
{
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(ir->context, ir->function, "body");
    loop->head = LLVMAppendBasicBlockInContext(ir->context, ir->function, "head");
    loop->exit = LLVMAppendBasicBlockInContext(ir->context, ir->function, "exit");
    loop->counter = LLVMBuildAlloca(ir->builder, ir->i64, "");
    LLVMBuildStore(ir->builder, ir_const64(ir, 0), loop->counter);
    LLVMBuildBr(ir->builder, loop->head);
    LLVMPositionBuilderAtEnd(ir->builder, loop->head);
    loop->index = LLVMBuildLoad2(ir->builder, ir->i64, loop->counter, "");
    LLVMBuildCondBr(ir->builder, LLVMBuildICmp(ir->builder, LLVMIntULT, loop->index, ir_const64(ir, count), ""), body, loop->exit);
    LLVMPositionBuilderAtEnd(ir->builder, body);
    return loop->index;
}

void ir_loop_end(struct ir *ir, struct ir_loop *loop)
{
    LLVMBuildStore(ir->builder, LLVMBuildAdd(ir->builder, loop->index, ir_const64(ir, 1), ""), loop->counter);
    LLVMBuildBr(ir->builder, loop->head);
    LLVMPositionBuilderAtEnd(ir->builder, loop->exit);
}

LLVMTypeRef ir_compute_type(struct ir *ir, enum type type)
{
    return type == I8 || type == I32 ? ir->i32 : ir->f32;
}

static LLVMTypeRef memory_type(struct ir *ir, enum type type)
{
    switch (type) {
    case F32:
        return ir->f32;
    case F16:
        return LLVMHalfTypeInContext(ir->context);
    case BF16:
        return LLVMInt16TypeInContext(ir->context);
    case I8:
        return LLVMInt8TypeInContext(ir->context);
    default:
        return ir->i32;
    }
}

static LLVMTypeRef shaped_like(LLVMValueRef value, LLVMTypeRef scalar)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMVectorType(scalar, LLVMGetVectorSize(type)) : scalar;
}

/* bf16 is the upper half of a float. */
static LLVMValueRef widen(struct ir *ir, enum type type, LLVMValueRef value)
{
    LLVMTypeRef f32 = shaped_like(value, ir->f32), i32 = shaped_like(value, ir->i32);
    switch (type) {
    case F16:
        return LLVMBuildFPExt(ir->builder, value, f32, "");
    case BF16:
        value = LLVMBuildZExt(ir->builder, value, i32, "");
        return LLVMBuildBitCast(ir->builder, LLVMBuildShl(ir->builder, value, const_like(ir, value, 16), ""), f32, "");
    case I8:
        return LLVMBuildSExt(ir->builder, value, i32, "");
    default:
        return value;
    }
}

/* To nearest even on the bits of the float: add half, and one more when the kept part is odd. A NaN keeps its upper bits and stays quiet. */
static LLVMValueRef round_to_bf16(struct ir *ir, LLVMValueRef value)
{
    LLVMBuilderRef b = ir->builder;
    LLVMValueRef bits = LLVMBuildBitCast(b, value, shaped_like(value, ir->i32), "");
    LLVMValueRef sixteen = const_like(ir, bits, 16);
    LLVMValueRef odd = LLVMBuildAnd(b, LLVMBuildLShr(b, bits, sixteen, ""), const_like(ir, bits, 1), "");
    LLVMValueRef rounded = LLVMBuildAdd(b, LLVMBuildAdd(b, bits, const_like(ir, bits, 0x7fff), ""), odd, "");
    LLVMValueRef quiet = LLVMBuildOr(b, bits, const_like(ir, bits, 0x400000), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, value, value, "");
    LLVMValueRef kept = LLVMBuildLShr(b, LLVMBuildSelect(b, is_nan, quiet, rounded, ""), sixteen, "");
    return LLVMBuildTrunc(b, kept, shaped_like(value, LLVMInt16TypeInContext(ir->context)), "");
}

static LLVMValueRef narrow(struct ir *ir, enum type type, LLVMValueRef value)
{
    if (type == F16)
        return LLVMBuildFPTrunc(ir->builder, value, shaped_like(value, memory_type(ir, F16)), "");
    if (type == BF16)
        return round_to_bf16(ir, value);
    return value;
}

static LLVMValueRef address(struct ir *ir, enum type type, LLVMValueRef base, LLVMValueRef offset)
{
    return LLVMBuildGEP2(ir->builder, memory_type(ir, type), base, &offset, 1, "");
}

LLVMValueRef ir_load(struct ir *ir, enum type type, LLVMValueRef base, LLVMValueRef offset)
{
    return widen(ir, type, LLVMBuildLoad2(ir->builder, memory_type(ir, type), address(ir, type, base, offset), ""));
}

void ir_store(struct ir *ir, enum type type, LLVMValueRef value, LLVMValueRef base, LLVMValueRef offset)
{
    LLVMBuildStore(ir->builder, narrow(ir, type, value), address(ir, type, base, offset));
}

static void set_alignment(struct ir *ir, LLVMValueRef intrinsic_call, unsigned pointers_at, enum type type)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(intrinsic_call, pointers_at + 1, LLVMCreateEnumAttribute(ir->context, kind, (uint64_t)type_bytes(type)));
}

/* One lane: outside the mask the tensor's first element is read and dropped, so that no branch is needed. */
static LLVMValueRef load_or_zero(struct ir *ir, enum type type, LLVMValueRef base, LLVMValueRef pointer, LLVMValueRef mask)
{
    LLVMTypeRef scalar = memory_type(ir, type);
    pointer = LLVMBuildSelect(ir->builder, mask, pointer, base, "");
    LLVMValueRef loaded = LLVMBuildLoad2(ir->builder, scalar, pointer, "");
    return widen(ir, type, LLVMBuildSelect(ir->builder, mask, loaded, LLVMConstNull(scalar), ""));
}

static void store_if(struct ir *ir, LLVMValueRef value, LLVMValueRef pointer, LLVMValueRef mask)
{
    LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(ir->context, ir->function, "store");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(ir->context, ir->function, "after");
    LLVMBuildCondBr(ir->builder, mask, then, after);
    LLVMPositionBuilderAtEnd(ir->builder, then);
    LLVMBuildStore(ir->builder, value, pointer);
    LLVMBuildBr(ir->builder, after);
    LLVMPositionBuilderAtEnd(ir->builder, after);
}

LLVMValueRef ir_gather(struct ir *ir, enum type type, LLVMValueRef base, LLVMValueRef offset, LLVMValueRef lane_offset, LLVMValueRef mask)
{
    LLVMValueRef pointers = address(ir, type, address(ir, type, base, offset), lane_offset);
    if (ir->lanes == 1)
        return load_or_zero(ir, type, base, pointers, mask);
    LLVMTypeRef vector = lanes_of(ir, memory_type(ir, type)), overloads[2] = {vector, LLVMTypeOf(pointers)};
    LLVMValueRef arguments[3] = {pointers, mask, LLVMConstNull(vector)};
    LLVMValueRef loaded = call(ir, "llvm.masked.gather", overloads, 2, arguments, 3);
    set_alignment(ir, loaded, 0, type);
    return widen(ir, type, loaded);
}

LLVMValueRef ir_load_lanes(struct ir *ir, enum type type, LLVMValueRef base, LLVMValueRef offset, LLVMValueRef mask)
{
    if (ir->lanes == 1)
        return load_or_zero(ir, type, base, address(ir, type, base, offset), mask);
    LLVMTypeRef vector = lanes_of(ir, memory_type(ir, type)), overloads[2] = {vector, LLVMTypeOf(base)};
    LLVMValueRef arguments[3] = {address(ir, type, base, offset), mask, LLVMConstNull(vector)};
    LLVMValueRef loaded = call(ir, "llvm.masked.load", overloads, 2, arguments, 3);
    set_alignment(ir, loaded, 0, type);
    return widen(ir, type, loaded);
}

void ir_scatter(struct ir *ir, enum type type, LLVMValueRef value, LLVMValueRef base, LLVMValueRef offset, LLVMValueRef lane_offset,
                LLVMValueRef mask)
{
    LLVMValueRef pointers = address(ir, type, address(ir, type, base, offset), lane_offset);
    if (ir->lanes == 1) {
        store_if(ir, narrow(ir, type, value), pointers, mask);
        return;
    }
    LLVMValueRef arguments[3] = {narrow(ir, type, value), pointers, mask};
    LLVMTypeRef overloads[2] = {LLVMTypeOf(arguments[0]), LLVMTypeOf(pointers)};
    set_alignment(ir, call(ir, "llvm.masked.scatter", overloads, 2, arguments, 3), 1, type);
}

LLVMValueRef ir_accumulator(struct ir *ir, enum type type)
{
    LLVMTypeRef vector = lanes_of(ir, ir_compute_type(ir, type));
    LLVMValueRef slot = LLVMBuildAlloca(ir->builder, vector, "");
    LLVMBuildStore(ir->builder, LLVMConstNull(vector), slot);
    return slot;
}

LLVMValueRef ir_read(struct ir *ir, enum type type, LLVMValueRef accumulator)
{
    return LLVMBuildLoad2(ir->builder, lanes_of(ir, ir_compute_type(ir, type)), accumulator, "");
}

void ir_accumulate(struct ir *ir, enum type type, LLVMValueRef accumulator, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef sum = ir_read(ir, type, accumulator);
    if (ir_compute_type(ir, type) == ir->i32) {
        sum = LLVMBuildAdd(ir->builder, sum, LLVMBuildMul(ir->builder, a, b, ""), "");
    } else {
        LLVMTypeRef vector = LLVMTypeOf(sum);
        LLVMValueRef arguments[3] = {a, b, sum};
        sum = call(ir, "llvm.fma", &vector, 1, arguments, 3);
    }
    LLVMBuildStore(ir->builder, sum, accumulator);
}

LLVMValueRef ir_reduce(struct ir *ir, enum type type, LLVMValueRef vector)
{
    if (ir->lanes == 1)
        return vector;
    LLVMValueRef sum = LLVMBuildExtractElement(ir->builder, vector, ir_const32(ir, 0), "");
    for (int i = 1; i < ir->lanes; i++) {
        LLVMValueRef lane = LLVMBuildExtractElement(ir->builder, vector, ir_const32(ir, i), "");
        sum = ir_compute_type(ir, type) == ir->i32 ? LLVMBuildAdd(ir->builder, sum, lane, "") : LLVMBuildFAdd(ir->builder, sum, lane, "");
    }
    return sum;
}
