/* Text as the ids of a text tower: CLIP's and SigLIP 2's tokenizers. An entry of its own
 * ('heed/tokenizer'), which loads heed-all.wasm.
 *
 *   const tokenizer = await createTokenizer({ 'tokenizer.json': bytes })
 *   const { ids, tokens } = tokenizer.encode('a photo of a cat', { length: 77 })
 *
 * Errors are HeedErrors, as in index.d.ts. */

/** Opens a tokenizer of `tokenizer.json` with BPE, or of CLIP's `vocab.json` and `merges.txt`, by their
 * names; `tokenizer_config.json` beside them says whether texts are lowered, and more. `base`: address of the folder with the .wasm files; default: that of this script. Throws
 * 'INVALID_FILE' or 'UNSUPPORTED' for their content, 'IO' when the module cannot be loaded, and
 * 'OUT_OF_MEMORY'. */
export function createTokenizer(
  files: Record<string, ArrayBuffer | Uint8Array>,
  options?: { base?: string | URL }
): Promise<Tokenizer>

export interface Tokenizer {
  readonly info: {
    /** 'byte-level BPE' or 'BPE with byte fallback' */
    kind: string
    /** Every id is below it. */
    vocabulary: number
    /** The ids before and after a text, and the one that fills a row up; -1: none. */
    begin: number
    end: number
    padding: number
    /** Ids of a text, as tokenizer_config.json bounds them; 0: it does not. */
    most: number
    /** What of texts no file tells, in one line; null: nothing. */
    assumed: string | null
  }
  /** The ids of a text, with those before and after it. `length`: a text of more ids is truncated, its
   * end kept; `whole` is their number without truncation. `tokens`: what each id stands for. Throws
   * 'INVALID_ARGUMENT' for a text of more than 16,384 bytes of UTF-8 and for a length without room. */
  encode(
    text: string,
    options?: { length?: number }
  ): { ids: Int32Array; tokens: string[]; whole: number }
}
