/** Normalises a prompt for a model, whatever its punctuation and capitals. */

/** The normalised form of a prompt: lower case, with no final punctuation. */
export function modelPrompt(prompt: string): string {
  const text = prompt.normalize('NFC').trim().toLowerCase()
  return text.replace(/[\p{Terminal_Punctuation}…\s]+$/u, '')
}
