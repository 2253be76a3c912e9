/* The families, and which of them a type of config is for. */
#include "model/families/family.h"

#include <string.h>

#include "base/assert.h"
#include "base/list.h"

#define HEED_FAMILY(name) &heed_family_##name,
static const heed_family *const families[] = {
#include "model/families/family_list.h"
    NULL};
#undef HEED_FAMILY

const heed_family *heed_family_get(uint32_t index) {
  HEED_ASSERT(index < sizeof families / sizeof *families);
  return families[index];
}

const heed_family *heed_family_of_type(const char *type, heed_tower tower) {
  uint32_t i = 0;
  while (families[i] && (families[i]->tower != tower || !heed_list_has(families[i]->types, type)))
    i++;
  return families[i];
}

const heed_config_defaults *heed_family_defaults(const heed_family *family, const char *type) {
  const heed_config_defaults *typed = family->typed;
  while (typed && typed->types && !heed_list_has(typed->types, type)) typed++;
  return typed && typed->types ? typed : &family->defaults;
}
