/** Reads Server-Sent Events. */

export interface StreamEvent {
  name: string
  data: string
}

/** Reads the events of a body, whose bytes may be split anywhere. Skips comments. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<StreamEvent, void, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true })
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split(/\r?\n/)
      const data = fieldsOf(lines, 'data')
      if (data.length === 0) continue
      yield { name: fieldsOf(lines, 'event')[0] ?? 'message', data: data.join('\n') }
    }
  }
}

const fieldsOf = (lines: readonly string[], name: string): string[] =>
  lines.flatMap((line) => {
    if (!line.startsWith(`${name}:`)) return []
    return [line.slice(name.length + 1).replace(/^ /, '')]
  })
