package enum JSONFields {
  /// The paths of fields: one or two names without indexes and quotes, such as `a.b`. Empty if `value` is not an object.
  package static func names(of value: [UInt8]) -> [String] {
    guard let json = try? JSONText(value) else { return [] }
    func fields(of index: Int) -> [(name: String, value: Int)] {
      json.children(of: index).compactMap { child in
        guard let name = child.name.map(json.string), QueryToken.isIdentifier(name) else {
          return nil
        }
        return (String(decoding: name, as: UTF8.self), child.value)
      }
    }
    return fields(of: 0).flatMap { outer in
      [outer.name] + fields(of: outer.value).map { "\(outer.name).\($0.name)" }
    }
  }

  package typealias Field = (name: [UInt8], value: Range<Int>)

  /// The fields of an object; nil for a value that is not an object.
  package static func fields(of text: [UInt8]) throws(JSONText.ParseError) -> [Field]? {
    let json = try JSONText(text)
    guard text[json.tokens[0].range.lowerBound] == UInt8(ascii: "{") else { return nil }
    return json.children(of: 0).compactMap { child -> Field? in
      child.name.map { (json.string($0), json.range(of: child.value)) }
    }
  }

  /// The names of an object's own fields; empty for another value.
  package static func all(of text: [UInt8]) -> [String] {
    ((try? fields(of: text)) ?? nil)?.map { String(decoding: $0.name, as: UTF8.self) } ?? []
  }

  /// The first name that an object has a second time, with the range of the second name. Nil for any other text.
  package static func repeated(in text: [UInt8]) -> (name: [UInt8], range: Range<Int>)? {
    guard let json = try? JSONText(text) else { return nil }
    let repeated = json.tokens.indices.compactMap { object in
      var known: Set<[UInt8]> = []
      return json.children(of: object).compactMap(\.name).first {
        !known.insert(json.string($0)).inserted
      }
    }
    return repeated.min().map { (json.string($0), json.tokens[$0].range) }
  }

  /// The fields that an object may have, each with the shape of the field's own object. Empty for a value that is not an object.
  package struct Shape: Sendable {
    fileprivate let fields: [[UInt8]: Shape]
    package let names: [String]

    package init(_ names: [String] = [], _ inner: [String: Shape] = [:]) {
      self.names = names
      fields = Dictionary(
        uniqueKeysWithValues: names.map { (Array($0.utf8), inner[$0] ?? Shape()) })
    }
  }

  /// A field that the shape of its object does not contain. The range includes the quotes of the name. `object` is the path of
  /// the object, such as `owners[0]`, or empty for the root.
  package typealias Unknown = (name: [UInt8], range: Range<Int>, object: String, known: [String])

  /// The first field that is not in the shape. The elements of an array have the same shape as the array.
  package static func unknown(in text: [UInt8], of shape: Shape) -> Unknown? {
    (try? JSONText(text)).flatMap { unknown(in: $0, 0, shape, "") }
  }

  private static func unknown(
    in json: JSONText, _ index: Int, _ shape: Shape, _ object: String
  ) -> Unknown? {
    guard !shape.names.isEmpty else { return nil }
    for (number, child) in json.children(of: index).enumerated() {
      var inner = shape
      var path = "\(object)[\(number)]"
      if let token = child.name {
        let name = json.string(token)
        guard let field = shape.fields[name] else {
          return (name, json.tokens[token].range, object, shape.names)
        }
        inner = field
        path = (object.isEmpty ? "" : "\(object).") + String(decoding: name, as: UTF8.self)
      }
      if let unknown = unknown(in: json, child.value, inner, path) { return unknown }
    }
    return nil
  }
}
