/** Runs a command of ours: its output, and how it ends. */

interface Streams {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

export async function runCommand(
  command: (words: string[], streams: Streams) => Promise<number>,
  words: string[],
) {
  const out = { text: '', errors: '' }
  const code = await command(words, {
    stdout: {
      write: (text) => {
        out.text += text
      },
    },
    stderr: {
      write: (text) => {
        out.errors += text
      },
    },
  })
  return { code, ...out }
}
