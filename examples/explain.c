// A plan for a model that is only described: which rule cut which tensor, why one could not be cut
// as asked, and how two plans differ.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>

static const tsr_tensor tensors[] = {
    {.path = "embed.weight", .dtype = TSR_BF16, .rank = 2, .dims = (int64_t[]){1000, 64}},
    {.path = "mlp.up.weight", .dtype = TSR_BF16, .rank = 2, .dims = (int64_t[]){256, 64}},
    {.path = "mlp.down.weight", .dtype = TSR_BF16, .rank = 2, .dims = (int64_t[]){64, 250}}};

static tsr_status make(const tsr_tree *tree, const tsr_mesh *mesh, const char *text,
                       tsr_plan **out_plan) {
  TSR_OWN(rules, rules);
  TSR_TRY(tsr_rules_parse(text, "example", NULL, &rules));
  return tsr_plan_match(tree, mesh, rules, NULL, out_plan);
}

// What each tensor's largest shard takes in one plan and in the other.
static tsr_status compare(const tsr_plan *before, const tsr_plan *after) {
  for (int64_t i = 0; i < tsr_plan_count(before); i++) {
    tsr_plan_row from = TSR_PLAN_ROW, to = TSR_PLAN_ROW;
    TSR_OWN(text, text);
    TSR_TRY(tsr_plan_at(before, i, &from));
    TSR_TRY(tsr_plan_at(after, i, &to));
    if (tsr_spec_equal(from.final, to.final)) continue;
    TSR_TRY(tsr_spec_print(to.final, TSR_FORM_SHORT, &text));
    printf("%s: now %s, %" PRId64 " bytes a device instead of %" PRId64 "\n", to.tensor->path,
           tsr_text_string(&text), to.bytes_per_device, from.bytes_per_device);
  }
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(tree, tree);
  TSR_OWN(mesh, mesh);
  TSR_OWN(plan, plan);
  TSR_OWN(plan, other);
  TSR_OWN(findings, findings);
  TSR_OWN(text, text);
  TSR_TRY(tsr_tree_create(tensors, 3, &tree));
  TSR_TRY(tsr_mesh_parse("tp=4", NULL, &mesh));
  TSR_TRY(make(tree, mesh, "embed -> tp, _\nup -> tp, _\ndown -> _, tp\n", &plan));
  TSR_TRY(tsr_plan_explain(plan, tsr_tree_find(tree, "mlp.down.weight"), &text));
  TSR_TRY(tsr_plan_check(plan, NULL, &findings));
  tsr_findings_print(&findings, plan, &text);
  printf("%s\n%" PRId64 " bytes a device, %" PRId64 " in all\n\n", tsr_text_string(&text),
         tsr_plan_bytes_per_device(plan), tsr_tree_bytes(tree));

  TSR_TRY(make(tree, mesh, "embed -> _, tp\nup -> tp, _\ndown -> tp, _\n", &other));
  return compare(plan, other);
}

int main(void) { return tsr_status_exit(run()); }
