import Service

/// One of the seven entity types of the Rebrickable API, in the shape of its JSON.
///
/// Decoding accepts what the API really sends: list and detail forms, absent fields and nulls. Encoding omits a field that
/// was absent or null; nothing else is lost.
public protocol LegoEntity: Codable, Sendable, Equatable {
  /// Which of the seven types.
  static var kind: EntityKind { get }
  /// The names of the fields that only the API's detail form has.
  static var detailFields: Set<String> { get }

  /// Identifies the entity among those of its kind. Never empty, exactly as the API writes it: leading zeros, dots and
  /// dashes are part of it.
  var key: String { get }
  /// Whether it has every field of the API's detail form. The list form may have fewer, and a dump has fewer: a field that
  /// only the API has tells the two apart.
  var isDetail: Bool { get }
  /// Completes an answer in detail form with fields that only a list has.
  mutating func complete(with known: Self?)
}

/// A kind that has one form only, as themes have.
extension LegoEntity {
  public static var detailFields: Set<String> { [] }
  public var isDetail: Bool { true }
  public mutating func complete(with known: Self?) {}
}

/// The seven kinds of entity; the raw value is the name of their namespace.
public enum EntityKind: String, CaseIterable, Sendable, Codable, CodingKeyRepresentable {
  case colors = "lego.colors"
  case themes = "lego.themes"
  case categories = "lego.categories"
  case parts = "lego.parts"
  case sets = "lego.sets"
  case elements = "lego.elements"
  case partColors = "lego.partcolors"

  /// The name of the namespace, `lego.` and a word.
  public var namespace: String { rawValue }

  /// The word alone, as in `colors`: the name in commands and of files.
  public var word: String { String(rawValue.dropFirst("lego.".count)) }

  /// The type of its entities.
  public var type: any LegoEntity.Type {
    switch self {
    case .colors: Color.self
    case .themes: Theme.self
    case .categories: PartCategory.self
    case .parts: Part.self
    case .sets: ModelSet.self
    case .elements: Element.self
    case .partColors: PartColor.self
    }
  }
}
