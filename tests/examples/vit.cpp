// SPDX-License-Identifier: BSD-2-Clause
// What a vision transformer does with posenc: one block over a class token and 14 x 14 patches, with PEG
// before it and 2-D RoPE inside its attention, on the transformer's own buffers.
//
//   c++ -std=c++17 vit.cpp $(pkg-config --cflags --libs posenc) -o vit
//
// Nothing is copied for posenc: PEG works on the tokens where they lie, and attention reads queries, keys
// and values out of the fused projection, (tokens, 3, heads, width of a head), by strides.
#include <posenc.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int64_t side = 14, prefix = 1, tokens = prefix + side * side;
constexpr int64_t heads = 4, head = 32, width = heads * head, hidden = 4 * width;

// ---- handles and errors ---------------------------------------------------------------

struct Release {
	void operator()(pe_context *p) const
	{
		pe_context_destroy(&p);
	}
	void operator()(pe_params *p) const
	{
		pe_params_destroy(&p);
	}
	void operator()(pe_domain *p) const
	{
		pe_domain_destroy(&p);
	}
	void operator()(pe_encoding *p) const
	{
		pe_encoding_destroy(&p);
	}
};
template <class T> using Handle = std::unique_ptr<T, Release>;

static Handle<pe_context> make_context()
{
	pe_context *context = nullptr;
	if (pe_context_create(nullptr, &context) != PE_OK)
		throw std::bad_alloc();
	return Handle<pe_context>(context);
}

static void check(pe_context *context, pe_status status)
{
	if (status != PE_OK)
		throw std::runtime_error(pe_context_message(context));
}

static Handle<pe_domain> make_grid(pe_context *context)
{
	pe_domain *grid = nullptr;
	check(context, pe_domain_grid(context, 1, side, side, prefix, &grid));
	return Handle<pe_domain>(grid);
}

using Options = std::initializer_list<std::pair<const char *, std::string>>;

static Handle<pe_encoding> bind(
	pe_context *context, const char *name, const Options &options, const pe_domain *grid)
{
	pe_params *p = nullptr;
	check(context, pe_params_create(context, name, &p));
	Handle<pe_params> params(p);
	for (const auto &[key, value] : options)
		check(context, pe_params_set(p, key, value.c_str()));
	pe_encoding *encoding = nullptr;
	check(context, pe_encoding_create(context, pe_encoder_find(name), p, grid, nullptr, &encoding));
	return Handle<pe_encoding>(encoding);
}

// ---- the block, but for positions -----------------------------------------------------

using Floats = std::vector<float>;

// A model has its weights from a file; these are fixed noise.
static Floats noise(int64_t n, float size)
{
	static uint32_t state = 1;
	Floats x(n);
	for (float &value : x) {
		state = state * 1664525u + 1013904223u;
		value = size * (float(state >> 8) / 8388608.0f - 1);
	}
	return x;
}

struct Block {
	Floats qkv = noise(3 * width * width, 2 / std::sqrt(float(width)));
	Floats out = noise(width * width, 2 / std::sqrt(float(width)));
	Floats up = noise(hidden * width, 2 / std::sqrt(float(width)));
	Floats down = noise(width * hidden, 2 / std::sqrt(float(hidden)));
};

// x (tokens, inputs) through a matrix (outputs, inputs).
static Floats project(const Floats &x, const Floats &matrix, int64_t outputs, int64_t inputs)
{
	Floats y(tokens * outputs);
	for (int64_t t = 0; t < tokens; t++)
		for (int64_t o = 0; o < outputs; o++)
			for (int64_t i = 0; i < inputs; i++)
				y[t * outputs + o] += matrix[o * inputs + i] * x[t * inputs + i];
	return y;
}

static Floats normalise(const Floats &x)
{
	Floats y(x);
	for (int64_t t = 0; t < tokens; t++) {
		float *row = &y[t * width], mean = 0, variance = 0;
		for (int64_t i = 0; i < width; i++)
			mean += row[i] / width;
		for (int64_t i = 0; i < width; i++)
			variance += (row[i] - mean) * (row[i] - mean) / width;
		for (int64_t i = 0; i < width; i++)
			row[i] = (row[i] - mean) / std::sqrt(variance + 1e-6f);
	}
	return y;
}

