import ts from 'typescript'
import { AVOIDED, type Advice, type TextFile } from './advice.ts'

/** Further words to avoid in messages. */
const AVOIDED_IN_CODE =
  /\b(tr(ies|ying) again|another try|this try|swept|looked (at|after)|as it was)\b/i
const LEVELS = /^(trace|debug|info|warn|error|fatal)$/
/** Errors whose message a client or an admin reads as a sentence. */
const SENTENCES = /^(ServiceError|StartError|SettingsError)$/

type Kind = 'text' | 'log line' | 'error'

/**
 * Checks the texts of a source file: strings of three words or more, log lines and error messages.
 */
export function adviceOnMessages({ path, text }: TextFile): Advice[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const advice: Advice[] = []
  const judge = (node: ts.Node, message: string, kind: Kind) => {
    const rule = message ? ruleBroken(message, kind) : null
    if (rule === null) return
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1
    advice.push({ path, line, rule, text: message.trim() })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isJsxText(node)) {
      const message = ts.isJsxText(node) ? node.text : literalText(node)
      if (message.trim().split(/\s+/).length > 2) judge(node, message, 'text')
    }
    const logged = ts.isCallExpression(node) ? loggedMessage(node) : null
    if (logged) judge(logged, literalText(logged), 'log line')
    if (ts.isNewExpression(node) && SENTENCES.test(node.expression.getText())) {
      for (const message of errorMessages(node)) judge(message, literalText(message), 'error')
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return advice
}

function ruleBroken(message: string, kind: Kind): string | null {
  const term = (AVOIDED.exec(message) ?? AVOIDED_IN_CODE.exec(message))?.[0]
  if (term !== undefined) return `avoid "${term.toLowerCase()}"`
  if (kind === 'log line' && !/^[a-z…].* .*[^.]$/s.test(message)) {
    return 'a log line says what happened to what: lower case, two words or more, no full stop'
  }
  if (kind === 'error' && !/^[\p{Lu}a-z_…].*[.…:]$/su.test(message)) {
    return 'the message of an error is a sentence, or opens with a field'
  }
  return null
}

/** Returns the last argument of a call such as `log.info(…)`; null for other calls. */
function loggedMessage({ expression, arguments: values }: ts.CallExpression): ts.Node | null {
  if (!ts.isPropertyAccessExpression(expression) || !LEVELS.test(expression.name.text)) return null
  return /log$/i.test(expression.expression.getText()) ? (values.at(-1) ?? null) : null
}

/**
 * Returns the message of `new ServiceError(code, { message })`, or the first argument of the other
 * errors.
 */
const errorMessages = ({ expression, arguments: values }: ts.NewExpression): ts.Node[] =>
  (values ?? []).flatMap((value, i) => {
    if (!ts.isObjectLiteralExpression(value)) {
      return i === 0 && expression.getText() !== 'ServiceError' ? [value] : []
    }
    return value.properties.flatMap((property) =>
      ts.isPropertyAssignment(property) && property.name.getText() === 'message'
        ? [property.initializer]
        : [],
    )
  })

/** Returns the text of a literal, with … for its values; empty for other expressions. */
function literalText(node: ts.Node): string {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isParenthesizedExpression(node)) return literalText(node.expression)
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
  }
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return ''
  return literalText(node.left) + literalText(node.right)
}
