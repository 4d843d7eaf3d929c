/* See nvtx_client.h. */
#include "nvtx_client.h"

#include <nvtx3/nvToolsExt.h>

#include "inquest/mark.h"

static int push(const char *text)
{
	return nvtxRangePushA(text);
}

static int push_wide(const wchar_t *text)
{
	return nvtxRangePushW(text);
}

static int pop(void)
{
	return nvtxRangePop();
}

static void mark(const char *text)
{
	nvtxMarkA(text);
}

static nvtxEventAttributes_t attributes_of(const char *text)
{
	nvtxEventAttributes_t attributes = {0};
	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
	attributes.message.ascii = text;
	return attributes;
}

static void push_number(const char *text, int64_t number)
{
	nvtxEventAttributes_t attributes = attributes_of(text);
	attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	attributes.payload.llValue = number;
	nvtxRangePushEx(&attributes);
}

static void mark_real(const char *text, double number)
{
	nvtxEventAttributes_t attributes = attributes_of(text);
	attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	attributes.payload.dValue = number;
	nvtxMarkEx(&attributes);
}

static void start_and_end(const char *text)
{
	nvtxRangeEnd(nvtxRangeStartA(text));
}

static void domain_range(const char *name, const char *text)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA(name);
	nvtxEventAttributes_t attributes = attributes_of(NULL);
	attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	attributes.message.registered = nvtxDomainRegisterStringA(domain, text);
	nvtxDomainRangePushEx(domain, &attributes);
	nvtxDomainRangePop(domain);
}

static void marked_step(int64_t step)
{
	inquest_step_begin(step);
	inquest_forward_begin();
	inquest_checkpoint_begin(3, "layers.3");
	inquest_checkpoint_end();
	inquest_forward_end();
	inquest_backward_begin();
	inquest_recompute_begin(3, NULL);
	inquest_recompute_end();
	inquest_backward_end();
	inquest_optimizer_begin();
	inquest_optimizer_end();
	inquest_value("tokens", 8192);
	inquest_step_end();
}

extern const struct nvtx_client nvtx_client;
const struct nvtx_client nvtx_client = {push, push_wide, pop, mark, push_number, mark_real,
	start_and_end, domain_range, marked_step};
