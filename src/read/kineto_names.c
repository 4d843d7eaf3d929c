#include "read/kineto_names.h"

#include <string.h>
#include <strings.h>

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/*
 * Calls that only ask.  What is left launches, copies, waits, records events, or allocates; an
 * unknown call is kept, since a long one may be why the host stood still.
 */
static bool is_query(const char *name)
{
	static const char *const parts[] = {"Query", "IsCapturing", "GetCaptureInfo",
		"GetLastError", "PeekAtLastError", "GetErrorString", "GetErrorName", "Attribute",
		"Occupancy", "ThreadExchangeStreamCaptureMode", "GetFuncBySymbol", "GetDevice",
		"SetDevice", "GetPriority", "GetStreamPriorityRange", "EventElapsedTime",
		"GetProcAddress", "GetEntryPoint", "CtxGetCurrent", "CtxSetCurrent", "CtxGetDevice",
		"DriverGetVersion", "RuntimeGetVersion", "MemGetInfo", "PushCallConfiguration",
		"PopCallConfiguration", "EventCreate", "EventDestroy"};
	if (!starts_with(name, "cuda") && !starts_with(name, "cu") && !starts_with(name, "hip") &&
		!starts_with(name, "__cuda") && !starts_with(name, "__hip"))
		return false;
	for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
		if (strstr(name, parts[p]))
			return true;
	return false;
}

/* Launches and nothing else may hold a kernel's correlation. */
static bool is_launch(const char *name)
{
	return strstr(name, "LaunchKernel") || strstr(name, "GraphLaunch") ||
	       strstr(name, "LaunchCooperativeKernel");
}

static bool keeps_shapes(const char *name)
{
	static const char *const whole[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
		"aten::linear", "aten::embedding", "aten::_scaled_mm", "aten::_grouped_mm",
		"aten::convolution", "aten::_convolution", "aten::convolution_backward",
		"aten::cudnn_convolution", "aten::miopen_convolution", "aten::cross_entropy_loss"};
	static const char *const starts[] = {"aten::nll_loss", "aten::scaled_dot_product",
		"aten::_scaled_dot_product", "aten::_flash_attention", "aten::_efficient_attention",
		"aten::_cudnn_attention", "flash_attn::_flash_attn", "aten::conv"};
	for (size_t w = 0; w < sizeof whole / sizeof *whole; w++)
		if (strcmp(name, whole[w]) == 0)
			return true;
	for (size_t s = 0; s < sizeof starts / sizeof *starts; s++)
		if (starts_with(name, starts[s]))
			return true;
	return false;
}

static bool is_nccl(const char *name)
{
	return starts_with(name, "nccl") || strstr(name, "ncclKernel") ||
	       strstr(name, "ncclDevKernel") || strncasecmp(name, "rccl", 4) == 0;
}

uint8_t name_flags_of(const char *name)
{
	uint8_t flags = NAME_IS_KNOWN;
	if (is_query(name))
		flags |= NAME_IS_QUERY;
	if (keeps_shapes(name))
		flags |= NAME_KEEPS_SHAPES;
	if (is_nccl(name))
		flags |= NAME_IS_NCCL;
	if (starts_with(name, "autograd::engine::evaluate_function"))
		flags |= NAME_IS_BACKWARD;
	if (strcmp(name, "record_param_comms") == 0)
		flags |= NAME_IS_COMMS;
	if (starts_with(name, "ProfilerStep#"))
		flags |= NAME_IS_STEP;
	if (is_launch(name))
		flags |= NAME_IS_LAUNCH;
	return flags;
}

/* Letters only, in lower case: _allgather_base, all_gather_into_tensor and AllGather are one. */
static void fold(const char *name, char *to, size_t room)
{
	size_t length = 0;
	for (; *name && length + 1 < room; name++)
		if ((*name | 0x20) >= 'a' && (*name | 0x20) <= 'z')
			to[length++] = (char)(*name | 0x20);
	to[length] = '\0';
}

enum collective_kind collective_kind_of(const char *name)
{
	static const struct {
		const char *part;
		enum collective_kind kind;
	} parts[] = {
		{"allgather", COLLECTIVE_ALL_GATHER},
		{"reducescatter", COLLECTIVE_REDUCE_SCATTER},
		{"allreduce", COLLECTIVE_ALL_REDUCE},
		{"broadcast", COLLECTIVE_BROADCAST},
		{"sendrecv", COLLECTIVE_SEND_RECV},
	};
	char folded[128];
	fold(name, folded, sizeof folded);
	for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
		if (strstr(folded, parts[p].part))
			return parts[p].kind;
	if (strcmp(folded, "send") == 0 || strcmp(folded, "recv") == 0)
		return COLLECTIVE_SEND_RECV;
	return COLLECTIVE_OTHER;
}

int64_t dtype_bytes(const char *dtype)
{
	static const struct {
		const char *name;
		int64_t bytes;
	} dtypes[] = {{"BFloat16", 2}, {"Float", 4}, {"Half", 2}, {"Double", 8}, {"Byte", 1},
		{"Char", 1}, {"Bool", 1}, {"Short", 2}, {"Int", 4}, {"Long", 8}, {"UInt16", 2},
		{"UInt32", 4}, {"UInt64", 8}, {"ComplexHalf", 4}, {"ComplexFloat", 8},
		{"ComplexDouble", 16}};
	for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
		if (strcasecmp(dtype, dtypes[d].name) == 0)
			return dtypes[d].bytes;
	return strncasecmp(dtype, "Float8", 6) == 0 ? 1 : 0;
}
