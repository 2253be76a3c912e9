/* Asks a device for cooperative matrices: extensions, features, shapes. Whatever is missing, the
 * answer is "none". */
#include "vulkan/host/cooperative_matrix.h"

#include <string.h>

#include "vulkan/host/subgroup.h"

#define STRUCTURE_FEATURES ((VkStructureType)1000506000)
#define STRUCTURE_PROPERTIES ((VkStructureType)1000506001)
#define MOST_SHAPES 64

enum {
  COMPONENT_F16 = 0,
  COMPONENT_F32 = 1,
  COMPONENT_S8 = 3,
  COMPONENT_S32 = 5,
  SCOPE_SUBGROUP = 3
};

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

/* Best first, up to one without rows. */
static const heed_gpu_matrix known_halves[] = {
    {16, 16, 16, 0}, {16, 8, 16, 0}, {8, 16, 16, 0}, {8, 8, 8, 0}, {0, 0, 0, 0}};
static const heed_gpu_matrix known_int8[] = {{16, 16, 32, 0}, {16, 16, 16, 0}, {16, 8, 32, 0},
                                             {8, 16, 32, 0},  {8, 8, 8, 0},    {0, 0, 0, 0}};

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
static bool has_features(const heed_vk_instance *instance, VkPhysicalDevice physical,
                         bool *has_int8) {
  heed_vk_matrix_wants has;
  chain(&has);
  VkPhysicalDeviceShaderFloat16Int8Features narrow = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
      .pNext = &has.matrix};
  VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                   .pNext = &narrow};
  instance->api.GetPhysicalDeviceFeatures2(physical, &all);
  *has_int8 = narrow.shaderInt8;
  return has.matrix.matrix && narrow.shaderFloat16 && has.memory_model.vulkanMemoryModel &&
         has.memory_model.vulkanMemoryModelDeviceScope;
}

static bool fits(const shape_record *shape, const heed_gpu_matrix *wanted, int32_t factor,
                 int32_t sum) {
  return shape->rows == wanted->rows && shape->columns == wanted->columns &&
         shape->depth == wanted->depth && shape->a == factor && shape->b == factor &&
         shape->c == sum && shape->result == sum && !shape->saturates &&
         shape->scope == SCOPE_SUBGROUP;
}

static void choose(const shape_record *shapes, uint32_t count, const heed_gpu_matrix *known,
                   int32_t factor, int32_t sum, heed_gpu_matrix *chosen) {
  for (; known->rows && !chosen->rows; known++)
    for (uint32_t i = 0; i < count && !chosen->rows; i++)
      if (fits(&shapes[i], known, factor, sum)) *chosen = *known;
}

void heed_vk_find_matrices(const heed_vk_instance *instance, VkPhysicalDevice physical,
                           heed_gpu_matrix *halves, heed_gpu_matrix *int8) {
  shape_record shapes[MOST_SHAPES];
  uint32_t count = MOST_SHAPES;
  bool has_int8;
  *halves = *int8 = (heed_gpu_matrix){0, 0, 0, 0};
  memset(shapes, 0, sizeof shapes);
  if (!has_features(instance, physical, &has_int8)) return;
  const uint32_t lanes = heed_vk_find_lanes(instance, physical).count;
  const shapes_function list = (shapes_function)instance->api.GetInstanceProcAddr(
      instance->handle, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
  if (!lanes || !list) return;
  for (uint32_t i = 0; i < MOST_SHAPES; i++) shapes[i].type = STRUCTURE_PROPERTIES;
  const VkResult result = list(physical, &count, shapes);
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return;
  choose(shapes, count, known_halves, COMPONENT_F16, COMPONENT_F32, halves);
  if (has_int8) choose(shapes, count, known_int8, COMPONENT_S8, COMPONENT_S32, int8);
  halves->lanes = int8->lanes = lanes;
}
