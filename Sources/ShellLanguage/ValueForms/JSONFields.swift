/// The names of the fields that a path of an expression can reach without an index.
package enum JSONFields {
  private static let deepest = 2

  /// `name`, and `a.b` for the fields of objects in objects; none for a value that is no JSON object.
  package static func names(of value: [UInt8]) -> [String] {
    let text: JSONText
    do throws(JSONText.Flaw) { text = try JSONText(value) } catch { return [] }
    var names: [String] = []
    var path: [String] = []
    var containers: [Bool] = []
    var last: String?
    for token in text.tokens {
      switch token.kind {
      case .open:
        // The elements of arrays need an index.
        let isObject = value[token.range.lowerBound] == UInt8(ascii: "{")
        containers.append(isObject)
        path.append(last ?? "")
        last = nil
      case .close:
        containers.removeLast()
        path.removeLast()
        last = nil
      case .name:
        let bytes = JSONLookup.string(value.span, token.range)
        last = QueryToken.isIdentifier(bytes) ? String(decoding: bytes, as: UTF8.self) : nil
        if let last, path.count <= deepest, containers.allSatisfy(\.self),
          path.dropFirst().allSatisfy({ !$0.isEmpty })
        {
          names.append((path.dropFirst() + [last]).joined(separator: "."))
        }
      case .value: last = nil
      }
    }
    return names
  }
}
