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
  /// Whether it has every field of the API's detail form. The list form may have fewer.
  var isDetail: Bool { get }
  /// Completes an answer in detail form with fields that only a list has.
  mutating func complete(with known: Self?)
}

/// Most kinds have one form only.
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

extension JSON {
  /// With the members of `known` that it lacks, also those of its objects that have the same number.
  func filled(from known: JSON) -> JSON {
    guard case .object(let new) = self, case .object(let old) = known,
      ["part_num", "id"].allSatisfy({ new[$0] == old[$0] })
    else { return self }
    return .object(new.merging(old) { $0.filled(from: $1) })
  }

  func without(_ names: Set<String>) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !names.contains($0.key) })
  }
}
