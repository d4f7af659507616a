/**
 * Traces a request through all processes. The SDK is loaded only if there is an endpoint to receive
 * the traces; otherwise nothing here has any effect.
 */

import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import type { Logger } from './log.ts'

export type { Attributes }

export interface TracingOptions {
  /** Name of the process, such as `winnow-gateway`. */
  service: string
  version: string
  /** OTLP receiver over HTTP; undefined if there are no spans. */
  endpoint: string | undefined
  log: Logger
}

export interface SpanOptions {
  /** By default, internal to the process. */
  kind?: keyof typeof KINDS
  attributes?: Attributes
  /**
   * The cause in another process: a `traceparent`, or null if it is unknown. By default the active
   * span.
   */
  from?: string | null
  /**
   * Whether this is a repetition. It gets its own trace with a link to `from`, which may have ended
   * long ago.
   */
  isRepeated?: boolean
}

/** A span of a trace, which the caller ends. */
export interface TraceSpan {
  /** For passing on to another process. */
  readonly traceParent: string | null
  setAttributes(attributes: Attributes): void
  run<T>(work: () => T): T
  /** Ends the span; a second call has no effect. */
  end(error?: unknown): void
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
}

/** How long sending the remaining spans may take on exit. */
const FLUSH_MS_MAX = 2_000

let tracer: Tracer | null = null

export const isTracing = (): boolean => tracer !== null

/**
 * Starts to send spans if there is an endpoint. The SDK itself reads OTEL_EXPORTER_OTLP_HEADERS and
 * OTEL_TRACES_SAMPLER.
 * @returns a function that sends the remaining spans and stops
 */
export async function startTracing(options: TracingOptions): Promise<() => Promise<void>> {
  const { service, version, endpoint, log } = options
  if (endpoint === undefined) return async () => undefined
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const warn = (message: string, ...details: unknown[]) =>
    log.warn({ report: message.slice(0, 500), details }, 'spans could not be sent')
  const quiet = () => undefined
  const logger = { error: warn, warn, info: quiet, debug: quiet, verbose: quiet }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` })
  const provider = new sdk.NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.version': version }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
  })
  provider.register()
  tracer = trace.getTracer('winnow')
  return async () => {
    tracer = null
    const late = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_MS_MAX).unref())
    await Promise.race([provider.shutdown().catch(warnOf(log)), late])
  }
}

const warnOf = (log: Logger) => (error: unknown) =>
  log.warn({ err: error }, 'the last spans could not be sent')

/** Returns the active span for passing on to another process; null if there is none. */
export const currentTraceParent = (): string | null =>
  tracer ? traceParentOf(context.active()) : null

/** Runs `work` in a span, which fails if it does. */
export async function inTraceSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: TraceSpan) => Promise<T>,
): Promise<T> {
  if (!tracer) return work(NO_SPAN)
  const span = beginTraceSpan(name, options)
  try {
    return await span.run(() => work(span))
  } catch (error) {
    span.end(error)
    throw error
  } finally {
    span.end()
  }
}

/** Begins a span that is independent of the call stack; the caller ends it. */
export const beginTraceSpan = (name: string, options: SpanOptions = {}): TraceSpan =>
  tracer ? openSpan(tracer, name, options, context.active()) : NO_SPAN

/** Returns a function that begins spans within the one active now, wherever it is called later. */
export function spansOfNow(): (name: string, attributes: Attributes) => TraceSpan {
  const parent = context.active()
  return (name, attributes) => (tracer ? openSpan(tracer, name, { attributes }, parent) : NO_SPAN)
}

function openSpan(
  tracer: Tracer,
  name: string,
  { kind, attributes = {}, from, isRepeated = false }: SpanOptions,
  active: Context,
): TraceSpan {
  const before = from === undefined ? active : contextOf(from)
  const linked = isRepeated ? trace.getSpanContext(before) : undefined
  const parent = isRepeated ? ROOT_CONTEXT : before
  const span = tracer.startSpan(
    name,
    {
      kind: kind ? KINDS[kind] : SpanKind.INTERNAL,
      attributes,
      ...(linked && { links: [{ context: linked }] }),
    },
    parent,
  )
  const within = trace.setSpan(parent, span)
  return {
    traceParent: traceParentOf(within),
    setAttributes: (more) => void span.setAttributes(more),
    run: (work) => context.with(within, work),
    end: (error) => endSpan(span, error),
  }
}

/** Records only the kind of an error, because its message may contain a signed address. */
function endSpan(span: Span, error: unknown): void {
  if (!span.isRecording()) return
  if (error !== undefined) {
    const { name = typeof error, code } = Object(error) as { name?: string; code?: unknown }
    span.setAttribute('error.type', typeof code === 'string' ? code : name)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

const NO_SPAN: TraceSpan = {
  traceParent: null,
  setAttributes: () => undefined,
  run: (work) => work(),
  end: () => undefined,
}

const contextOf = (traceparent: string | null): Context =>
  traceparent === null ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent })

function traceParentOf(active: Context): string | null {
  const carrier: { traceparent?: string } = {}
  propagation.inject(active, carrier)
  return carrier.traceparent ?? null
}