static void add(Floats &x, const Floats &y)
{
	std::transform(x.begin(), x.end(), y.begin(), x.begin(), std::plus<float>());
}

static void gelu(Floats &x)
{
	for (float &value : x)
		value *= 0.5f * (1 + std::erf(value * std::sqrt(0.5f)));
}

// ---- positions ------------------------------------------------------------------------

// (1, heads, tokens, head) within rows of `row` floats.
static pe_tensor head_view(float *data, int64_t row)
{
	const int64_t shape[] = {1, heads, tokens, head};
	pe_tensor t = pe_tensor_dense(data, PE_F32, 4, shape);
	t.strides[0] = tokens * row;
	t.strides[1] = head;
	t.strides[2] = row;
	return t;
}

static Floats attend(pe_context *context, pe_encoding *rope, Floats &qkv, pe_core core)
{
	Floats y(tokens * width);
	pe_tensor q = head_view(&qkv[0], 3 * width), k = head_view(&qkv[width], 3 * width),
			  v = head_view(&qkv[2 * width], 3 * width), out = head_view(y.data(), width);
	pe_attention_options options = {};
	options.size = sizeof options;
	options.core = core;
	pe_attention_tensors tensors = {};
	tensors.size = sizeof tensors;
	tensors.q = &q;
	tensors.k = &k;
	tensors.v = &v;
	tensors.out = &out;
	check(context, pe_attend(context, &rope, 1, &options, &tensors));
	return y;
}

// x (tokens, width) through PEG and the block, in place.
static void run(pe_context *context, const Block &block, pe_encoding *peg, pe_encoding *rope, Floats &x,
	pe_core core = PE_CORE_TILED)
{
	const int64_t shape[] = {tokens, width};
	const pe_tensor view = pe_tensor_dense(x.data(), PE_F32, 2, shape);
	check(context, pe_encoding_apply(peg, &view, &view));
	Floats qkv = project(normalise(x), block.qkv, 3 * width, width);
	add(x, project(attend(context, rope, qkv, core), block.out, width, width));
	Floats inner = project(normalise(x), block.up, hidden, width);
	gelu(inner);
	add(x, project(inner, block.down, width, hidden));
}

// ---- what must hold -------------------------------------------------------------------

static float largest_difference(const float *a, const float *b, int64_t n)
{
	float largest = 0;
	for (int64_t i = 0; i < n; i++)
		largest = std::max(largest, std::fabs(a[i] - b[i]));
	return largest;
}

static bool say(const char *what, bool holds)
{
	std::printf("%s: %s\n", what, holds ? "yes" : "no");
	return holds;
}

int main()
try {
	Handle<pe_context> context = make_context();
	Handle<pe_domain> grid = make_grid(context.get());
	Handle<pe_encoding> peg = bind(context.get(), "peg", {{"dim", std::to_string(width)}}, grid.get());
	Handle<pe_encoding> rope = bind(context.get(), "rope2d",
		{{"preset", "rope_vit_axial"}, {"head_dim", std::to_string(head)}}, grid.get());
	const Block block;
	const Floats patches = noise(tokens * width, 1);

	Floats x(patches), exact(patches), conditioned(patches);
	run(context.get(), block, peg.get(), rope.get(), x);
	run(context.get(), block, peg.get(), rope.get(), exact, PE_CORE_REFERENCE);
	const int64_t shape[] = {tokens, width};
	const pe_tensor view = pe_tensor_dense(conditioned.data(), PE_F32, 2, shape);
	check(context.get(), pe_encoding_apply(peg.get(), &view, &view));

	bool fine = say("peg leaves the class token alone",
		std::equal(patches.begin(), patches.begin() + width, conditioned.begin()));
	fine &= say("peg moves the patches",
		largest_difference(&patches[width], &conditioned[width], (tokens - 1) * width) > 0);
	fine &= say("the block agrees with attention in double within 1e-4",
		largest_difference(x.data(), exact.data(), tokens * width) < 1e-4f);
	return fine ? 0 : 1;
} catch (const std::exception &error) {
	std::fprintf(stderr, "vit: %s\n", error.what());
	return 1;
}
