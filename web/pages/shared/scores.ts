/* Scores before the softmax, by their stages. Their definitions are those of heed.h (heed_score_),
 * with the value of ONNX's qk_matmul_output_mode:
 *   raw      q . k
 *   scaled   q . k / sqrt(D), mode 0; mode 1 adds softcap, which vision transformers have not
 *   masked   divided by the temperature and -Infinity where masks hide the key, mode 2; the same as
 *            scaled where nothing is changed
 *   softmax  the weights, mode 3
 *   value    weight times the length of what the key's token gives, |v| (Kobayashi et al. 2020) */
import { say } from '../languages/say.js'

export const scoreStages: Record<string, string> = {
  value: say('scores.softmaxV'),
  softmax: 'softmax',
  masked: '+ mask',
  scaled: 'q·k / √D',
  raw: 'q·k'
}
export const stageWords: Record<string, string> = {
  value: say('scores.weightV'),
  masked: 'q·k / √D + mask (ONNX mode 2)',
  scaled: 'q·k / √D (ONNX mode 0)',
  raw: say('scores.qKNotScaled')
}
