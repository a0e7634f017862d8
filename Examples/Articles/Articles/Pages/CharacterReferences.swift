/// HTML character references: `&amp;`, `&#38;`, `&#x26;`.
enum CharacterReferences {
  private static let named: [Substring: Character] = [
    "amp": "&", "quot": "\"", "apos": "'", "lt": "<", "gt": ">",
  ]

  /// Unknown references, as in `?a=1&b=2`, stay unchanged.
  static func resolved(_ text: String) -> String {
    guard text.contains("&") else { return text }
    var result = ""
    var rest = Substring(text)
    while let start = rest.firstIndex(of: "&") {
      result += rest[..<start]
      rest = rest[start...]
      // The longest is a number of six digits.
      let name = rest.dropFirst().prefix(9).prefix { $0 != ";" }
      if name.endIndex < rest.endIndex, rest[name.endIndex] == ";", let character = character(name)
      {
        result.append(character)
        rest = rest[rest.index(after: name.endIndex)...]
      } else {
        result.append("&")
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }

  /// That of a reference without its `&` and `;`; nil if it is not known.
  private static func character(_ name: Substring) -> Character? {
    guard name.hasPrefix("#") else { return named[name] }
    let digits = name.dropFirst()
    let isHexadecimal = digits.hasPrefix("x") || digits.hasPrefix("X")
    let code = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return code.flatMap { Unicode.Scalar($0) }.map { Character($0) }
  }
}
