#!/bin/sh
# `assay verify`: tensors of other tools beside the reference. What it writes is what it reads; each planted fault is found; a file that does
# not fit is refused with its name.
. "$(dirname "$0")/lib.sh"
problem='conv fwd f32 n2 c8 k16 g1 in9x9 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw'
verify() { assay verify --problem "$problem" "$@"; }

# The operands that assay fills, and the right answer.
expect 0 'wrote input.npy, filter.npy and output.npy to real' verify --write real
expect 0 'ok real/output.npy: 2592 elements, worst 0.0' verify --input real/input.npy --filter real/filter.npy real/output.npy
expect 0 'wrote' verify --data integer --write whole
expect 0 'ok whole/output.npy: 2592 elements, each exactly right' verify --input whole/input.npy --filter whole/filter.npy whole/output.npy
head -c 128 whole/output.npy >"$folder/output"
also "'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 16, 9, 9), "

# The numbers of other tools: MIOpenDriver's w is 0.01 (u - 1/2), rocmlir-gen's pattern begins with 0.5 -1 0.75.
expect 0 'wrote' verify --data rocmlir-fixed --write fixed
expect 0 'ok fixed/output.npy' verify --data rocmlir-fixed fixed/output.npy
od -An -t f4 -j 128 -N 12 fixed/input.npy | tr -s ' ' >"$folder/output"
also '0.5 -1 0.75'
expect 0 'wrote' verify --data miopen --write miopen
expect 0 'ok miopen/output.npy' verify --data miopen miopen/output.npy
expect 1 'mismatch miopen/output.npy' verify --data miopen --seed 2 miopen/output.npy

# Raw elements, and a problem in another tool's words.
tail -c +129 whole/output.npy >raw.bin
expect 0 'each exactly right' verify --data integer raw.bin
expect 0 'each exactly right' assay verify --data integer --problem \
    'MIOpenDriver conv -n 2 -c 8 -k 16 -H 9 -W 9 -y 3 -x 3 -p 1 -q 1 -F 1' raw.bin

# One element is 1.0: found among others, with its place, and the verdicts of others beside ours.
cp real/output.npy one.npy
printf '\000\000\200\077' | dd of=one.npy bs=1 seek=200 conv=notrunc 2>/dev/null
expect 1 'mismatch one.npy: 1 of 2592 off, worst ' verify --rms 0.5 --atol 100 --rtol 0.1 one.npy real/output.npy
also 'worst at 0 0 0 2 0 0'
also 'signature: one element'
also 'by --rms 0.5: passes, 0.0'
also 'by --atol 100 --rtol 0.1: passes, 0 of 2592 elements beyond'
also 'ok real/output.npy'
expect 1 'by --rms 1e-06: fails' verify --rms 1e-06 --atol 0.001 one.npy
also 'by --atol 0.001 --rtol 0: fails, 1 of 2592 elements beyond'
cp whole/output.npy one.npy
printf '\000\000\000\077' | dd of=one.npy bs=1 seek=200 conv=notrunc 2>/dev/null
expect 1 'off, such as 0.5 where exactly' verify --data integer one.npy

# Backward directions, 16-bit types, and results that were widened to f32.
half='conv bwd_data f16 n1 c4 k6 g2 in7x7 fil3x3 str2x2 dil1x1 pad1:1x1:1 nhwgc gkyxc nhwgk'
expect 0 'wrote' assay verify --problem "$half" --write half
expect 0 'ok half/input.npy: 196 elements' assay verify --problem "$half" --filter half/filter.npy --output half/output.npy half/input.npy

# Floats of 8 bits, which .npy files hold as bytes without a type, and a rocMLIR line that says them.
tiny='conv fwd f8e4m3fn n1 c4 k6 g1 in7x7 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw'
expect 0 'wrote' assay verify --problem "$tiny" --write tiny
expect 0 'ok tiny/output.npy: 294 elements' assay verify --problem "$tiny" tiny/output.npy
printf '\070' | dd of=tiny/output.npy bs=1 seek=200 conv=notrunc 2>/dev/null
expect 1 'mismatch tiny/output.npy: 1 of 294 off' assay verify --problem "$tiny" tiny/output.npy
expect 128 'tiny/output.npy: elements of one byte without a type, where the problem has f16' \
    assay verify --problem "$(echo "$tiny" | sed s/f8e4m3fn/f16/)" tiny/output.npy
echo 'rocmlir-gen -t fp8 --force-f8-types ocp --in_layout ngchw --fil_layout gkcyx --out_layout ngkhw --batchsize 2 --in_channels 8 --in_h 4' \
    '--in_w 4 --out_channels 8 --fil_h 1 --fil_w 1' >tiny.txt
expect 0 'conv fwd f8e4m3fn:f8e4m3fn:f32 n2' assay import tiny.txt
brain='conv bwd_weight bf16 n3 c4 k6 g1 in7 fil3 str1 dil1 pad1:1 ngcw gkcx ngkw'
expect 0 'wrote' assay verify --problem "$brain" --write brain
expect 0 'ok brain/filter.npy: 72 elements' assay verify --problem "$brain" --input brain/input.npy --output brain/output.npy brain/filter.npy

# What does not fit is named.
head -c 5000 real/output.npy >short.npy
expect 128 'short.npy: 4872 bytes of elements, where its header promises 10368' verify short.npy
head -c 9 real/output.npy >start.npy
expect 128 'start.npy: its .npy header is cut short' verify start.npy
head -c 5000 raw.bin >short.bin
expect 128 'short.bin: 5000 bytes, where 2592 elements of f32 are 10368' verify short.bin
expect 128 'real/input.npy: shape (2, 1, 8, 9, 9), where ngkhw has (2, 1, 16, 9, 9)' verify real/input.npy
sed 's/<f4/<c8/' real/output.npy >complex.npy
expect 128 "complex.npy: elements of type '<c8'" verify complex.npy
sed 's/False, /True,  /' real/output.npy >fortran.npy
expect 128 'fortran.npy: Fortran order' verify fortran.npy
expect 128 'nothing.npy: No such file' verify nothing.npy
expect 128 'real: not a file' verify real
expect 128 'bwd_data computes it' assay verify --problem "$half" --input real/input.npy half/input.npy
expect 128 'name the problem' assay verify real/output.npy
expect 128 '`x` is no number' verify --atol x real/output.npy
expect 129 'name the tensors to check' verify
expect 129 'did you mean `bf16`?' verify --accumulator bf15 real/output.npy
finish
