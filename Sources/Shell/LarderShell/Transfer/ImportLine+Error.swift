import Larder
import ShellLanguage

extension ImportLine {
  /// The error in a line, and its byte if that is known.
  struct ParseError: Error {
    let reason: SafeText
    var offset = 0

    init(_ reason: SafeText, at offset: Int = 0) {
      self.reason = reason
      self.offset = offset
    }

    /// The error of decoding a line.
    init(_ bytes: [UInt8], _ error: any Error) {
      do throws(JSONText.ParseError) {
        _ = try JSONText(bytes)
      } catch {
        reason = "it is \(error.predicate)"
        offset = error.offset
        return
      }
      switch error {
      case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context),
        DecodingError.valueNotFound(_, let context):
        reason = Self.reason(context.codingPath.map(\.stringValue))
      case DecodingError.keyNotFound(let key, let context):
        let place = Self.place(context.codingPath.map(\.stringValue))
        reason =
          place.isEmpty ? "it has no \(key.stringValue)" : "\(place) has no \(key.stringValue)"
      default: reason = "it is no line of an export"
      }
    }

    /// The error of a field that no line has.
    init(unknown field: JSONFields.Unknown) {
      let place = field.object.isEmpty ? "" : " in \(field.object)"
      let near = Suggestions.near(String(decoding: field.name, as: UTF8.self), among: field.known)
      let question = near.map { "; did you mean \"\($0)\"?" } ?? ""
      self.init("there is no field \(field.name)\(place)\(question)", at: field.range.lowerBound)
    }

    /// - Parameter path: The names of the field and of those around it.
    private static func reason(_ path: [String]) -> SafeText {
      if path == ["value"] {
        return "value must be a string; JSON goes in as text with \"codec\":\"json\""
      }
      if path.last == "eviction" {
        let policies = Eviction.allCases.map(\.rawValue).joined(separator: ", ")
        return "eviction names no policy of this version; the policies are \(policies)"
      }
      guard let field = path.first else { return "it is no line of an export" }
      guard field != "rules", field != "overrides" else {
        return "\(place(path)) is not as an export has it"
      }
      return "\(place(path)) must be \(expected(path))"
    }

    /// `owners[0].key`
    private static func place(_ path: [String]) -> String {
      path.reduce(into: "") { place, name in
        if let index = Self.index(name) {
          place += "[\(index)]"
        } else {
          place += place.isEmpty ? name : ".\(name)"
        }
      }
    }

    /// The names of elements are `Index 0`.
    private static func index(_ name: String) -> Int? {
      name.hasPrefix("Index ") ? Int(name.dropFirst(6)) : nil
    }

    /// The content that a field must have, in words.
    private static func expected(_ path: [String]) -> SafeText {
      if path.count > 1 {
        return path.count == 2 && path[0] == "owners"
          ? "an object with namespace and key" : "a string"
      }
      return switch path[0] {
      case "larder_export": "the number of a version"
      case "codec": "the name of a codec or a number from 0 to 255"
      case "written": "a time such as \"2026-11-21T06:30:00Z\""
      case "expires": "a time such as \"2026-11-21T06:30:00Z\", or \"never\""
      case "stale_until": "a time such as \"2026-11-21T06:30:00Z\", or null"
      case "idle": "a number of seconds"
      case "pinned": "true or false"
      case "owners": "a list of objects with namespace and key"
      case "tags": "a list of strings"
      default: "a string"
      }
    }
  }
}
