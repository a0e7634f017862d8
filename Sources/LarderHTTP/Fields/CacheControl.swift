import HTTPTypes

/// The directives of `Cache-Control` in their order (RFC 9111, 5.2).
struct CacheControl: Equatable {
  struct Directive: Equatable {
    /// In lower case.
    var name: String
    /// The argument after `=`, without its quotes.
    var argument: String?
    /// Whether the directive follows the grammar.
    var isWellFormed = true
    /// Whether the argument was a quoted string.
    var isQuoted = false

    private static let durations: Set<String> = [
      "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error",
    ]

    /// Whether it is a member of a structured dictionary (RFC 8941, section 3.2): a key, and an integer, a token, a
    /// string or nothing. A number of seconds is no string. RFC 9213 ignores a field with any other member.
    var isStructured: Bool {
      guard isWellFormed, let first = name.utf8.first,
        !isQuoted || !Self.durations.contains(name)
      else { return false }
      let isKey =
        ((0x61...0x7A).contains(first) || first == UInt8(ascii: "*"))
        && name.utf8.allSatisfy { byte in
          (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "_-.*".utf8.contains(byte)
        }
      return isKey && argument != ""
    }
  }

  let directives: [Directive]

  init(_ fields: HTTPFields) { self.init(fields, name: .cacheControl) }

  private init(_ fields: HTTPFields, name: HTTPField.Name) {
    directives = fields.members(of: name).map(Self.directive)
  }

  /// The directives for a shared cache: those of `CDN-Cache-Control` where its value is valid and not empty, else those of
  /// `Cache-Control` (RFC 9213, sections 2.1 and 3).
  static func targeted(_ fields: HTTPFields) -> CacheControl {
    let targeted = CacheControl(fields, name: .cdnCacheControl)
    return targeted.directives.isEmpty || !targeted.directives.allSatisfy(\.isStructured)
      ? CacheControl(fields) : targeted
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
      directive.isQuoted = true
    } else {
      directive.argument = String(argument)
      directive.isWellFormed = !argument.contains("\"")
    }
    if name.trimmed != name || argument.trimmed != argument { directive.isWellFormed = false }
    return directive
  }

  func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

  /// The argument of a directive that takes seconds.
  enum Seconds: Equatable {
    case absent
    case seconds(Int)
    /// The argument is not a number, or repetitions differ.
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

  /// The field names that the directive lists; nil without the directive, and empty if it concerns the whole response.
  func fieldNames(_ name: String) -> Set<String>? {
    var names: Set<String>?
    for directive in directives where directive.name == name {
      let listed = directive.argument.map { fieldMembers([$0]).map { $0.lowercased() } } ?? []
      if !directive.isWellFormed || listed.isEmpty { return [] }
      names = names ?? []
      names?.formUnion(listed)
    }
    return names
  }
}

/// A number of seconds as fields say it (RFC 9111, 1.2.2).
enum DeltaSeconds {
  /// The value of a number that is too large: 68 years, longer than any response is kept.
  static let most = 1 << 31

  /// The number that `text` is; nil unless it is digits and nothing else. Cut to ``most``.
  static func parse(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty else { return nil }
    var value = 0
    for byte in text.utf8 {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      value = min(most, value * 10 + Int(byte - UInt8(ascii: "0")))
    }
    return value
  }
}

extension Duration {
  /// Whole seconds, at most those of some 30,000 years: `components` traps beyond 64 bits.
  var wholeSeconds: Int64 {
    let longest = Duration.seconds(1 << 40)
    return min(max(self, .zero - longest), longest).components.seconds
  }
}
