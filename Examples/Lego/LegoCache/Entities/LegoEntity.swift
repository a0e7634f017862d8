/// One of the seven things the Rebrickable API describes, in the shape in which its JSON does.
///
/// Decoding takes what the API really sends: list and detail forms, absent fields and nulls. A field that was absent or
/// null is left out when the value is encoded again; nothing else is lost.
public protocol LegoEntity: Codable, Sendable, Equatable {
  /// Which of the seven.
  static var kind: EntityKind { get }

  /// What tells this entity from the others of its kind. Never empty, exactly as the API writes it: leading zeros, dots
  /// and dashes are part of it.
  var key: String { get }

  /// Whether it is what the API answers about this one alone, or as much as that. A list may say less.
  var isDetail: Bool { get }
  /// What a list says of it.
  var listForm: Self { get }
  /// Makes it what the API answers about this one alone, from that answer and what was known before.
  mutating func complete(with known: Self?)
}

/// Most kinds have one form only.
extension LegoEntity {
  public var isDetail: Bool { true }
  public var listForm: Self { self }
  public mutating func complete(with known: Self?) {}
}

/// The seven kinds of entity; the raw value is the name of the namespace that holds them.
public enum EntityKind: String, CaseIterable, Sendable, Codable {
  case colors = "lego.colors"
  case themes = "lego.themes"
  case categories = "lego.categories"
  case parts = "lego.parts"
  case sets = "lego.sets"
  case elements = "lego.elements"
  case partColors = "lego.partcolors"

  /// The name of the namespace, `lego.` and a word.
  public var namespace: String { rawValue }

  /// The word alone, as in `colors`: what people type and what files are called.
  public var word: String { String(rawValue.dropFirst("lego.".count)) }
}
