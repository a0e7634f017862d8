import Larder
import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The fields of a line of an export, by their names. A field with the value null counts as absent.
struct LineFields {
  typealias ParseError = ImportLine.ParseError

  private static let decoder = JSONDecoder()
  static let names = CSV.header(ExportFormat.columns).compactMap(\.self)
  private static let shape = JSONText.Shape(
    ["larder_export", "namespace", "rules", "overrides"] + names.dropFirst(),
    [
      "rules": rules(Rules.CodingKeys.allCases.map(\.rawValue)),
      "overrides": rules(Rules.Overrides.CodingKeys.allCases.map(\.rawValue)),
      "owners": .init(["namespace", "key", "key_base64"]),
    ])

  private static func rules(_ names: [String]) -> JSONText.Shape {
    JSONText.Shape(
      names,
      [
        Rules.CodingKeys.expires.rawValue: .init(Expiration.CodingKeys.allCases.map(\.rawValue)),
        Rules.CodingKeys.limits.rawValue: .init(Limits.CodingKeys.allCases.map(\.rawValue)),
      ])
  }

  private let json: JSONText
  private let text: [UInt8]
  /// For messages: the place of an object within a line, such as `owners[0].`.
  private let place: String
  /// The index of the token of each value.
  private let values: [String: Int]
  let count: Int

  init(_ text: [UInt8]) throws(ParseError) {
    let json: JSONText
    do throws(JSONText.ParseError) {
      json = try JSONText(text)
    } catch { throw ParseError("it is \(error.predicate)", at: error.offset) }
    // If two fields had the same name, one field would be lost without notice. So such a line is an error.
    if let (name, range) = json.repeatedName {
      throw ParseError("\(name) is there twice", at: range.lowerBound)
    }
    try self.init(json, 0)
  }

  /// - Parameter object: The index of the token of the object.
  init(_ json: JSONText, _ object: Int, in place: String = "") throws(ParseError) {
    guard let fields = json.fields(of: object) else {
      throw ParseError("it is no line of an export")
    }
    (self.json, text, self.place, count) = (json, json.bytes, place, fields.count)
    let present = fields.filter { json.firstByte(of: $0.value) != UInt8(ascii: "n") }
    values = Dictionary(present.map { (String(decoding: $0.name, as: UTF8.self), $0.value) }) { $1 }
  }

  /// Throws if the line has a field that exports do not have.
  func checkNames() throws(ParseError) {
    guard let field = json.unknown(of: Self.shape) else { return }
    let place = field.object.isEmpty ? "" : " in \(field.object)"
    let near = Suggestions.all(String(decoding: field.name, as: UTF8.self), among: field.known)
    let question = near.first.map { "; did you mean \"\($0)\"?" } ?? ""
    throw ParseError(
      "there is no field \(field.name)\(place)\(question)", at: field.range.lowerBound)
  }

  /// The first field that occurs only in lines of entries; nil if the line has no such field.
  var nameOfEntry: String? { Self.names.first { $0 != "namespace" && values[$0] != nil } }

  private func value(_ name: String) -> QueryValue? {
    values[name].map { JSONLookup.value(text.span, json.range(of: $0)) }
  }

  private func wrong(_ name: String, _ expected: SafeText) -> ParseError {
    ParseError("\(place)\(name) must be \(expected)")
  }

  func string(_ name: String, _ expected: SafeText = "a string") throws(ParseError) -> [UInt8]? {
    guard let range = values[name].map(json.range) else { return nil }
    guard case .string(let string) = JSONLookup.value(text.span, range),
      !text[range].contains(.backslash) || JSONLookup.decoded(text.span, range).isWhole
    else { throw wrong(name, expected) }
    return string
  }

  /// The bytes of a field. The field `name` has text, the field `name_base64` has base64.
  func bytes(_ name: String) throws(ParseError) -> [UInt8]? {
    let string = try string(
      name, name == "value" ? "a string; JSON goes in as text with \"codec\":\"json\"" : "a string")
    guard let base64 = try self.string(name + "_base64") else { return string }
    guard string == nil, let data = Data(base64Encoded: Data(base64)) else {
      throw ParseError(string == nil ? "\(name)_base64 is not base64" : "\(name) is there twice")
    }
    return Array(data)
  }

