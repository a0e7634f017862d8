import Service

/// One of the seven entity types of the Rebrickable API, in the shape of its JSON.
///
/// Decoding accepts what the API really sends: list and detail forms, absent fields and nulls. Encoding omits a field that
/// was absent or null; nothing else is lost.
public protocol LegoEntity: Codable, Sendable, Equatable {
  /// Which of the seven types.
  static var kind: EntityKind { get }

  /// Identifies the entity among those of its kind. Never empty, exactly as the API writes it: leading zeros, dots and
  /// dashes are part of it.
  var key: String { get }
  /// Whether it has every field of the API's detail form; the list form may have fewer.
  var isDetail: Bool { get }
  /// Takes over the fields that only the detail form has.
  mutating func keepDetails(of known: Self)
  /// Completes an answer in detail form with fields that only a list has.
  mutating func complete(with known: Self?)
}

/// A kind that has one form only, as themes have.
extension LegoEntity {
  public var isDetail: Bool { true }
  public mutating func keepDetails(of known: Self) {}
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
