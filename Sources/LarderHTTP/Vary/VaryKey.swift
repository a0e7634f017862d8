import HTTPTypes

/// The request fields that `Vary` names, with their values (RFC 9111, 4.1).
struct VaryKey: Hashable, Sendable {
  /// Sorted by name, in lower case; a nil value means that the request had no such field.
  let fields: [(name: String, value: String?)]

  static let empty = VaryKey(fields: [])

  init(fields: [(name: String, value: String?)]) { self.fields = fields }

  /// Nil for `*`, which matches no request.
  init?(of response: HTTPFields, request: HTTPFields, policy: HTTPCachePolicy) {
    guard let names = Self.names(in: response) else { return nil }
    var selecting = SelectingFields(request, policy: policy)
    fields = names.map { name in (name, selecting.value(of: name)) }
  }

  private static let mostNames = 100

  /// The names that `Vary` lists, sorted. Nil if one is `*`, or is no name: what such a response depends on is unknown. Nil
  /// also for more than 100 names.
  static func names(in response: HTTPFields) -> [String]? {
    let names = Set(response.members(of: .vary).map { $0.lowercased() })
    guard !names.contains("*"), names.count <= mostNames,
      names.allSatisfy({ HTTPField.Name($0) != nil })
    else { return nil }
    return names.sorted()
  }

  /// Whether `request` selects the response: equal fields, or the language that the request prefers.
  func matches(_ request: inout SelectingFields, response: HTTPFields) -> Bool {
    fields.allSatisfy { name, value in
      request.value(of: name) == value
        || name == "accept-language" && request.preferLanguage(of: response)
    }
  }

  static func == (left: Self, right: Self) -> Bool {
    left.fields.elementsEqual(right.fields) { $0.name == $1.name && $0.value == $1.value }
  }

  func hash(into hasher: inout Hasher) {
    for (name, value) in fields {
      hasher.combine(name)
      hasher.combine(value)
    }
  }
}
