/* Numbers as text. See number_text.h. */
#include "base/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *heed_text_number(double value, uint32_t decimals, char text[HEED_TEXT_NUMBER_SIZE]) {
  static const uint64_t powers[10] = {1u,      10u,      100u,      1000u,      10000u,
                                      100000u, 1000000u, 10000000u, 100000000u, 1000000000u};
  const uint32_t digits = decimals > 9 ? 9 : decimals;
  const uint64_t unit = powers[digits];
  if (isnan(value)) return strcpy(text, "nan");
  if (fabs(value) >= 1e9) return strcpy(text, value < 0.0 ? "-huge" : "huge");
  const uint64_t scaled = (uint64_t)(fabs(value) * (double)unit + 0.5); /* below 1e18 */
  const char *sign = value < 0.0 && scaled ? "-" : "";
  if (digits == 0)
    snprintf(text, HEED_TEXT_NUMBER_SIZE, "%s%llu", sign, (unsigned long long)scaled);
  else
    snprintf(text, HEED_TEXT_NUMBER_SIZE, "%s%llu.%0*llu", sign,
             (unsigned long long)(scaled / unit), (int)digits, (unsigned long long)(scaled % unit));
  return text;
}
