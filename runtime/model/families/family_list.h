/* THE list of families of ViTs: one line per family. CMake reads it too and asks for the mirrors of
 * each: model/families/<family>.c (heed_family_<family>), tests/vectors/vit/<family>... (also
 * hf_<family>...), and `families/<family>.c` in a row of docs/models.md. The first family that
 * claims a file has it, so those that claim by more come first. */
#if HEED_VISION_TOWERS
HEED_FAMILY(deit)
HEED_FAMILY(mae)
HEED_FAMILY(msn)
HEED_FAMILY(ijepa)
HEED_FAMILY(beit)
HEED_FAMILY(data2vec)
HEED_FAMILY(dpt)
HEED_FAMILY(vit)
HEED_FAMILY(dinov2_registers)
HEED_FAMILY(dinov2)
HEED_FAMILY(dinov3)
HEED_FAMILY(dinov3_original)
HEED_FAMILY(eva02)
HEED_FAMILY(pe)
HEED_FAMILY(pe_core)
HEED_FAMILY(rope_registers)
HEED_FAMILY(rope_vit)
HEED_FAMILY(timm)
HEED_FAMILY(dinov2_original_registers)
HEED_FAMILY(dinov2_original)
HEED_FAMILY(siglip)
HEED_FAMILY(idefics)
HEED_FAMILY(blip)
HEED_FAMILY(clip)
HEED_FAMILY(open_clip)
HEED_FAMILY(torchvision)
#endif
#if HEED_TEXT_TOWERS
HEED_FAMILY(siglip_text)
HEED_FAMILY(clip_text)
HEED_FAMILY(open_clip_text)
#endif
