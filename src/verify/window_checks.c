// How often a window fits into a padded and dilated dimension.
#include "verify/window_checks.h"

static int64_t number_at(const tsr_window_list *list, int dim) {
  return tsr_attr_int_count(list->ints) ? tsr_attr_int_at(list->ints, dim) : 1;
}

static tsr_status check_list(const tsr_op *op, const tsr_window_list *list, int rank) {
  const int64_t count = tsr_attr_int_count(list->ints);
  TSR_ASK(!count || count == rank, op, list->count, "%s is %s, expected %d numbers", list->name,
          SHOW_INTS(list->ints), rank);
  TSR_ASK(tsr_ints_within(list->ints, 1, INT64_MAX), op, list->positive,
          "%s is %s, expected numbers of 1 or more", list->name, SHOW_INTS(list->ints));
  return NULL;
}

static tsr_status check_padding(const tsr_op *op, const tsr_window *window) {
  const tsr_attr *padding = window->padding;
  if (!padding) return NULL;
  const tsr_type *type = padding->type;
  TSR_ASK(
      type->rank == 2 && type->dims[1] == 2 && (!type->dims[0] || type->dims[0] == window->rank),
      op, window->padding_name, "padding is of type %s, expected shape [%d, 2]", SHOW_TYPE(type),
      window->rank);
  return NULL;
}

tsr_status tsr_check_window(const tsr_op *op, const tsr_window *window) {
  TSR_TRY(check_padding(op, window));
  for (int i = 0; i < window->rank; i++)
    TSR_ASK(tsr_is_dynamic(window->sizes[i]) || window->sizes[i] > 0, op, window->positive,
            "size %d of the window is %lld, expected 1 or more", i, (long long)window->sizes[i]);
  TSR_TRY(check_list(op, &window->strides, window->rank));
  TSR_TRY(check_list(op, &window->base_dilations, window->rank));
  return check_list(op, &window->window_dilations, window->rank);
}

// The extent of `size` elements with holes between them; false if it is too large.
static bool dilate(int64_t size, int64_t dilation, int64_t *out_extent) {
  *out_extent = 0;
  if (size <= 0) return true;
  return !__builtin_mul_overflow(size - 1, dilation, out_extent) &&
         !__builtin_add_overflow(*out_extent, 1, out_extent);
}

int64_t tsr_window_places(const tsr_window *window, int dim, int64_t size) {
  if (tsr_is_dynamic(size) || tsr_is_dynamic(window->sizes[dim])) return TSR_DYNAMIC;
  int64_t base = 0, extent = 0;
  if (!dilate(size, number_at(&window->base_dilations, dim), &base)) return 0;
  if (!dilate(window->sizes[dim], number_at(&window->window_dilations, dim), &extent)) return 0;
  const bool padded = window->padding && window->padding->type->dims[0];
  for (int side = 0; padded && side < 2; side++)
    if (__builtin_add_overflow(base, tsr_dense_int(window->padding, 2 * dim + side), &base))
      return 0;
  if (base <= 0 || extent > base) return 0;
  return (base - extent) / number_at(&window->strides, dim) + 1;
}
