/** Normalises prompts for models, so that punctuation and capitals make no difference. */

/** Returns the prompt in lower case, without final punctuation. */
export function modelPrompt(prompt: string): string {
  const text = prompt.normalize('NFC').trim().toLowerCase()
  return text.replace(/[\p{Terminal_Punctuation}…\s]+$/u, '')
}
