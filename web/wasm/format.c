/* snprintf and vsnprintf in libc's place, which carries 128-bit floats and files: 9 KB of module.
 * For what heed's sentences use: %c %s %d %i %u %x %X %g %p %%, the flag 0, width, precision (also
 * *), and the lengths hh h l ll j z t. Another conversion writes itself. %g is right to its digits
 * but for ties that only exact arithmetic can see. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct writer {
  char *to;
  size_t size, length; /* room; what would have been written */
} writer;

typedef struct spec {
  bool zeros;
  int width, precision; /* precision: -1 = none */
  bool wide;            /* 64 bits */
} spec;

static void put(writer *w, char c) {
  if (w->length + 1 < w->size) w->to[w->length] = c;
  w->length++;
}

/* sign, padding and text[count] in the width. */
static void put_padded(writer *w, const spec *s, const char *sign, const char *text, size_t count) {
  const size_t signs = strlen(sign), width = s->width > 0 ? (size_t)s->width : 0;
  size_t fill = width > signs + count ? width - signs - count : 0;
  for (; !s->zeros && fill > 0; fill--) put(w, ' ');
  for (; *sign; sign++) put(w, *sign);
  for (; fill > 0; fill--) put(w, '0');
  for (size_t i = 0; i < count; i++) put(w, text[i]);
}

/* The digits of value, ending before `end`; returns where they begin. */
static char *digits_before(char *end, uint64_t value, unsigned base, const char *alphabet) {
  do *--end = alphabet[value % base];
  while (value /= base);
  return end;
}

static void put_whole(writer *w, const spec *s, bool negative, uint64_t value, unsigned base,
                      const char *alphabet) {
  char text[24], *const end = text + sizeof text, *at = digits_before(end, value, base, alphabet);
  put_padded(w, s, negative ? "-" : "", at, (size_t)(end - at));
}

/* size > 0 as digits * 10^(exponent - count + 1), digits of `count` places. */
static uint64_t split_decimal(double size, int count, int *exponent) {
  double least = 1.0;
  for (int i = 1; i < count; i++) least *= 10.0;
  *exponent = count - 1;
  for (; size < least; --*exponent) size *= 10.0;
  for (; size >= 10.0 * least; ++*exponent) size /= 10.0;
  uint64_t digits = (uint64_t)rint(size); /* ties to even */
  if ((double)digits < 10.0 * least) return digits;
  ++*exponent;
  return digits / 10;
}

/* C11 7.21.6.1: as %e when the exponent is under -4 or not under the precision, else as %f; no
 * zeros at the end. */
static void put_number(writer *w, const spec *s, double x) {
  const char *sign = signbit(x) ? "-" : "";
  const spec plain = {false, s->width, -1, false};
  if (!isfinite(x)) {
    put_padded(w, &plain, isnan(x) ? "" : sign, isnan(x) ? "nan" : "inf", 3);
    return;
  }
  int exponent = 0, count = s->precision < 0    ? 6
                            : s->precision == 0 ? 1
                            : s->precision > 17 ? 17
                                                : s->precision;
  const int precision = count;
  uint64_t digits = x == 0.0 ? 0 : split_decimal(fabs(x), count, &exponent);
  if (x == 0.0) count = 1;
  for (; count > 1 && digits % 10 == 0; count--) digits /= 10;
  char places[24], text[48], *const end = places + sizeof places;
  const char *at = digits_before(end, digits, 10, "0123456789");
  const bool scientific = exponent < -4 || exponent >= precision;
  const int point = scientific ? 1 : exponent + 1; /* places before it */
  size_t n = 0;
  if (point <= 0) {
    text[n++] = '0';
    text[n++] = '.';
    for (int i = point; i < 0; i++) text[n++] = '0';
  }
  for (int i = 0; i < count || i < point; i++) {
    if (i > 0 && i == point) text[n++] = '.';
    text[n++] = i < count ? at[i] : '0';
  }
  if (scientific) {
    char *const last = places + sizeof places;
    char *from =
        digits_before(last, (uint64_t)(exponent < 0 ? -exponent : exponent), 10, "0123456789");
    if (last - from < 2) *--from = '0';
    text[n++] = 'e';
    text[n++] = exponent < 0 ? '-' : '+';
    while (from < last) text[n++] = *from++;
  }
  put_padded(w, s, sign, text, n);
}

static int read_count(const char **format, va_list *arguments) {
  int value = 0;
  if (**format == '*') {
    ++*format;
    return va_arg(*arguments, int);
  }
  for (; **format >= '0' && **format <= '9'; ++*format)
    value = value < 100000 ? value * 10 + (**format - '0') : value;
  return value;
}

static spec read_spec(const char **format, va_list *arguments) {
  spec s = {false, 0, -1, false};
  for (; **format == '0'; ++*format) s.zeros = true;
  s.width = read_count(format, arguments);
  if (**format == '.') {
    ++*format;
    s.precision = read_count(format, arguments);
  }
  for (; **format && strchr("hljzt", **format); ++*format) {
    const bool twice = **format == 'l' && (*format)[1] == 'l';
    const bool word = **format == 'l' || **format == 'z' || **format == 't';
    s.wide = s.wide || twice || **format == 'j' || (word && sizeof(long) == 8);
  }
  return s;
}

static uint64_t take_whole(const spec *s, bool with_sign, va_list *arguments) {
  if (s->wide) return va_arg(*arguments, uint64_t);
  return with_sign ? (uint64_t)(int64_t)va_arg(*arguments, int) : va_arg(*arguments, unsigned);
}

static void put_conversion(writer *w, const char **format, va_list *arguments) {
  const spec s = read_spec(format, arguments);
  const char kind = **format;
  if (kind) ++*format;
  if (kind == 's') {
    const char *text = va_arg(*arguments, const char *);
    size_t count = 0;
    while ((s.precision < 0 || count < (size_t)s.precision) && text[count]) count++;
    put_padded(w, &s, "", text, count);
  } else if (kind == 'd' || kind == 'i') {
    const uint64_t value = take_whole(&s, true, arguments);
    const bool negative = (int64_t)value < 0;
    put_whole(w, &s, negative, negative ? 0 - value : value, 10, "0123456789");
  } else if (kind == 'u' || kind == 'x' || kind == 'X') {
    put_whole(w, &s, false, take_whole(&s, false, arguments), kind == 'u' ? 10 : 16,
              kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef");
  } else if (kind == 'p') {
    put_whole(w, &s, false, (uint64_t)(uintptr_t)va_arg(*arguments, void *), 16,
              "0123456789abcdef");
  } else if (kind == 'g')
    put_number(w, &s, va_arg(*arguments, double));
  else if (kind == 'c')
    put(w, (char)va_arg(*arguments, int));
  else if (kind)
    put(w, kind);
}

int vsnprintf(char *to, size_t size, const char *format, va_list given) {
  writer w = {to, size, 0};
  va_list arguments;
  va_copy(arguments, given);
  while (*format) {
    const char c = *format++;
    if (c != '%')
      put(&w, c);
    else
      put_conversion(&w, &format, &arguments);
  }
  va_end(arguments);
  if (size > 0) to[w.length < size ? w.length : size - 1] = '\0';
  return (int)w.length;
}

int snprintf(char *to, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(to, size, format, arguments);
  va_end(arguments);
  return length;
}
