// eformer's PartitionAxis in full: every field with a value of its own, every semantic name and the
// field that serves it in training and when one token is decoded; then a manager in scope that
// finds the mode by a dimension.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/compat/eformer_axes.h>
#include <tessera/compat/scope.h>
#include <tessera/tessera.h>

#define FIELD(id, name)                                                                  \
  {                                                                                      \
    .field = TSR_FIELD_##id, .entry = { TSR_ENTRY_NAME, 1, (const char *const[]){name} } \
  }
// clang-format off
static const tsr_field_value fields[] = {
    FIELD(DATA_PARALLEL, "data_parallel_axis"),
    FIELD(FULLY_SHARDED, "fully_sharded_data_parallel_axis"),
    FIELD(TENSOR_PARALLEL, "tensor_parallel_axis"),
    FIELD(SEQUENCE_PARALLEL, "sequence_parallel_axis"),
    FIELD(EXPERT_PARALLEL, "expert_parallel_axis"),
    FIELD(BATCH, "batch_axis"),
    FIELD(SEQUENCE, "sequence_axis"),
    FIELD(QUERY_SEQUENCE, "query_sequence_axis"),
    FIELD(HEAD, "head_axis"),
    FIELD(KV_HEAD, "kv_head_axis"),
    FIELD(KEY_SEQUENCE, "key_sequence_axis"),
    FIELD(HIDDEN_STATE, "hidden_state_axis"),
    FIELD(MLP_INTERMEDIATE, "mlp_intermediate_axis"),
    FIELD(VOCAB, "vocab_axis"),
    FIELD(EXPERT, "expert_axis"),
    FIELD(EXPERT_GATE, "expert_gate_axis"),
    FIELD(ATTENTION_DIM, "attention_dim_axis"),
    FIELD(ATTENTION_KV_DIM, "attention_kv_dim_axis"),
    FIELD(BIAS_HEAD_SEQUENCE, "bias_head_sequence_axis"),
    FIELD(BIAS_KEY_SEQUENCE, "bias_key_sequence_axis"),
    FIELD(DECODE_BATCH, "decode_batch_axis"),
    FIELD(DECODE_QUERY_SEQUENCE, "decode_query_sequence_axis"),
    FIELD(DECODE_HEAD, "decode_head_axis"),
    FIELD(DECODE_KV_HEAD, "decode_kv_head_axis"),
    FIELD(DECODE_KEY_SEQUENCE, "decode_key_sequence_axis"),
    FIELD(DECODE_ATTENTION_DIM, "decode_attention_dim_axis"),
    FIELD(DECODE_ATTENTION_KV_DIM, "decode_attention_kv_dim_axis"),
};
// clang-format on

static const char *const tokens[] = {"__BATCH__",
                                     "__LENGTH__",
                                     "__QUERY_LENGTH__",
                                     "__KV_LENGTH__",
                                     "__EMBED__",
                                     "__HEAD__",
                                     "__KV_HEAD__",
                                     "__HEAD_DIM__",
                                     "__KV_HEAD_DIM__",
                                     "__MLP_INTERMEDIATE__",
                                     "__VOCAB__",
                                     "__EXPERT__",
                                     "__EXPERT_GATE__",
                                     "__BIAS_HEAD_SEQ__",
                                     "__BIAS_KV_SEQ__",
                                     "__DATA_PARALLEL__",
                                     "__FULLY_SHARDED_DATA_PARALLEL__",
                                     "__TENSOR_PARALLEL__",
                                     "__SEQUENCE_PARALLEL__",
                                     "__EXPERT_PARALLEL__"};

static tsr_status resolve(const tsr_axes *axes, const char *token, tsr_mode mode, tsr_text *out) {
  TSR_OWN(spec, spec);
  const tsr_logical_names names = {1, &TSR_LOGICAL_NAME(token), NULL};
  TSR_TRY(tsr_axes_resolve_spec(axes, NULL, &names, mode, &spec));
  return tsr_spec_print(spec, TSR_FORM_SHORT, out);
}

static tsr_status print_tokens(const tsr_axes *axes) {
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
    TSR_OWN(text, train);
    TSR_OWN(text, decode);
    TSR_TRY(resolve(axes, tokens[i], TSR_MODE_TRAIN, &train));
    TSR_TRY(resolve(axes, tokens[i], TSR_MODE_DECODE, &decode));
    printf("%-32s %-33s %s\n", tokens[i], tsr_text_string(&train), tsr_text_string(&decode));
  }
  return NULL;
}

// PartitionManager.resolve: a size of 1 in dimension 1 means decoding. NULL axes: those in scope.
static tsr_status print_request(const tsr_shape *shape) {
  const tsr_logical_entry entries[] = {TSR_LOGICAL_NAME("__BATCH__"),
                                       TSR_LOGICAL_NAME("__QUERY_LENGTH__"), TSR_LOGICAL_NAME("_")};
  const tsr_dynamic_axes dynamic = {
      .count = 3, .entries = entries, .mode = {.kind = TSR_MODE_BY_DIM, .dim = 1}};
  tsr_axes_request request = TSR_AXES_REQUEST;
  request.dynamic = &dynamic;
  request.shape = shape;
  TSR_OWN(spec, spec);
  TSR_OWN(text, text);
  TSR_TRY(tsr_axes_resolve_request(NULL, NULL, &request, &spec));
  TSR_TRY(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  printf("length %" PRId64 ": %s\n", shape->dims[1], tsr_text_string(&text));
  return NULL;
}

// A name of our own, and a field that follows its default again, tensor_parallel_axis.
static tsr_status print_changed(const tsr_axes *axes) {
  const tsr_field_value not_given = {.field = TSR_FIELD_HEAD, .not_given = true};
  const tsr_logical_entry entries[] = {TSR_LOGICAL_NAME("__HEAD__"), TSR_LOGICAL_NAME("rows")};
  const tsr_logical_names names = {2, entries, NULL};
  tsr_axes_request request = TSR_AXES_REQUEST;
  request.names = &names;
  request.mode = (tsr_mode_source){.kind = TSR_MODE_FIXED, .mode = TSR_MODE_TRAIN};
  TSR_OWN(axes, changed);
  TSR_OWN(axis_registry, registry);
  TSR_OWN(spec, spec);
  TSR_OWN(text, text);
  TSR_TRY(tsr_axes_replace(axes, &not_given, 1, &changed));
  TSR_TRY(tsr_axis_registry_create(&registry));
  TSR_TRY(tsr_axis_registry_add(registry, "rows", &TSR_LOGICAL_NAME("batch_axis"), NULL, false));
  TSR_TRY(tsr_axes_resolve_request(changed, registry, &request, &spec));
  TSR_TRY(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  printf("changed: %s\n", tsr_text_string(&text));
  return NULL;
}

static tsr_status run(void) {
  tsr_scope scope;
  TSR_OWN(axes, axes);
  TSR_TRY(tsr_axes_create(fields, sizeof fields / sizeof *fields, &axes));
  TSR_TRY(print_tokens(axes));
  printf("hash %016" PRIx64 "\n", tsr_axes_hash(axes));
  TSR_TRY(tsr_axes_enter(axes, &scope));  // with PartitionManager(axes):
  tsr_status status = print_request(TSR_SHAPE(8, 512, 64));
  if (!status) status = print_request(TSR_SHAPE(8, 1, 64));
  tsr_scope_leave(scope);
  TSR_TRY(status);
  return print_changed(axes);
}

int main(void) { return tsr_status_exit(run()); }
