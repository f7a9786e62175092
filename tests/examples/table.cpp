// SPDX-License-Identifier: BSD-2-Clause
// posenc from C++: MAE's table for a 14 x 14 grid, into a vector.
#include <posenc.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

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

int main()
{
	pe_context *c = nullptr;
	if (pe_context_create(nullptr, &c) != PE_OK)
		return 1;
	Handle<pe_context> context(c);
	auto check = [&](pe_status status) {
		if (status != PE_OK)
			throw std::runtime_error(pe_context_message(c));
	};
	pe_params *p = nullptr;
	check(pe_params_create(c, "axial", &p));
	Handle<pe_params> params(p);
	check(pe_params_set(p, "preset", "mae"));
	check(pe_params_set(p, "dim", "768"));
	pe_domain *d = nullptr;
	check(pe_domain_grid(c, 1, 14, 14, 1, &d));
	Handle<pe_domain> grid(d);
	pe_encoding *e = nullptr;
	check(pe_encoding_create(c, pe_encoder_find("axial"), p, d, NULL, &e));
	Handle<pe_encoding> encoding(e);

	const int64_t shape[] = {197, 768};
	std::vector<float> table(197 * 768);
	pe_tensor out = pe_tensor_dense(table.data(), PE_F32, 2, shape);
	check(pe_encoding_compute(e, &out, 1));
	std::printf("token 0: %g, token 2: %.6f %.6f\n", table[0], table[2 * 768], table[2 * 768 + 192]);
}
