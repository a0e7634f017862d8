#if HTTP
  import HTTPTypes
  import LarderSystem

  /// The directives of `Cache-Control` in their order (RFC 9111, 5.2).
  struct CacheControl: Equatable {
    struct Directive: Equatable {
      /// The name in lower case.
      var name: String
      /// The argument after `=`, without its quotes.
      var argument: String?
      var isWellFormed = true
      var isQuoted = false

      private static let durations: Set<String> = [
        "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error",
      ]

      /// Whether the argument is a number of seconds but was written as a string.
      var isQuotedDuration: Bool { isQuoted && Self.durations.contains(name) }
    }

    let directives: [Directive]

    init(_ fields: HTTPFields) {
      directives = fields.members(of: .cacheControl).map(Self.directive)
    }

    /// The directives of `CDN-Cache-Control`, which for a shared cache replace the directives of `Cache-Control`; nil if the value
    /// is invalid or empty (RFC 9213, sections 2.1 and 3).
    init?(targetedIn fields: HTTPFields) {
      guard fields.contains(.cdnCacheControl),
        let dictionary = StructuredDictionary(fields.lines(of: .cdnCacheControl)),
        !dictionary.members.isEmpty
      else { return nil }
      directives = dictionary.members.compactMap { name, value in
        switch value {
        case .boolean(false): nil
        case .boolean, .bare: Directive(name: name, argument: value.text)
        case .string, .list: Directive(name: name, argument: value.text, isQuoted: true)
        }
      }
      if directives.contains(where: \.isQuotedDuration) { return nil }
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
      /// The argument is not a number, or the directive is repeated with another argument.
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

    /// The field names that the directive lists; empty if it is malformed or for the whole response. Nil without the directive.
    func fieldNames(_ name: String) -> Set<String>? {
      var names: Set<String>?
      for directive in directives where directive.name == name {
        let listed = directive.argument.map { fieldMembers([$0]).map { $0.lowercased() } } ?? []
        if !directive.isWellFormed || listed.isEmpty { return [] }
        // The set grows in place, because a copy of the set for each directive would take quadratic time.
        names = names ?? []
        names?.formUnion(listed)
      }
      return names
    }
  }

  /// A number of seconds in a field (RFC 9111, 1.2.2).
  enum DeltaSeconds {
    /// The value for a number that is too large: 68 years, longer than any response is kept.
    static let most = 1 << 31

    /// Parses a number, and replaces a number above `limit` by `limit`; nil if the text is empty or has a byte that is no digit.
    static func parse(_ text: some StringProtocol, limit: Int = most) -> Int? {
      guard !text.isEmpty else { return nil }
      var value = 0
      for byte in text.utf8 {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        value = min(limit, value * 10 + Int(byte - UInt8(ascii: "0")))
      }
      return value
    }
  }

  extension Duration {
    /// The duration in whole seconds, with a limit, because `components` traps for the longest durations.
    var wholeSeconds: Int64 { bounded.components.seconds }
  }
#endif
