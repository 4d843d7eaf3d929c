/* The markers of inquest/mark.h as objects of C++; nvtx_test finds the function by its name. */
#include "inquest/mark.h"

extern "C" void marked_step_in_cxx(int64_t n);

void marked_step_in_cxx(int64_t n)
{
	inquest::step step(n);
	{
		inquest::forward pass;
		inquest::checkpoint region(3, "layers.3");
	}
	{
		inquest::backward pass;
		inquest::recompute region(3);
	}
	inquest::optimizer update;
	inquest::range other("any text");
	inquest_value("tokens", 8192);
}