  /// - Parameter convert: Returns nil for a value of another type, so that the error names the expected type.
  func field<Value>(
    _ name: String, _ expected: SafeText, _ convert: (QueryValue) -> Value?
  ) throws(ParseError) -> Value? {
    guard let value = value(name) else { return nil }
    guard let converted = convert(value) else { throw wrong(name, expected) }
    return converted
  }

  func isNever(_ name: String) -> Bool { value(name) == .string(Array(ExportFormat.never.utf8)) }

  /// - Parameter also: Words for the error: other forms that the field may have.
  func time(_ name: String, _ also: SafeText = "") throws(ParseError) -> Timestamp? {
    try field(name, "a time such as \"2026-11-21T06:30:00Z\"\(also)") {
      switch $0 {
      case .string(let text):
        UnixTime(rfc3339: String(decoding: text, as: UTF8.self)).map { Timestamp($0) }
      // An export writes only the times that RFC 3339 cannot express as numbers. Another number may be in seconds.
      case .integer(let number):
        Int64(exactly: number).flatMap {
          (0...UnixTime.last.milliseconds).contains($0) ? nil : Timestamp(milliseconds: $0)
        }
      default: nil
      }
    }
  }

  private func elements(_ name: String, _ expected: SafeText) throws(ParseError) -> [Int] {
    guard let index = values[name] else { return [] }
    guard json.firstByte(of: index) == UInt8(ascii: "[") else { throw wrong(name, expected) }
    return json.children(of: index).map(\.value)
  }

  func strings(_ name: String) throws(ParseError) -> [String] {
    var strings: [String] = []
    for (index, value) in try elements(name, "a list of strings").enumerated() {
      guard case .string(let string) = JSONLookup.value(text.span, json.range(of: value)) else {
        throw wrong("\(name)[\(index)]", "a string")
      }
      strings.append(String(decoding: string, as: UTF8.self))
    }
    return strings
  }

  func owners() throws(ParseError) -> [Owner] {
    var owners: [Owner] = []
    let places = try elements("owners", "a list of objects with namespace and key")
    for (index, object) in places.enumerated() {
      guard json.fields(of: object) != nil else {
        throw wrong("owners[\(index)]", "an object with namespace and key")
      }
      let owner = try LineFields(json, object, in: "owners[\(index)].")
      guard let namespace = try owner.string("namespace") else {
        throw ParseError("owners[\(index)] has no namespace")
      }
      guard let key = try owner.bytes("key") else { throw ParseError("an owner has no key") }
      owners.append(Owner(Key(key), in: String(decoding: namespace, as: UTF8.self)))
    }
    return owners
  }

  /// Rules as an export writes them.
  static func json(of rules: some Encodable) throws -> JSON {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A foreign store can have any text as a zone, and the export may go to a terminal.
    return .verbatim(String(decoding: JSON.printable(try encoder.encode(rules)), as: UTF8.self))
  }

  func rules<Value: Decodable>(_ name: String) throws(ParseError) -> Value? {
    guard let range = values[name].map(json.range) else { return nil }
    do { return try Self.decoder.decode(Value.self, from: Data(text[range])) } catch {
      throw ParseError(Self.reason(error, name))
    }
  }

  private static func reason(_ error: any Error, _ name: String) -> SafeText {
    func place(_ context: DecodingError.Context) -> String {
      ([name] + context.codingPath.map(\.stringValue)).joined(separator: ".")
    }
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return "\(place(context)) has no \(key.stringValue)"
    case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context),
      DecodingError.valueNotFound(_, let context):
      guard context.codingPath.last?.stringValue == "eviction" else {
        return "\(place(context)) is not as an export has it"
      }
      let policies = Eviction.allCases.map(\.rawValue).joined(separator: ", ")
      return "eviction names no policy of this version; the policies are \(policies)"
    default: return "\(name) is not as an export has it"
    }
  }
}
