import assert from 'node:assert/strict'

export interface StreamEvent {
  name: string
  data: any
}

/** Reads the events of a Server-Sent Events body, in the form that note 5 of part 4 defines. */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      if (block.startsWith(':')) continue // a comment
      const event = /^event: (\w+)\ndata: (.+)$/.exec(block)
      assert.ok(event, `not an event: ${block}`)
      yield { name: event[1] ?? '', data: JSON.parse(event[2] ?? '') }
    }
  }
  assert.equal(text, '', 'the stream ends after a whole event')
}
