import HTTPTypes

/// The fields of a request as `Vary` compares them (RFC 9111, 4.1): each is brought into its normal form once, however many
/// stored responses the request is compared with.
struct SelectingFields {
  /// A longer value, in bytes, is compared by a digest of its lines. Its normal form could take as long as hundreds of requests,
  /// and a hit reads the values of all variants.
  private static let longest = 1024

  private let request: HTTPFields
  private let secret: [UInt8]
  private var values: [String: String?] = [:]
  private var preferredLanguage: String??

  init(_ request: HTTPFields, policy: HTTPCachePolicy) {
    self.request = request
    secret = policy.secret
  }

  /// The normal form of a field; a digest for secrets and long values; nil without the field.
  mutating func value(of name: String) -> String? {
    if let known = values[name] { return known }
    let value = normalForm(of: name)
    values.updateValue(value, forKey: name)
    return value
  }

  private func normalForm(of name: String) -> String? {
    guard let fieldName = HTTPField.Name(name), request.contains(fieldName) else { return nil }
    let lines = request.lines(of: fieldName)
    if Self.isLong(lines) { return digest(lines.joined(separator: "\n")) }
    let value: String
    if fieldName == .cookie {
      value = lines.joined(separator: "; ")
    } else if Preferences.names.contains(fieldName) {
      value = Preferences(lines).text
    } else {
      value = fieldMembers(lines).joined(separator: ",")
    }
    return Secrets.fields.contains(fieldName) || value.hasPrefix("~") ? digest(value) : value
  }

  /// No value that is no digest begins with `~`.
  private func digest(_ text: String) -> String { "~" + Secrets.digest(text, key: secret) }

  private static func isLong(_ lines: [String]) -> Bool {
    lines.reduce(0) { $0 + $1.utf8.count } > longest
  }

  /// Whether the response has one language, which the request prefers to all others.
  mutating func preferLanguage(of response: HTTPFields) -> Bool {
    let preferred = preferredLanguage ?? findPreferredLanguage()
    preferredLanguage = .some(preferred)
    guard let preferred else { return false }
    let languages = response.members(of: .contentLanguage)
    return languages.count == 1 && languages[0].lowercased() == preferred
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
