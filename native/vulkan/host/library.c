/* The one place that knows how a system opens its libraries. */
#include "vulkan/host/library.h"

#include <stddef.h>
#include <string.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

const char heed_vk_library_name[] = "vulkan-1.dll";

void *heed_vk_library_open(void) { return LoadLibraryA(heed_vk_library_name); }

void heed_vk_library_close(void *library) { FreeLibrary(library); }

PFN_vkVoidFunction heed_vk_library_find(void *library, const char *name) {
  const FARPROC found = GetProcAddress(library, name);
  PFN_vkVoidFunction function;
  memcpy(&function, &found, sizeof function);
  return function;
}
#else
#include <dlfcn.h>

const char heed_vk_library_name[] = "libvulkan.so.1";

void *heed_vk_library_open(void) {
  static const char *const names[] = {heed_vk_library_name, "libvulkan.so", "libvulkan.1.dylib",
                                      "libMoltenVK.dylib"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  return library;
}

void heed_vk_library_close(void *library) { dlclose(library); }

PFN_vkVoidFunction heed_vk_library_find(void *library, const char *name) {
  void *found = dlsym(library, name);
  PFN_vkVoidFunction function;
  /* ISO C has no cast from object to function pointers */
  memcpy(&function, &found, sizeof function);
  return function;
}
#endif
