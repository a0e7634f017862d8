#if HTTP
  import HTTPTypes

  /// The request fields that `Vary` names, and `Accept-Encoding` of a coded response, with digests of their values (RFC 9111, 4.1).
  struct VaryKey: Hashable, Sendable {
    /// The fields, sorted by name, in lower case; a nil value means that the request had no such field.
    let fields: [(name: String, value: String?)]

    static let empty = VaryKey(fields: [])

    init(fields: [(name: String, value: String?)]) { self.fields = fields }

    /// Makes the key; nil if ``names(in:)`` is nil, because the response then matches no request.
    init?(of response: HTTPFields, request: HTTPFields, policy: HTTPCachePolicy) {
      guard var names = Self.names(in: response) else { return nil }
      // Some servers, such as Hummingbird, choose a coding by `Accept-Encoding`, but send no `Vary`.
      if request.contains(.acceptEncoding), response.contains(.contentEncoding) {
        names = Set(names + ["accept-encoding"]).sorted()
      }
      var selecting = SelectingFields(request, policy: policy)
      fields = names.map { name in (name, selecting.value(of: name)) }
    }

    private static let mostNames = 100

    /// The names that `Vary` lists, sorted. Nil if a member is `*` or not a name, because the response then depends on
    /// something unknown. Also nil for more than 100 names.
    static func names(in response: HTTPFields) -> [String]? {
      let names = Set(response.members(of: .vary).map { $0.lowercased() })
      guard !names.contains("*"), names.count <= mostNames,
        names.allSatisfy({ HTTPField.Name($0) != nil })
      else { return nil }
      return names.sorted()
    }

    /// Whether `request` selects the response: the fields are equal, or the response has the language that the request prefers,
    /// or a coding that the client decodes, if `Vary` does not name `Accept-Encoding`.
    func matches(_ request: inout SelectingFields, response: HTTPFields) -> Bool {
      fields.allSatisfy { name, value in
        Self.areSame(request.value(of: name), value)
          || name == "accept-language" && request.preferLanguage(of: response)
          || name == "accept-encoding" && request.canDecode(response)
            && Self.names(in: response)?.contains(name) == false
      }
    }

    /// Whether the fields that identify a user are equal. Against RFC 9110, section 8.8.3, some origins give the responses of all
    /// users one strong tag, so an equal tag does not prove that the response is for the user of the request.
    func hasUser(of request: inout SelectingFields, policy: HTTPCachePolicy) -> Bool {
      let names = Secrets.fields.union(policy.partitionFields).map(\.canonicalName)
      return fields.allSatisfy { name, value in
        !names.contains(name) || Self.areSame(request.value(of: name), value)
      }
    }

    /// RFC 9111, 4.1: the fields of two requests match if their bytes are equal.
    private static func areSame(_ left: String?, _ right: String?) -> Bool {
      guard let left, let right else { return left == nil && right == nil }
      return left.hasBytes(of: right)
    }

    static func == (left: Self, right: Self) -> Bool {
      left.fields.elementsEqual(right.fields) { $0.name == $1.name && areSame($0.value, $1.value) }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(fields.map(\.name)) }
  }

  /// The fields of a request in the form that `Vary` compares (RFC 9111, 4.1), normalized once for all stored responses.
  struct SelectingFields {
    /// The largest value, in bytes, that is normalized; a longer value is compared by its lines. A hit reads the values of all
    /// variants, and to normalize long values could take as long as hundreds of requests.
    private static let longest = 1024

    private let request: HTTPFields
    private let secret: [UInt8]
    private var values: [String: String?] = [:]
    private lazy var preferredLanguage: String? = findPreferredLanguage()
    private lazy var codings: Set<String> = findCodings()

    init(_ request: HTTPFields, policy: HTTPCachePolicy) {
      self.request = request
      secret = policy.secret
    }

    /// The digest of the normal form of a field; nil if the request does not have the field.
    mutating func value(of name: String) -> String? {
      if let known = values[name] { return known }
      let value = digest(of: name)
      values.updateValue(value, forKey: name)
      return value
    }

    /// The digest of a value. Any field may be a credential, so only digests of values are stored.
    private func digest(of name: String) -> String? {
      guard let fieldName = HTTPField.Name(name), request.contains(fieldName) else { return nil }
      let lines = request.lines(of: fieldName)
      return "~" + Secrets.digest(Self.normalForm(of: fieldName, lines), key: secret)
    }

    private static func normalForm(of name: HTTPField.Name, _ lines: [String]) -> String {
      if isLong(lines) { return lines.joined(separator: "\n") }
      if name == .cookie { return lines.joined(separator: "; ") }
      if Preferences.names.contains(name) { return Preferences(lines).text }
      // A field of unknown syntax may be a list, whose members may have spaces around them (RFC 9110, section 5.6.1).
      return fieldMembers(lines).joined(separator: ",")
    }

    private static func isLong(_ lines: [String]) -> Bool {
      lines.reduce(0) { $0 + $1.utf8.count } > longest
    }

    /// Whether the response has one language, and the request prefers this language to all others.
    mutating func preferLanguage(of response: HTTPFields) -> Bool {
      guard let preferred = preferredLanguage else { return false }
      let languages = response.members(of: .contentLanguage)
      return languages.count == 1 && languages[0].lowercased() == preferred
    }

    /// Whether the client decodes a body with these fields. Against RFC 9110, section 8.8.3.3, some origins give all codings of a
    /// body one strong tag, so an equal tag does not prove this.
    mutating func canDecode(_ response: HTTPFields) -> Bool {
      let codings = codings
      return response.members(of: .contentEncoding).allSatisfy { codings.contains($0.lowercased()) }
    }

    private func findCodings() -> Set<String> {
      let lines = request.lines(of: .acceptEncoding)
      guard !Self.isLong(lines) else { return [] }
      return Set(Preferences(lines).ranked.filter { $0.weight > 0 }.map(\.range))
    }

    private func findPreferredLanguage() -> String? {
      let lines = request.lines(of: .acceptLanguage)
      guard !Self.isLong(lines) else { return nil }
      let ranked = Preferences(lines).ranked
      guard let best = ranked.first, best.weight > 0,
        ranked.count == 1 || ranked[1].weight < best.weight
      else { return nil }
      return best.range
    }
  }

  /// The weighted preferences of `Accept` and similar fields (RFC 9110, 12.5).
  struct Preferences {
    /// The preferences sorted by weight, then by name, because the order of equal weights has no meaning.
    let ranked: [(range: String, weight: Int)]

    static let names: Set<HTTPField.Name> = [
      .accept, .acceptEncoding, .acceptLanguage, HTTPField.Name("Accept-Charset")!,
    ]

    init(_ lines: [String]) {
      ranked = fieldMembers(lines).map(Self.weighted).sorted {
        $0.weight != $1.weight ? $0.weight > $1.weight : $0.range < $1.range
      }
    }

    /// Equal preferences give equal texts. No range has two NULs, so an invalid weight, which stays there, never looks valid.
    var text: String {
      ranked.map { $0.weight == 1000 ? $0.range : "\($0.range)\0\0\($0.weight)" }
        .joined(separator: ",")
    }

    /// Reads a member; weights are in thousandths. An invalid weight stays part of the range. The case of parameters is kept.
    private static func weighted(_ member: Substring) -> (range: String, weight: Int) {
      var range: [String] = []
      var weight = 1000
      member.forEachPart(endedBy: ";") { part in
        if range.isEmpty {
          range.append(part.lowercased())
        } else if part.utf8.count > 2, part.prefix(2).lowercased() == "q=",
          let parsed = thousandths(part.dropFirst(2))
        {
          weight = parsed
        } else {
          range.append(String(part))
        }
      }
      return (range.joined(separator: ";"), weight)
    }

    private static func thousandths(_ text: Substring) -> Int? {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      guard (1...2).contains(parts.count), let whole = DeltaSeconds.parse(parts[0]), whole <= 1
      else { return nil }
      let digits = parts.count == 2 ? parts[1] : ""
      guard digits.utf8.count <= 3, let fraction = DeltaSeconds.parse((digits + "000").prefix(3))
      else { return nil }
      return min(1000, whole * 1000 + fraction)
    }
  }
#endif
