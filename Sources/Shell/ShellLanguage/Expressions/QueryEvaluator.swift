import LarderSystem

/// Evaluates expressions and operands for one walk. Each expression is compiled once, and the counts are for the whole walk.
package struct QueryEvaluator {
  private let now: UnixTime
  private let pause: () throws -> Void
  private var matchers: [RegularExpression: PatternMatcher] = [:]
  private var finders: [[UInt8]: TextFinder] = [:]
  /// The number of values in which a path was looked up.
  package private(set) var values = 0
  package private(set) var valuesNotJSON = 0
  /// The number of `values` that were nested too deep to parse. Such a value may be JSON.
  package private(set) var valuesTooDeep = 0
  private var isCounted = false
  /// For a suggestion: the names of fields in values that lack a path, and for each path whether a value has this path.
  private var sampledFields: Set<String> = []
  private var samples = 0
  private var paths: [QueryPath: Bool] = [:]

  private static let mostSamples = 200

  /// - Parameter pause: Called often during long work. An error that `pause` throws ends the evaluation.
  package init(now: UnixTime, pause: @escaping () throws -> Void) {
    self.now = now
    self.pause = pause
  }

  /// Begins an entry. With `counting`, the value of the entry counts in `values` if a path is looked up.
  package mutating func begin(counting: Bool) { isCounted = !counting }

  package mutating func passes(
    _ expression: Expression, _ input: any QueryFacts, _ value: Span<UInt8>
  ) throws -> Bool {
    switch expression {
    case .all(let parts):
      for part in parts where try !passes(part, input, value) { return false }
      return true
    case .any(let parts):
      for part in parts where try passes(part, input, value) { return true }
      return false
    case .not(let part): return try !passes(part, input, value)
    case .exists(let path): return !all(.path(path), input, value, missing: nil).isEmpty
    case .holds(let operand):
      return all(operand, input, value).contains { $0 != .null && $0 != .bool(false) }
    case .compare(.name(let name), let comparison, .constant(let constant)):
      // Most filters compare a fact with a constant. For such a filter, this fast path makes no list of values.
      return Self.compares(input.fact(name, of: value, at: now), comparison, constant)
    case .compare(let left, let comparison, let right):
      let (lefts, rights) = (all(left, input, value), all(right, input, value))
      return try hasPair(lefts, rights) { Self.compares($0, comparison, $1) }
    case .matches(let operand, let expression):
      let texts = all(operand, input, value)
      let matcher = matcher(expression)
      return try texts.contains {
        if case .string(let text) = $0 { try matcher.matches(text) } else { false }
      }
    case .isOneOf(let operand, let list):
      let (lefts, wanted) = (all(operand, input, value), list.flatMap { all($0, input, value) })
      return try hasPair(lefts, wanted) { $0.isEqual(to: $1) }
    case .isElement(let operand, let array):
      let (lefts, arrays) = (all(operand, input, value), all(array, input, value))
      return try hasPair(lefts, arrays.flatMap(Self.elements)) { $0.isEqual(to: $1) }
    case .keyMatches(let glob): return glob.matches(input.key)
    case .keyFinds(let expression): return try matcher(expression).matches(input.key)
    case .valueContains(let text, let ignoresCase):
      guard ignoresCase else { return try value.firstRange(of: text, pause: pause) != nil }
      return try finder(text).matches(value.copied)
    }
  }

  /// Two long lists of one value have very many pairs, so this function calls `pause` for each of several left values.
  private func hasPair(
    _ lefts: [QueryValue], _ rights: [QueryValue], _ isWanted: (QueryValue, QueryValue) -> Bool
  ) throws -> Bool {
    try lefts.contains { left in
      if lefts.count > 1 { try pause() }
      return rights.contains { isWanted(left, $0) }
    }
  }

  private static func compares(
    _ a: QueryValue, _ comparison: Expression.Comparison, _ b: QueryValue
  ) -> Bool {
    switch comparison {
    case .equal: a.isEqual(to: b)
    case .less: a.compare(to: b).map { $0 < 0 } ?? false
    case .lessOrEqual: a.compare(to: b).map { $0 <= 0 } ?? false
    case .greater: a.compare(to: b).map { $0 > 0 } ?? false
    case .greaterOrEqual: a.compare(to: b).map { $0 >= 0 } ?? false
    }
  }

  private static func elements(_ value: QueryValue) -> [QueryValue] {
    switch value {
    case .list(let values): return values
    case .array(let bytes): return JSONLookup.values(of: [.each], in: bytes)
    default: return []
    }
  }

  /// All values of an operand. A missing field gives the value `missing`. If `missing` is nil, a missing field gives no value.
  package mutating func all(
    _ operand: QueryOperand, _ input: any QueryFacts, _ value: Span<UInt8>,
    missing: QueryValue? = .null
  ) -> [QueryValue] {
    switch operand {
    case .constant(let constant): return [constant]
    case .name(let name): return [input.fact(name, of: value, at: now)]
    case .call(let function, let argument):
      return all(argument, input, value, missing: missing).map { Self.call(function, $0) }
    case .path(let path):
      let found = self.found(path, input, value)
      return found.isEmpty ? missing.map { [$0] } ?? [] : found
    }
  }

  private mutating func found(
    _ path: QueryPath, _ input: any QueryFacts, _ value: Span<UInt8>
  ) -> [QueryValue] {
    switch path.root {
    case .header(let name): return input.header(name).map { [.string($0)] } ?? []
    case .metadata: return input.metadata.map { JSONLookup.values(of: path.parts, in: $0) } ?? []
    case .value:
      let (ranges, error) = JSONLookup.find(path.parts, in: value)
      if !isCounted {
        isCounted = true
        values += 1
        if error == .depth { valuesTooDeep += 1 } else if error != nil { valuesNotJSON += 1 }
      }
      if paths[path] != true { paths[path] = !ranges.isEmpty }
      if ranges.isEmpty, error == nil, samples < Self.mostSamples {
        samples += 1
        sampledFields.formUnion(JSONText.names(of: value.copied))
      }
      return ranges.map { JSONLookup.value(value, $0) }
    }
  }

  /// The first path that no JSON value has, with a similar field that exists. Nil if each path was found.
  package var missedField: (path: QueryPath, suggestion: String?)? {
    guard values > valuesNotJSON + valuesTooDeep else { return nil }
    for (path, isFound) in paths.sorted(by: { $0.key.text < $1.key.text }) where !isFound {
      guard case .field(let name)? = path.parts.first else { continue }
      let near = Suggestions.all(
        String(decoding: name, as: UTF8.self), among: sampledFields.sorted())
      return (path, near.first.map { ".\($0)" })
    }
    return nil
  }

  private static func call(_ function: QueryFunction, _ value: QueryValue) -> QueryValue {
    switch function {
    case .length:
      switch value {
      case .string(let bytes): return .integer(Int128(String(decoding: bytes, as: UTF8.self).count))
      case .list, .array: return .integer(Int128(elements(value).count))
      case .object(let bytes): return .integer(Int128(JSONText.names(of: bytes).count))
      default: return .null
      }
    case .lower:
      guard case .string(let bytes) = value else { return .null }
      return .string(Array(String(decoding: bytes, as: UTF8.self).lowercased().utf8))
    case .number:
      switch value {
      case .integer, .number, .outsized: return value
      case .duration: return value.double.map { .number($0) } ?? .null
      case .string(let bytes):
        guard JSONText.error(in: bytes) == nil,
          case let number = JSONLookup.value(bytes.span, 0..<bytes.count), number.type == .number
        else { return .null }
        return number
      default: return .null
      }
    case .string: return .string(value.text)
    case .type: return .string(Array(value.type.rawValue.utf8))
    }
  }

  private mutating func matcher(_ expression: RegularExpression) -> PatternMatcher {
    if let known = matchers[expression] { return known }
    let matcher = expression.matcher(pause)
    matchers[expression] = matcher
    return matcher
  }

  private mutating func finder(_ text: [UInt8]) throws(ShellError) -> TextFinder {
    if let known = finders[text] { return known }
    let finder = try TextFinder(text, isExact: false, pause: pause)
    finders[text] = finder
    return finder
  }
}
