/* First bytes of files that people have beside pictures and weights. See kind.h. */
#include "pickle/kind.h"

#include <string.h>

typedef struct file_kind {
  const char *name;
  size_t at, length;
  const char *bytes;
  bool is_picture;
} file_kind;

#define KIND(name, at, text) \
  { name, at, sizeof(text) - 1, text, false }
#define PICTURE(name, at, text) \
  { name, at, sizeof(text) - 1, text, true }

/* Safetensors stand first: their first bytes are a length, and may be those of any kind below. */
static const file_kind kinds[] = {
    KIND(HEED_KIND_SAFETENSORS, 6, "\0\0{"),
    PICTURE(HEED_KIND_PNG, 0, "\x89PNG\r\n\x1A\n"),
    PICTURE(HEED_KIND_JPEG, 0, "\xFF\xD8\xFF"),
    PICTURE("a GIF image", 0, "GIF8"),
    PICTURE(HEED_KIND_WEBP, 8, "WEBPVP8"),
    PICTURE("an AVIF image", 4, "ftypavif"),
    PICTURE("an AVIF image", 4, "ftypavis"),
    PICTURE("a HEIC image", 4, "ftyphei"),
    PICTURE("a HEIC image", 4, "ftyphev"),
    PICTURE("a HEIC or AVIF image", 4, "ftypmif1"),
    PICTURE("a HEIC or AVIF image", 4, "ftypmsf1"),
    PICTURE(HEED_KIND_TIFF, 0, "II*\0"),
    PICTURE(HEED_KIND_TIFF, 0, "MM\0*"),
    PICTURE("a BMP image", 6, "\0\0\0\0"), /* and BM before */
    PICTURE("a JPEG XL image", 4, "JXL \r\n"),
    PICTURE("a JPEG XL image", 0, "\xFF\x0A"),
    PICTURE("a JPEG 2000 image", 4, "jP  \r\n"),
    PICTURE("an SVG drawing", 0, "<svg"),
    KIND("an XML text, perhaps SVG", 0, "<?xml"),
    KIND("a web page", 0, "<!DOCTYPE"),
    KIND("a web page", 0, "<!doctype"),
    KIND("a web page", 0, "<html"),
    KIND("a PDF", 0, "%PDF-"),
    KIND("a GGUF file", 0, "GGUF"),
    KIND("an HDF5 file", 0, "\x89HDF\r\n"),
    KIND(HEED_KIND_ZIP, 0, "PK\3\4"),
    KIND("a Python pickle, such as an older PyTorch .pt", 0, "\x80\2"),
    KIND("a Python pickle", 0, "\x80\3"),
    KIND("a Python pickle", 0, "\x80\4"),
    KIND("a Python pickle", 0, "\x80\5"),
    KIND("a pickle of protocol 0 or 1, such as a PyTorch .pt", 0, "L1195470371460388"),
    KIND(HEED_KIND_NPY, 0, "\x93NUMPY"),
    KIND(HEED_KIND_LFS, 0, "version https://git-lfs.")};

static const file_kind *find_kind(const void *bytes, size_t size) {
  const char *first = bytes;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const file_kind *kind = &kinds[i];
    if (size < kind->at + kind->length || memcmp(first + kind->at, kind->bytes, kind->length) != 0)
      continue;
    if (strcmp(kind->name, "a BMP image") == 0 && memcmp(first, "BM", 2) != 0) continue;
    return kind;
  }
  return NULL;
}

const char *heed_file_kind(const void *bytes, size_t size) {
  const file_kind *kind = find_kind(bytes, size);
  return kind ? kind->name : NULL;
}

bool heed_is_picture(const void *bytes, size_t size) {
  const file_kind *kind = find_kind(bytes, size);
  return kind && kind->is_picture;
}
