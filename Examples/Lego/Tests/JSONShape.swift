import Foundation

/// JSON to compare: members that are null count as absent, the order of members does not matter.
enum JSONShape: Equatable {
  case null
  case truth(Bool)
  case number(Double)
  case text(String)
  case list([JSONShape])
  case object([String: JSONShape])

  init(_ data: Data) throws {
    self = try JSONDecoder().decode(JSONShape.self, from: data)
  }

  init(encoding value: some Encodable) throws {
    try self.init(JSONEncoder().encode(value))
  }

  subscript(member: String) -> JSONShape? {
    if case .object(let members) = self { members[member] } else { nil }
  }

  func without(_ names: String...) -> JSONShape {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !names.contains($0.key) })
  }
}

extension JSONShape: Decodable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let truth = try? container.decode(Bool.self) {
      self = .truth(truth)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([JSONShape].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: JSONShape].self).filter { $0.value != .null })
    }
  }
}
