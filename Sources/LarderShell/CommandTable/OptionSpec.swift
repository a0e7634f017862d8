/// An option of a command.
struct OptionSpec: Sendable, Hashable {
  /// With its dashes.
  let name: String
  /// Nil for a flag.
  let kind: ValueKind?
  let placeholder: String?
  let summary: String
  let isRepeatable: Bool

  static func flag(_ name: String, _ summary: String) -> OptionSpec {
    OptionSpec(name: name, kind: nil, placeholder: nil, summary: summary, isRepeatable: false)
  }

  /// `placeholder` is what usage lines show; without one it is the kind's own.
  static func value(
    _ name: String, _ kind: ValueKind, _ summary: String, placeholder: String? = nil,
    isRepeatable: Bool = false
  ) -> OptionSpec {
    OptionSpec(
      name: name, kind: kind, placeholder: placeholder ?? kind.placeholder, summary: summary,
      isRepeatable: isRepeatable)
  }

  /// `--limit N|all`
  var usage: String { placeholder.map { "\(name) \($0)" } ?? name }
}

/// A word of a command by its position.
struct Parameter: Sendable, Hashable {
  enum Arity: Sendable, Hashable { case one, optional, many, any }

  let name: String
  let kind: ValueKind
  let arity: Arity

  static func one(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, arity: .one)
  }
  static func optional(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, arity: .optional)
  }
  /// One or more.
  static func many(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, arity: .many)
  }
  /// None or more.
  static func any(_ name: String, _ kind: ValueKind) -> Parameter {
    Parameter(name: name, kind: kind, arity: .any)
  }

  var isRequired: Bool { arity == .one || arity == .many }

  var usage: String {
    // What there is to choose from says more than a name.
    let shown = if case .choice = kind { kind.placeholder } else { name }
    return switch arity {
    case .one: shown
    case .optional: "[\(shown)]"
    case .many: "\(shown)..."
    case .any: "[\(shown)...]"
    }
  }
}
