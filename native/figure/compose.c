/* A figure from its parts. See compose.h. */
#include "figure/compose.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

#define MAX_UNITS 16000.0 /* of a side: cairo's pictures end at 32767 pixels, two per unit */
#define MAX_AREA 3e7

/* The caller's caption and what a reader must know of the scale. The caller frees. */
static char *caption_of(heed_context *context, const heed_figure_desc *desc,
                        const figure_numbers *numbers, bool lines) {
  static const char before[] = " The line below a map is its weight on ",
                    after[] = ": full width is 100 %.";
  const char *prefix = heed_figure_prefix_name(desc);
  static const char mark[] = " The mark on a bar is 1 \xC3\x97 uniform.",
                    end[] = " The scale's end was given.";
  const char *own = desc->caption ? desc->caption : "",
             *scale = heed_figure_scale_words(desc, numbers);
  const size_t size = strlen(own) + strlen(scale) + sizeof before + strlen(prefix) + sizeof after +
                      sizeof mark + sizeof end + 2;
  char *caption = heed_alloc(context, size, 1);
  if (!caption) return NULL;
  snprintf(caption, size, "%s%s%s%s%s%s%s%s", own, *own ? "\n" : "", scale,
           desc->rgb || numbers->scale.kind == HEED_SCALE_OWN ? "" : mark,
           desc->end > 0.0 ? end : "", lines ? before : "", lines ? prefix : "",
           lines ? after : "");
  return caption;
}

static void put_lines(figure_work *work, double x, double y, double width, double height,
                      const figure_font *font, const char *text) {
  for (y += font->size; text && *text; y += height) {
    const size_t bytes = heed_text_line(work->ruler, font, text, width);
    heed_shapes_text(work->shapes, work->ruler, x, y, FIGURE_START, font, text, bytes);
    text = heed_text_next_line(text, bytes);
  }
}

/* What the map over the picture is of, where that is not a map beside it. */
static void put_heading(figure_work *work) {
  const uint32_t count = work->desc->layers * work->desc->heads;
  const figure_layout *layout = &work->layout;
  char text[64] = "colour and opacity: weight of the map", fitted[FIGURE_FITTED_SIZE];
  if (count > 1) snprintf(text, sizeof text, "colour and opacity: mean of the %u maps", count);
  heed_text_fitted(work->ruler, &heed_font_quiet, text, layout->left_width, fitted);
  heed_shapes_text(work->shapes, work->ruler, layout->picture.x, layout->picture.y - 4.0,
                   FIGURE_START, &heed_font_quiet, fitted, strlen(fitted));
}

static void put_all(figure_work *work, const figure_texts *texts) {
  const figure_layout *layout = &work->layout;
  work->shapes->width = layout->width;
  work->shapes->height = layout->height;
  work->shapes->scale = heed_figure_scale_words(work->desc, &work->numbers);
  heed_shapes_fill(work->shapes, (figure_box){0.0, 0.0, layout->width, layout->height}, 0xFFFFFFu,
                   1.0);
  heed_figure_put_picture(work);
  if (work->desc->plain) {
    heed_figure_put_maps(work);
    return;
  }
  const bool scaled = !work->desc->rgb;
  if (scaled) put_heading(work);
  if (scaled) heed_figure_put_bar(work, layout->picture_bar, &work->numbers.mean_scale);
  heed_figure_put_maps(work);
  if (scaled) heed_figure_put_bar(work, layout->bar, &work->numbers.scale);
  put_lines(work, layout->picture.x, layout->title_y, layout->left_width, FIGURE_TITLE_LINE,
            &heed_font_title, texts->title);
  put_lines(work, layout->picture.x, layout->caption_y, heed_figure_caption_width(layout),
            FIGURE_TEXT_LINE, &heed_font_quiet, texts->caption);
}

static heed_status lay_out(figure_work *work, figure_texts *texts, heed_error *error) {
  figure_layout *layout = &work->layout;
  heed_figure_lay_out(work->desc, texts, work->ruler, layout);
  if (layout->width <= MAX_UNITS && layout->height <= MAX_UNITS &&
      layout->width * layout->height <= MAX_AREA)
    return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "figure: too large to draw (found %.0f x %.0f units, expected at most %.0f a "
                   "side and %.0f in all)",
                   layout->width, layout->height, MAX_UNITS, MAX_AREA);
}

static heed_status compose(heed_context *context, figure_work *work, heed_error *error) {
  const heed_figure_desc *desc = work->desc;
  figure_texts texts = {.title = desc->title};
  HEED_TRY(lay_out(work, &texts, error)); /* its size, before a map is read */
  HEED_TRY(heed_figure_measure(context, desc, &work->numbers, error));
  char *caption =
      caption_of(context, desc, &work->numbers, desc->prefix_mass && !work->layout.numbered_prefix);
  texts.caption = caption;
  heed_status status =
      caption ? lay_out(work, &texts, error) : heed_fail_memory(error, "figure", 512);
  if (status == HEED_OK) put_all(work, &texts);
  heed_free(context, caption);
  heed_figure_numbers_free(context, &work->numbers);
  if (status == HEED_OK && work->shapes->failed)
    status = heed_fail_memory(error, "figure", work->shapes->capacity * sizeof(figure_shape));
  return status;
}

heed_status heed_figure_compose(heed_context *context, const heed_figure_desc *desc,
                                const figure_ruler *ruler, double density, figure_shapes *shapes,
                                heed_error *error) {
  figure_work work = {.desc = desc, .ruler = ruler, .density = density, .shapes = shapes};
  *shapes = (figure_shapes){.context = context};
  HEED_TRY(heed_figure_check_desc(desc, error));
  const heed_status status = compose(context, &work, error);
  if (status != HEED_OK) heed_shapes_free(shapes);
  return status;
}
