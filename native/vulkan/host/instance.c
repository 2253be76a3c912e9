/* Layers are asked for by validation only. */
#include "vulkan/host/instance.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"

#define VALIDATION "VK_LAYER_KHRONOS_validation"

/* Newer layers tell as warnings what their instrumented shaders made them switch on, and that these
 * cost time. */
static bool is_own_setting(const char *id) {
  return id && (strcmp(id, "VALIDATION-SETTINGS") == 0 ||
                strcmp(id, "WARNING-GPU-Assisted-Validation") == 0);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL take_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                   VkDebugUtilsMessageTypeFlagsEXT types,
                                                   const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                   void *user) {
  heed_vk_instance *instance = user;
  (void)types;
  if (severity == VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT &&
      is_own_setting(data->pMessageIdName))
    return VK_FALSE;
  instance->messages++;
  heed_log(instance->context, HEED_LOG_WARNING, "vulkan validation: %s", data->pMessage);
  return VK_FALSE;
}

static heed_status find_validation(heed_vk_instance *instance, heed_error *error) {
  uint32_t count = 0;
  instance->api.EnumerateInstanceLayerProperties(&count, NULL);
  VkLayerProperties *layers = heed_alloc(instance->context, (size_t)count + 1, sizeof *layers);
  if (!layers) return heed_fail_memory(error, "vulkan", count * sizeof *layers);
  instance->api.EnumerateInstanceLayerProperties(&count, layers);
  bool found = false;
  for (uint32_t i = 0; i < count; i++)
    found = found || strcmp(layers[i].layerName, VALIDATION) == 0;
  heed_free(instance->context, layers);
  return found ? HEED_OK
               : heed_fail(error, HEED_UNSUPPORTED,
                           "vulkan: validation is not installed (expected layer " VALIDATION ")");
}

/* Devices that lack parts of Vulkan, as those of MoltenVK, are listed only on request. */
static heed_status find_portability(const heed_vk_instance *instance, bool *found,
                                    heed_error *error) {
  const heed_vk_api *api = &instance->api;
  uint32_t count = 0;
  *found = false;
  if (api->EnumerateInstanceExtensionProperties(NULL, &count, NULL) != VK_SUCCESS) return HEED_OK;
  VkExtensionProperties *all = heed_alloc(instance->context, (size_t)count + 1, sizeof *all);
  if (!all) return heed_fail_memory(error, "vulkan: extensions", (size_t)count * sizeof *all);
  api->EnumerateInstanceExtensionProperties(NULL, &count, all);
  for (uint32_t i = 0; i < count; i++)
    *found |= strcmp(all[i].extensionName, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0;
  heed_free(instance->context, all);
  return HEED_OK;
}

static heed_status make_instance(heed_vk_instance *instance, heed_vulkan_validation validate,
                                 uint32_t version, heed_error *error) {
  const VkValidationFeatureEnableEXT enabled[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,
      VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT,
      VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT};
  VkDebugUtilsMessengerCreateInfoEXT messenger = {
      .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
      .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
      .pfnUserCallback = take_message,
      .pUserData = instance,
  };
  const VkValidationFeaturesEXT features = {VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                            &messenger,
                                            validate == HEED_VULKAN_VALIDATE_GPU ? 3 : 1,
                                            enabled,
                                            0,
                                            NULL};
  const char *layer = VALIDATION, *extensions[2];
  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pEngineName = "heed", .apiVersion = version};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                               .pApplicationInfo = &application,
                               .ppEnabledExtensionNames = extensions};
  bool portable;
  HEED_TRY(find_portability(instance, &portable, error));
  if (portable) {
    info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    extensions[info.enabledExtensionCount++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
  }
  if (validate) {
    HEED_TRY(find_validation(instance, error));
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &layer;
    extensions[info.enabledExtensionCount++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  }
  const VkResult result = instance->api.CreateInstance(&info, NULL, &instance->handle);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
    return heed_fail(error, HEED_NO_DEVICE,
                     "vulkan: no driver on this machine (the loader found none)");
  HEED_TRY(heed_vk_result(result, "vkCreateInstance", error));
  HEED_TRY(heed_vk_load_instance(&instance->api, instance->handle, error));
  if (validate && instance->api.CreateDebugUtilsMessengerEXT)
    HEED_TRY(heed_vk_result(instance->api.CreateDebugUtilsMessengerEXT(instance->handle, &messenger,
                                                                       NULL, &instance->messenger),
                            "vkCreateDebugUtilsMessengerEXT", error));
  return HEED_OK;
}

heed_status heed_vk_instance_create(const heed_context *context, heed_vulkan_validation validate,
                                    uint32_t version, heed_vk_instance *instance,
                                    heed_error *error) {
  memset(instance, 0, sizeof *instance);
  instance->context = context;
  HEED_TRY(heed_vk_open_loader(&instance->api, error));
  const heed_status status = make_instance(instance, validate, version, error);
  if (status != HEED_OK) heed_vk_instance_destroy(instance);
  return status;
}

void heed_vk_instance_destroy(heed_vk_instance *instance) {
  if (instance->messenger)
    instance->api.DestroyDebugUtilsMessengerEXT(instance->handle, instance->messenger, NULL);
  if (instance->handle && instance->api.DestroyInstance)
    instance->api.DestroyInstance(instance->handle, NULL);
  instance->messenger = VK_NULL_HANDLE;
  instance->handle = NULL;
  heed_vk_close_loader(&instance->api);
}
