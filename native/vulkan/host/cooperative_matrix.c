/* Asks a device for cooperative matrices: extensions, features, shapes. Whatever is missing, the
 * answer is "none". */
#include "vulkan/host/cooperative_matrix.h"

#include <string.h>

#include "vulkan/host/subgroup.h"

#define STRUCTURE_FEATURES ((VkStructureType)1000506000)
#define STRUCTURE_PROPERTIES ((VkStructureType)1000506001)
#define MOST_SHAPES 64

enum { COMPONENT_F16 = 0, COMPONENT_F32 = 1, SCOPE_SUBGROUP = 3 };

typedef struct shape_record {
  VkStructureType type;
  void *next;
  uint32_t rows, columns, depth; /* M N K */
  int32_t a, b, c, result;       /* component types */
  VkBool32 saturates;
  int32_t scope;
} shape_record;

typedef VkResult(VKAPI_PTR *shapes_function)(VkPhysicalDevice, uint32_t *, shape_record *);

static const char *const extensions[HEED_VK_MATRIX_EXTENSIONS] = {"VK_KHR_cooperative_matrix",
                                                                  "VK_KHR_vulkan_memory_model"};

/* Best first. */
static const heed_vk_matrix known[] = {
    {16, 16, 16, 0}, {16, 8, 16, 0}, {8, 16, 16, 0}, {8, 8, 8, 0}};

static void chain(heed_vk_matrix_wants *wants) {
  memset(wants, 0, sizeof *wants);
  wants->memory_model.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES;
  wants->matrix.type = STRUCTURE_FEATURES;
  wants->matrix.next = &wants->memory_model;
}

void heed_vk_want_matrix(heed_vk_matrix_wants *wants) {
  chain(wants);
  wants->matrix.matrix = wants->memory_model.vulkanMemoryModel = VK_TRUE;
  /* Atomics have the scope of the device, in all modules, once the memory model is there. */
  wants->memory_model.vulkanMemoryModelDeviceScope = VK_TRUE;
  memcpy(wants->extensions, extensions, sizeof extensions);
}

/* A feature that is there says that its extension is. */
static bool has_features(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  heed_vk_matrix_wants has;
  chain(&has);
  VkPhysicalDeviceShaderFloat16Int8Features half = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
      .pNext = &has.matrix};
  VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                   .pNext = &half};
  instance->api.GetPhysicalDeviceFeatures2(physical, &all);
  return has.matrix.matrix && half.shaderFloat16 && has.memory_model.vulkanMemoryModel &&
         has.memory_model.vulkanMemoryModelDeviceScope;
}

static bool fits(const shape_record *shape, const heed_vk_matrix *wanted) {
  return shape->rows == wanted->rows && shape->columns == wanted->columns &&
         shape->depth == wanted->depth && shape->a == COMPONENT_F16 && shape->b == COMPONENT_F16 &&
         shape->c == COMPONENT_F32 && shape->result == COMPONENT_F32 &&
         shape->scope == SCOPE_SUBGROUP;
}

heed_vk_matrix heed_vk_find_matrix(const heed_vk_instance *instance, VkPhysicalDevice physical) {
  static const heed_vk_matrix none;
  shape_record shapes[MOST_SHAPES];
  uint32_t count = MOST_SHAPES;
  memset(shapes, 0, sizeof shapes);
  if (!has_features(instance, physical)) return none;
  const uint32_t lanes = heed_vk_find_lanes(instance, physical).count;
  const shapes_function list = (shapes_function)instance->api.GetInstanceProcAddr(
      instance->handle, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
  if (!lanes || !list) return none;
  for (uint32_t i = 0; i < MOST_SHAPES; i++) shapes[i].type = STRUCTURE_PROPERTIES;
  const VkResult result = list(physical, &count, shapes);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return none;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    for (uint32_t i = 0; i < count; i++)
      if (fits(&shapes[i], &known[k]))
        return (heed_vk_matrix){known[k].rows, known[k].columns, known[k].depth, lanes};
  return none;
}
