#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Wrong usage: one sentence, exit 2, nothing on standard output.
. "$2/tests/cli/lib.sh"

expect 2
expect 2 frobnicate; says 'there is no command "frobnicate"'
expect 2 encode; says 'takes one input'
expect 2 encode seq:4 seq:5; says 'takes one input, not 2'
expect 2 encode seq:4 --frob; says 'there is no option --frob'
expect 2 encode seq:4 -z; says 'there is no option -z'
expect 2 encode seq:4 --with; says 'needs a value'
expect 2 encode seq:4 --quiet=1; says 'takes no value'
expect 2 encode seq:four; says 'expected seq:LENGTH'
expect 2 encode seq:4@; says 'expected seq:LENGTH'
expect 2 encode grid:4; says 'expected grid:HxW'
expect 2 encode grid:4x4x; says 'expected grid:HxW'
expect 2 encode grid:4x4x4x4; says 'expected grid:HxW'
expect 2 encode grid:0x4; says 'not possible'
expect 2 encode seq:4 --with nothing; says 'there is no encoder "nothing"'
expect 2 encode seq:4 --with sinusoidal:dim=0; says 'dim: "0" is not an integer from 1'
expect 2 encode seq:4 --with sinusoidal:dim; says 'not of the form key=value'
expect 2 encode seq:4 --with sinusoidal:dim=4,dim=8; says '"dim" is given twice'
expect 2 encode seq:4 --with sinusoidal:as=a,dim=4,as=a; says '"as" is given twice'
expect 2 encode seq:4 --with sinusoidal:preset=tensor2tensor,preset=tensor2tensor; says '"preset" is given twice'
expect 2 encode seq:4 --with axial; says 'axial does not take a sequence, but a grid'
expect 2 encode grid:2x2 --with axial:dim=6; says 'multiple of 4'
expect 2 encode seq:4 --dtype f31; says 'not one of f32'
expect 2 encode seq:4 --dtype bf16 -o x.npz; says 'safetensors only'
expect 2 encode seq:4 -o x.png; says 'name the --format'
expect 2 encode seq:4 -o -; says 'needs --format'
expect 2 encode seq:4 --json; says 'send the data to a file'
expect 2 encode seq:4 --arrays nothing; says 'there is no array "nothing"'
expect 2 encode seq:4 --with sinusoidal --with sinusoidal; says 'as=PREFIX'
expect 2 encode seq:4 --threads -1; says 'not an integer from 0'
expect 2 encode seq:4 --cpu z80; says 'not a set of kernels'
expect 2 compare one; says 'takes two files'
expect 2 help nothing; says 'no command or encoder'
expect 2 list pictures
expect 2 completion tcsh
expect 2 encode seq:4 --format npz; says 'needs -o'
printf '0 1\n' >x.tsv
expect 2 encode x.tsv --with lap:k=1 -o x.tsv; says 'is the input itself'
printf '0 1\n' | cmp -s - x.tsv || fail 'the input was touched'
printf '0 1 1e300\n1 2 1e300\n' >x.tsv
expect 3 encode x.tsv --with lap:k=1 -q; says 'weighted degree'
rm x.tsv
[ ! -s "$out" ] || fail 'usage errors print on standard output'
only_files
