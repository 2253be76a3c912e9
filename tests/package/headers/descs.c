/* Every desc struct has an initialiser in every language that the headers promise. desc_list.h is
 * made of the headers by descs.sh. */
#include "heed/check.h"
#include "heed/native.h"
#include "heed/onnx.h"
#include "heed/sequences.h"
#include "heed/vulkan.h"

/* A statement each: the desc has its size, and zeros after it. */
#define HEED_DESC_OF(type)                         \
  {                                                \
    const type desc = HEED_DESC(type);             \
    if (desc.struct_size != sizeof desc) return 1; \
    count++;                                       \
  }

int main(void) {
  int count = 0;
#include "desc_list.h"
  const heed_vulkan_desc vulkan = HEED_VULKAN_DESC_INIT;
  return count == 0 || vulkan.struct_size != sizeof vulkan || vulkan.device != -1;
}
