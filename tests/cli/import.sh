#!/bin/sh
# Lines of other tools become problems, and go back.
. "$(dirname "$0")/lib.sh"

cat >lines <<'EOF'
# a comment
MIOpenDriver convfp16 -n 32 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -g 1 -F 1
./bin/rocmlir-gen --operation conv_bwd_data --arch gfx90a -t f32 --fil_layout gkcyx --in_layout ngchw --out_layout ngkhw --batchsize 2 --in_channels 8 --out_channels 8 --in_h 7 --in_w 7 --fil_h 1 --fil_w 1 -pv | rocmlir-driver -c
EOF
expect 0 'conv fwd f16 n32 c64 k64 g1 in56x56 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw' assay import lines
also 'conv bwd_data f32 n2 c8 k8 g1 in7x7 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'
assay import lines >problems
for tool in miopen rocmlir mlir-miopen miir; do
    assay import --to $tool problems >spelled || bad "import --to $tool"
    assay import --from $tool spelled >back || bad "import --from $tool"
    count=$((count + 1))
    cp back output
    cmp -s problems back || bad "there and back through $tool changes the problems"
done

echo 'MIOpenDriver conv -n 32 -c 64 -H 56 -W 56 -k 64 --fil_hh 3 -F 1' >lines
expect 128 'lines:1' assay import lines
also 'fil_h'
echo 'hello' >lines
expect 128 'no problem in any spelling' assay import lines
echo 'conv fwd f32 n1 c8 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad1:0x1:1 ngchw gkcyx ngkhw' >lines
expect 128 'lines:1' assay import --to miopen lines
expect 128 'nowhere' assay import nowhere
finish
