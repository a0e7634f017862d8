package indirect enum Expression: Sendable, Equatable {
  case all([Expression])
  case any([Expression])
  case not(Expression)
  case exists(QueryPath)
  /// The value of the operand is neither `false` nor `null`.
  case holds(QueryOperand)
  case compare(QueryOperand, Comparison, QueryOperand)
  /// `~`: a string contains a match of the regular expression.
  case matches(QueryOperand, RegularExpression)
  case isOneOf(QueryOperand, [QueryOperand])
  /// `in` before an operand: the first operand is an element of the list or array that the second operand gives.
  case isElement(QueryOperand, QueryOperand)
  case keyMatches(Glob)
  case keyFinds(RegularExpression)
  case valueContains([UInt8], ignoringCase: Bool)

  /// The comparisons. A negated form, such as `!=`, is a `not` around a comparison.
  package enum Comparison: Sendable, Hashable {
    case equal, less, lessOrEqual, greater, greaterOrEqual
  }

  package var operands: [QueryOperand] {
    switch self {
    case .all(let parts), .any(let parts): parts.flatMap(\.operands)
    case .not(let part): part.operands
    case .exists(let path): [.path(path)]
    case .holds(let operand), .matches(let operand, _): [operand]
    case .compare(let a, _, let b), .isElement(let a, let b): [a, b]
    case .isOneOf(let operand, let list): [operand] + list
    case .keyMatches, .keyFinds: [.name(.key)]
    case .valueContains: [.name(.value)]
    }
  }

  /// The conditions that `and` joins. For an expression of another kind, the list has only this expression.
  package var conjuncts: [Expression] {
    if case .all(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
  }

  package var readsValue: Bool { operands.contains(where: \.readsValue) }
}

package indirect enum QueryOperand: Sendable, Hashable {
  case path(QueryPath)
  case name(QueryName)
  case constant(QueryValue)
  case call(QueryFunction, QueryOperand)

  /// The path, name or constant inside all calls of functions.
  package var source: QueryOperand {
    if case .call(_, let operand) = self { operand.source } else { self }
  }

  /// The path that the operand reads; nil for a name or a constant.
  package var path: QueryPath? { if case .path(let path) = source { path } else { nil } }

  package var readsValue: Bool { path?.root == .value || source == .name(.value) }

  /// Whether the operand reads a part of the entry that can be as large as a value, such as the tags or the metadata.
  package var readsExtras: Bool {
    path != nil || [QueryName.tags, .etag, .status, .lastModified].contains { source == .name($0) }
  }

  package var takesEach: Bool { path?.parts.contains(.each) ?? false }
}

package enum QueryFunction: String, Sendable, Hashable, CaseIterable {
  case length, lower, number, string, type
}

package enum QueryName: String, Sendable, Hashable, CaseIterable {
  case key, namespace, codec, etag, state
  case size, stored, version, status
  case written, used, expires
  case lastModified = "last_modified"
  case now
  case ttl, age, idle
  case tags, pinned, negative, value

  /// Whether a time in quotes that is compared with the fact is a future time; nil for a fact that is not a time.
  var isFuture: Bool? {
    switch self {
    case .written, .used, .lastModified: false
    case .expires, .now: true
    default: nil
    }
  }
}

/// A path, such as `.a.b[0]`, `.items[].price`, `header.etag` or `metadata.a`.
package struct QueryPath: Sendable, Hashable {
  package enum Root: Sendable, Hashable {
    case value
    /// A field of an HTTP response, in lower case.
    case header([UInt8])
    case metadata
  }

  package enum Part: Sendable, Hashable {
    case field([UInt8])
    /// A negative index counts from the end.
    case index(Int)
    case each
  }

  package var root: Root
  package var parts: [Part] = []

  package init(root: Root, parts: [Part] = []) {
    self.root = root
    self.parts = parts
  }

  /// The last field of the path, which is the title of the column; nil for a path without fields.
  package var label: String? {
    for part in parts.reversed() {
      if case .field(let name) = part { return String(decoding: name, as: UTF8.self) }
    }
    if case .header(let name) = root { return String(decoding: name, as: UTF8.self) }
    return nil
  }

  package var text: String {
    var text =
      switch root {
      case .value: parts.isEmpty ? "." : ""
      case .header(let name): "header.\(String(decoding: name, as: UTF8.self))"
      case .metadata: "metadata"
      }
    for part in parts {
      switch part {
      case .field(let name):
        let field = String(decoding: name, as: UTF8.self)
        text += "." + (QueryToken.isIdentifier(name) ? field : JSON.string(field).text)
      case .index(let index): text += "[\(index)]"
      case .each: text += "[]"
      }
    }
    return text
  }
}

/// An operand of `--show`, with the title of its column.
package struct QueryColumn: Sendable, Hashable {
  package var operand: QueryOperand
  package var label: String
}

/// An entry as queries see the entry, except for its value.
package protocol QueryFacts {
  var key: [UInt8] { get }
  var metadata: [UInt8]? { get }

  /// The content of all fields of an HTTP response with this name, which is in lower case. Nil without such a field.
  func header(_ name: [UInt8]) -> [UInt8]?

  func fact(_ name: QueryName, of value: Span<UInt8>, at now: UnixTime) -> QueryValue
}
