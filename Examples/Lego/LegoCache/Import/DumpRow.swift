import Foundation
import Service

/// An entity of a dump, and what else its row says.
struct DumpRow<Entity: Sendable>: Sendable {
  var entity: Entity
  /// The names of the fields that the source has, but leaves empty: `design_id`, or `color.is_trans` for one of the color in it.
  var cleared: Set<String> = []
  /// Why fields were left out: `year is not a number`.
  var faults: [String] = []
  var file = ""
  /// Nil in JSON, and for what several rows have together.
  var line: Int?

  /// `parts.csv:12`
  var place: String { file + (line.map { ":\($0)" } ?? "") }
}

/// In JSON a member that is null is an empty field, and one that is not there is none.
extension DumpRow: Decodable where Entity: Decodable {
  init(from decoder: any Decoder) throws {
    do {
      self.init(entity: try Entity(from: decoder))
    } catch let error as DecodingError {
      let (entity, faults) = try Self.rest(of: try? JSON(from: decoder), after: error)
      self.init(entity: entity, faults: faults)
    }
    let fields = try decoder.container(keyedBy: FieldName.self)
    cleared = try Self.nulls(in: fields)
    for name in JSON.inner.map(FieldName.init) where fields.contains(name) {
      guard try !fields.decodeNil(forKey: name) else { continue }
      let inner = try Self.nulls(in: fields.nestedContainer(keyedBy: FieldName.self, forKey: name))
      cleared.formUnion(inner.map { name.stringValue + "." + $0 })
    }
  }

  /// The entity without the fields of a wrong form, if it can do without them.
  private static func rest(
    of row: JSON?, after first: DecodingError
  ) throws -> (Entity, faults: [String]) {
    guard var row else { throw first }
    var faults: [String] = []
    while true {
      do {
        return (try JSONDecoder().decode(Entity.self, from: JSONEncoder().encode(row)), faults)
      } catch let error as DecodingError {
        guard row.remove(error.field[...]) else { throw first }
        faults.append(error.words)
      }
    }
  }

  private static func nulls(
    in fields: KeyedDecodingContainer<FieldName>
  ) throws -> Set<String> {
    Set(try fields.allKeys.filter { try fields.decodeNil(forKey: $0) }.map(\.stringValue))
  }
}

/// Any member of an object.
private struct FieldName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension JSON {
  /// The members of an entity that are entities themselves.
  static let inner = ["part", "color"]

  /// With the members of `known` that it lacks, also in the part and the color in it, but for those that are `cleared`.
  ///
  /// A part or a color with another number gets none of them. Then the entity has moved, and its own fields may be about the
  /// former part: it gets none either.
  func filled(from known: JSON, except cleared: Set<String>, in place: String = "") -> JSON {
    guard case .object(var members) = self, case .object(let old) = known,
      numbers == known.numbers
    else { return self }
    let hasMoved = Self.inner.contains { members[$0]?.numbers != old[$0]?.numbers }
    for (name, value) in old where !cleared.contains(place + name) {
      if let own = members[name] {
        guard Self.inner.contains(name) else { continue }
        members[name] = own.filled(from: value, except: cleared, in: place + name + ".")
      } else if !hasMoved {
        members[name] = value
      }
    }
    return .object(members)
  }

  /// Removes the member of the member ...; false if there is none.
  mutating func remove(_ path: ArraySlice<String>) -> Bool {
    guard let name = path.first, var inner = self[name] else { return false }
    let isRemoved = path.count == 1 || inner.remove(path.dropFirst())
    self[name] = path.count == 1 ? nil : inner
    return isRemoved
  }

  /// With those of `names` that `known` has and it lacks.
  func filled(from known: JSON, only names: Set<String>) -> JSON {
    guard case .object(let members) = self, case .object(let old) = known else { return self }
    return .object(members.merging(old.filter { names.contains($0.key) }) { own, _ in own })
  }

  /// By which a part and a color are known.
  private var numbers: [JSON?] { ["part_num", "id"].map { self[$0] } }
}

extension DecodingError {
  /// The names down to the field that is wrong, or to the list that it is in; empty for a field that is missing.
  var field: [String] {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      context.codingPath.prefix { $0.intValue == nil }.map(\.stringValue)
    default: []
    }
  }
}
