import HTTPTypes

/// The directives of `Cache-Control`, as they came (RFC 9111, 5.2).
struct CacheControl: Equatable {
  struct Directive: Equatable {
    /// In lower case.
    var name: String
    /// What stands behind `=`, without its quotes.
    var argument: String?
    /// Whether it is spelt as directives are; else it says nothing but that its sender meant something by it.
    var isWellFormed = true
  }

  let directives: [Directive]

  init(_ fields: HTTPFields) {
    directives = fields.members(of: .cacheControl).map(Self.directive)
  }

  private static func directive(_ member: Substring) -> Directive {
    guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      return Directive(name: member.lowercased())
    }
    let name = member[..<equals]
    let argument = member[member.utf8.index(after: equals)...]
    var directive = Directive(name: name.trimmed.lowercased())
    if let unquoted = argument.unquoted {
      directive.argument = unquoted
    } else {
      directive.argument = String(argument)
      directive.isWellFormed = !argument.contains("\"")
    }
    if name.trimmed != name || argument.trimmed != argument { directive.isWellFormed = false }
    return directive
  }

  func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

  /// What a directive says that takes a number of seconds.
  enum Seconds: Equatable {
    case absent
    case seconds(Int)
    /// It is there and says nothing that can be relied on: it is no number, or its repetitions differ.
    case invalid
  }

  func seconds(_ name: String) -> Seconds {
    var found = Seconds.absent
    for directive in directives where directive.name == name {
      guard directive.isWellFormed, let argument = directive.argument,
        let value = DeltaSeconds.parse(argument)
      else { return .invalid }
      if case .seconds(let earlier) = found, earlier != value { return .invalid }
      found = .seconds(value)
    }
    return found
  }

  /// The field names that are the arguments of `name`; nil if it is not there, and empty if it speaks of the whole
  /// response.
  func fieldNames(_ name: String) -> Set<String>? {
    var names: Set<String>?
    for directive in directives where directive.name == name {
      let listed = directive.argument.map { fieldMembers([$0]).map { $0.lowercased() } } ?? []
      if !directive.isWellFormed || listed.isEmpty { return [] }
      names = (names ?? []).union(listed)
    }
    return names
  }
}
