#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Encoders that attention uses, on their own: weights from and to files, fewer queries than keys, arrays that
# are left out, positions of several axes.
. "$2/tests/cli/lib.sh"

# Weights go out and come back.
expect 0 encode seq:4 --with alibi:heads=2 -o a.npz --save-weights w.npz; silent
expect 0 inspect w.npz; prints 'slopes *f64 *(2)'
expect 0 encode seq:4 --with alibi:heads=2,max_bias=4 --weights w.npz -o b.npz; silent
expect 0 compare a.npz b.npz --exact
expect 0 encode seq:4 --with alibi:heads=2,max_bias=4 -o b.npz
expect 1 compare a.npz b.npz
for file in w.safetensors w/; do
	expect 0 encode seq:4 --with alibi:heads=2 -o b.npz --save-weights $file
	expect 0 encode seq:4 --with alibi:heads=2,max_bias=4 --weights $file -o b.npz
	expect 0 compare a.npz b.npz --exact
done

# Two encoders with weights of one name: behind the encoder's name, or what as= says.
expect 0 encode seq:4 --with alibi:heads=2,as=x --with alibi:heads=2,max_bias=4,as=y -o two.npz --save-weights xy.npz
expect 0 inspect xy.npz; prints 'x.slopes'; prints 'y.slopes'
expect 0 encode seq:4 --with alibi:heads=2,as=x --with alibi:heads=2,as=y --weights xy.npz -o again.npz
expect 0 compare two.npz again.npz --exact

# Names may be paths, as Flax has them; what stands before a name in a checkpoint is told.
expect 0 encode seq:4 --with alibi:heads=2,as=a/x --with alibi:heads=2,max_bias=4,as=a/y -o two.npz --save-weights axy.npz
expect 0 inspect axy.npz; prints 'a/x.slopes'; prints 'a/y.slopes'
expect 0 encode seq:4 --with alibi:heads=2,as=a/x --with alibi:heads=2,as=a/y --weights axy.npz -o again.npz
expect 0 compare two.npz again.npz --exact
expect 2 encode seq:4 --with alibi:heads=2 --weights axy.npz -o no.npz; says 'is said by as=PREFIX'
expect 0 encode grid:2x2 --with swin:heads=2,as=a/x --with swin:heads=2,as=a/y -o two.npz --save-weights axy.npz
expect 2 encode grid:2x2 --with swin:heads=2 --weights axy.npz -o no.npz
says 'but hold a/x.relative_position_bias_table: the prefix as=a/x would take it'

# Heads, and widths of heads, follow from given weights, unless they are said.
for with in swin beit levit log_cpb crossformer; do
	expect 0 encode grid:2x3 --with $with:heads=5 -o a.npz --save-weights heads.npz -q
	expect 0 encode grid:2x3 --with $with --weights heads.npz -o b.npz; silent
	expect 0 compare a.npz b.npz --exact
	expect 0 inspect b.npz; prints '"heads":"5"'
done
expect 0 encode seq:5 --with tupe:heads=2,dim=8,relative=1,buckets=10,max_length=7 -o a.npz --save-weights tupe.npz -q
expect 0 encode seq:5 --with tupe:heads=2,dim=8,relative=1 --weights tupe.npz -o b.npz; silent
expect 0 compare a.npz b.npz --exact
expect 0 inspect b.npz; prints '"buckets":"10"'; prints '"max_length":"7"'
expect 2 encode grid:2x3 --with crossformer:heads=4 --weights heads.npz -o no.npz; says 'must be (4, 6), and is (5, 6)'
expect 0 encode grid:2x3 --with crossformer:dim=64 -o a.npz --save-weights heads.npz -q
expect 0 encode grid:2x3 --with crossformer --weights heads.npz -o b.npz; silent
expect 0 compare a.npz b.npz --exact
expect 0 encode grid:2x3 --with decomposed:head_dim=12 -o a.npz --save-weights heads.npz -q
expect 0 encode grid:2x3 --with decomposed --weights heads.npz -o b.npz; silent
expect 0 compare a.npz b.npz --exact

