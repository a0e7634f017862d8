import HTTPTypes

/// The weighted preferences of `Accept` and similar fields (RFC 9110, 12.5).
struct Preferences {
  /// Sorted by weight, then by name: the order of equal weights has no meaning.
  let ranked: [(range: String, weight: Int)]

  static let names: Set<HTTPField.Name> = [
    .accept, .acceptEncoding, .acceptLanguage, HTTPField.Name("Accept-Charset")!,
  ]

  init(_ lines: [String]) {
    ranked = fieldMembers(lines).map(Self.weighted).sorted {
      $0.weight != $1.weight ? $0.weight > $1.weight : $0.range < $1.range
    }
  }

  /// A normal form: equal preferences give equal texts.
  var text: String {
    ranked.map { $0.weight == 1000 ? $0.range : "\($0.range);q=\($0.weight)" }
      .joined(separator: ",")
  }

  /// Weights in thousandths. An invalid weight stays part of the range.
  private static func weighted(_ member: Substring) -> (range: String, weight: Int) {
    var range: [String] = []
    var weight = 1000
    for part in member.split(separator: ";", omittingEmptySubsequences: false) {
      let part = part.trimmed.lowercased()
      if !range.isEmpty, part.hasPrefix("q="), let parsed = thousandths(part.dropFirst(2)) {
        weight = parsed
      } else {
        range.append(part)
      }
    }
    return (range.joined(separator: ";"), weight)
  }

  private static func thousandths(_ text: Substring) -> Int? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = DeltaSeconds.parse(parts[0]), whole <= 1 else {
      return nil
    }
    let digits = parts.count == 2 ? parts[1] : ""
    guard digits.utf8.count <= 3, digits.isEmpty || DeltaSeconds.parse(digits) != nil else {
      return nil
    }
    let fraction = Int(String(digits) + String(repeating: "0", count: 3 - digits.utf8.count)) ?? 0
    return min(1000, whole * 1000 + fraction)
  }
}
