/** Records from the microphone. */

export interface Recording {
  /** Ends the recording. */
  stop(): Promise<{ name: string; contentType: string; bytes: Blob }>
}

/**
 * Starts a recording.
 * @param signal turns the microphone off, without a recording
 * @throws Error if there is no microphone, or the user refuses it; the signal's reason
 */
export async function record(signal: AbortSignal): Promise<Recording> {
  // Processing for calls might remove the very sound that the user wants.
  const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false }
  // Undefined on pages that are neither served over HTTPS nor from localhost.
  const devices = navigator.mediaDevices as MediaDevices | undefined
  if (!devices) throw new Error('the page must come over https')
  const stream = await devices.getUserMedia({ audio: plain })
  const turnOff = () => {
    for (const track of stream.getTracks()) track.stop()
  }
  if (signal.aborted) turnOff() // the user has allowed it too late
  signal.throwIfAborted()
  signal.addEventListener('abort', turnOff)
  try {
    return begin(stream, turnOff)
  } catch (error) {
    turnOff() // the browser can't record it
    throw error
  }
}

function begin(stream: MediaStream, turnOff: () => void): Recording {
  const recorder = new MediaRecorder(stream)
  const pieces: Blob[] = []
  recorder.ondataavailable = ({ data }) => pieces.push(data)
  // Also when the microphone is unplugged, so before anybody asks for the end.
  const ended = new Promise((resolve) => (recorder.onstop = resolve))
  recorder.start()
  return {
    async stop() {
      recorder.stop()
      await ended
      turnOff()
      const contentType = recorder.mimeType.replace(/;.*/, '')
      const extension = contentType.split('/')[1] ?? 'webm'
      return { name: `recording.${extension}`, contentType, bytes: new Blob(pieces) }
    },
  }
}