# So do all other sizes, and the metadata tell them: INPUT, what makes the weights, what reads them, and what
# the metadata must then say.
follows()
{
	rm -rf sizes.npz
	expect 0 encode "$1" --with "$2" -o a.npz --save-weights sizes.npz -q
	expect 0 encode "$1" --with "$3" --weights sizes.npz -o b.npz; silent
	expect 0 compare a.npz b.npz --exact
	expect 0 inspect b.npz
	shift 3
	for option; do
		prints "\"${option%=*}\":\"${option#*=}\""
	done
}
follows seq:9 conv:dim=12,groups=3,kernel=5 conv dim=12 groups=3 kernel=5
follows seq:9 learned:dim=6,max_length=20,offset=2 learned:offset=2 dim=6 max_length=20
follows seq:9 erpe:heads=3,max_length=20 erpe heads=3 max_length=20
follows seq:9 spe:heads=2,head_dim=6,sines=3 spe heads=2 head_dim=6 sines=3
follows seq:9 spe:kind=conv,heads=2,head_dim=6,kernel=7 spe:kind=conv heads=2 head_dim=6 kernel=7
follows grid:2x3 learned_axial:dim=6,grid=5/4 learned_axial:preset=detr,merge=add dim=6 grid=5/4
follows grid:2x3 learned_axial:dim=6,merge=concat learned_axial:merge=concat dim=6 grid=2/3
follows grid:2x3 learned_grid:dim=6,grid=5/4,window=2/1 learned_grid:preset=timm,antialias=0 \
	dim=6 grid=5/4 prefix_rows=0 window=2/1
follows grid:3x2x3 learned_grid:dim=6,frames=4 learned_grid dim=6 frames=4
follows grid:2x3 log_cpb:hidden=7 log_cpb hidden=7
follows grid:2x3 crossformer:dim=48 crossformer dim=48
expect 0 encode grid:2x2 --with swin:heads=2 -o a.npz --save-weights sizes.npz -q
expect 0 encode grid:4x4 --with swin --weights sizes.npz -o b.npz; silent
expect 0 inspect b.npz; prints '"pretrained_window":"2/2"'

# An option that is said holds against the weights.
expect 0 encode grid:2x3 --with learned_grid:dim=6,window=2/1 -o a.npz --save-weights sizes.npz -q
expect 2 encode grid:2x3 --with learned_grid:window=1/1 --weights sizes.npz -o no.npz
says 'pos_embed_window must be (1, 1, 1, 6), and is (1, 2, 1, 6)'

# Weights of an encoder that another one is over go out and come back, behind its name.
expect 0 encode seq:4 --with randomised:over=alibi:heads=2 -o a.npz --save-weights over.npz; silent
expect 0 inspect over.npz; prints 'alibi.slopes *f64 *(2)'
expect 0 encode seq:4 --with randomised:over=alibi:heads=2:max_bias=4 --weights over.npz -o b.npz; silent
expect 0 compare a.npz b.npz --exact
expect 2 encode seq:4 --with randomised:over=alibi:heads=2 --weights xy.npz -o no.npz; says 'none of these encoders takes any'

# Features through encoders that change their width or length, one after the other.
expect 0 encode seq:8 --with sinusoidal:dim=16 -o x.npy
expect 0 encode seq:8 --with conv:dim=16,groups=4,kernel=3 --with learned:dim=16,merge=concat --tokens x.npy -o y.npz
expect 0 inspect y.npz; prints 'tokens *f32 *(8, 32)'
expect 0 encode seq:8 --with spline:dim=16 --tokens x.npy -o y.npz
expect 0 inspect y.npz; prints 'tokens *f32 *(12, 16)'
expect 2 encode seq:600 --with learned:dim=4 -o no.npz; says 'position 599 is not a whole number from 0 to 511'

# What cannot be is refused, and leaves nothing behind.
expect 2 encode seq:4 --with alibi:heads=3 --weights w.npz -o no.npz; says 'slopes must be (3), and is (2): its shape is (heads)'
expect 2 encode seq:4 --with sinusoidal:dim=4 --weights w.npz -o no.npz; says 'none of these encoders takes any'
expect 2 encode seq:4 --with alibi:heads=2 --weights a.npz --arrays bias -o a.npz; says 'is the file of --weights'
expect 0 encode seq:4 --with sinusoidal:dim=4 --save-weights no.npz; says 'none of these encoders has weights'
expect 2 encode seq:4 --with alibi -o no.npz --save-weights no.npz; says 'the same file'
expect 2 encode seq:4 --with alibi:heads=2 --weights w.npz -o no.npz --save-weights w.npz; says 'is a file that is read'
expect 2 encode seq:4 --with alibi -o no.npz --save-weights no.npy; says 'writes .npz'
expect 4 encode seq:4 --with alibi -o no.npz --save-weights nowhere/w.npz; says 'nowhere'
expect 4 encode seq:4 --with alibi --weights nothing.npz -o no.npz; says 'nothing.npz'
no_file no.npz

