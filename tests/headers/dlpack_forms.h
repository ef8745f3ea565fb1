// Stands in for an official dlpack.h of this form, for machines that have none: DLPACK_FORM 0 is
// a version before 1.0, without the versioned struct; 1 one from 1.0 on, which has no typedef for
// it.
typedef struct DLManagedTensor {
  void *manager_ctx;
} DLManagedTensor;
#if DLPACK_FORM
struct DLManagedTensorVersioned {
  void *manager_ctx;
};
#endif