# The names that PyTorch's modules give. Without weights the seed is told, once.
expect 0 encode seq:4 --with t5:heads=2 -o a.npz --save-weights t5/; says '^posenc: .*t5: no weights given: begun as the authors do, from seed 0'
mkdir torch
cp t5/relative_attention_bias.npy torch/relative_attention_bias.weight.npy
expect 0 encode seq:4 --with t5:heads=2 --weights torch/ -o b.npz --seed 1; silent
expect 0 compare a.npz b.npz --exact

# Features set the width.
expect 0 encode seq:5 --with sinusoidal:dim=12 -o x.npy
expect 0 encode seq:5 --tokens x.npy --with sinusoidal -o a.npz --arrays tokens -v; says 'sinusoidal: dim=12, from the shape of the features'
expect 0 encode seq:5 --tokens x.npy --with sinusoidal:dim=12 -o b.npz --arrays tokens; silent
expect 0 compare a.npz b.npz --exact
expect 2 encode seq:5 --tokens x.npy --with sinusoidal:dim=8 -o no.npz

# The last queries.
expect 0 encode seq:6 --with alibi:heads=2 --queries 2 -o q.npz
expect 0 inspect q.npz; prints 'bias *f32 *(2, 2, 6)'; prints 'bias_table *f32 *(2, 7)'
expect 0 encode seq:6 --with alibi:heads=2 --queries 0 --arrays bias -o q.npz
expect 0 inspect q.npz; prints 'bias *f32 *(2, 0, 6)'
expect 2 encode seq:6 --with alibi --queries 7 -o no.npz; says '7 queries are not the last of 6 tokens'
expect 2 encode "$source/datasets/sbm.txt" --with lap:k=2 --queries 7 -q; says 'only sequences and grids'

# Which arrays.
expect 0 encode seq:4 --with alibi:heads=2 -o one.npy; says 'bias_table is left out'
expect 0 inspect one.npy; prints '(2, 4, 4)'
expect 0 encode seq:3000 --with alibi:heads=8 -o large.npz; says 'bias is large .* left out (--arrays bias)'
expect 0 inspect large.npz; prints ': 2 arrays'; prints 'bias_table *f32 *(8, 5999)'
expect 0 encode seq:3000 --with alibi:heads=8 -o large.npy; says 'bias is large'; says 'slopes is left out'
expect 0 inspect large.npy; prints '(8, 5999)'
bytes=$("$posenc" encode seq:3000 --with alibi:heads=8 --arrays bias --format npy -o - 2>"$err" | wc -c)
[ "$bytes" -gt $((4 * 8 * 3000 * 3000)) ] || fail "bias asked for by name: $bytes bytes"; silent
rm large.npz large.npy
expect 2 encode seq:4 --with alibi; says 'bias has 3 dimensions, .* --arrays, or .* -o OUT.npz'
expect 0 encode seq:4 --with alibi:heads=2 --arrays slopes; prints '^0.0625$'

# Positions (length), (length, axes), (batch, length, axes).
expect 0 encode seq:5 --with sinusoidal:dim=2 -o p.npy
expect 2 encode positions:p.npy --with sinusoidal:dim=4; says 'one number a position, and these have 2'
expect 0 encode seq:5 --with sinusoidal:dim=1 -o p.npy
expect 0 encode positions:p.npy --with sinusoidal:dim=4 -o p.npz
expect 0 inspect p.npz; prints 'position_encoding *f32 *(5, 4)'
expect 0 encode seq:5 --with sinusoidal:dim=9 -o p.npy
expect 3 encode positions:p.npy --with sinusoidal:dim=4; says 'p.npy: positions are (length), (length, axes)'
expect 0 encode seq:4 --with alibi:heads=2 -o p.npy
expect 2 encode positions:p.npy --with sinusoidal:dim=4; says 'these have 4'

# A kernel of one frame is not read as one of three.
expect 0 encode grid:2x2 --with axial:dim=4 -q -o rows.npy
expect 0 encode grid:2x2 --with peg:dim=4 --tokens rows.npy --save-weights still.npz -q -o still_out.npz
expect 2 encode grid:2x2 --with peg:dim=4,frames=3 --tokens rows.npy --weights still.npz -o moving.npz
says 'the weight weight must be (4, 1, 3, 3, 3)'
no_file moving.npz
exit 0
