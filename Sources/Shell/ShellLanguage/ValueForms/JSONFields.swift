package enum JSONFields {
  /// The paths of one or two fields without indexes and quotes, such as `a.b`. Empty if `value` is not an object.
  package static func names(of value: [UInt8]) -> [String] {
    (try? JSONText(value)).map { names(in: $0, 0, levels: 2) } ?? []
  }

  private static func names(in json: JSONText, _ index: Int, levels: Int) -> [String] {
    guard levels > 0 else { return [] }
    return json.children(of: index).flatMap { name, value -> [String] in
      guard let name = name.map(json.string), QueryToken.isIdentifier(name) else { return [] }
      let path = String(decoding: name, as: UTF8.self)
      return [path] + names(in: json, value, levels: levels - 1).map { "\(path).\($0)" }
    }
  }

  package typealias Field = (name: [UInt8], value: Range<Int>)

  /// The fields of an object; nil for a value that is not an object.
  package static func fields(of text: [UInt8]) throws(JSONText.ParseError) -> [Field]? {
    let json = try JSONText(text)
    guard json.text(json.tokens[0]) == Array("{".utf8) else { return nil }
    return json.children(of: 0).compactMap { name, value in
      name.map { (name: json.string($0), value: json.range(of: value)) }
    }
  }

  /// The names of an object's own fields; empty for another value.
  package static func all(of text: [UInt8]) -> [String] {
    ((try? fields(of: text)) ?? nil)?.map { String(decoding: $0.name, as: UTF8.self) } ?? []
  }

  /// A name that occurs twice in one object, with the range of the second one. Nil if there is none, or for invalid JSON.
  package static func repeated(in text: [UInt8]) -> (name: [UInt8], range: Range<Int>)? {
    guard let json = try? JSONText(text) else { return nil }
    // The names in each array or object that is open.
    var names: [Set<[UInt8]>] = []
    for (index, token) in json.tokens.enumerated() {
      switch token.kind {
      case .open: names.append([])
      case .close: names.removeLast()
      case .name:
        let name = json.string(index)
        guard names[names.count - 1].insert(name).inserted else { return (name, token.range) }
      case .value: break
      }
    }
    return nil
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

  /// A field that the shape of its object does not contain.
  ///
  /// The range includes the quotes of the name. `object` is the path of the object, such as `owners[0]`, or empty for the root.
  package typealias Unknown = (name: [UInt8], range: Range<Int>, object: String, known: [String])

  /// The first field that is not in the shape; nil also for invalid JSON. The elements of an array have the shape of the array.
  package static func unknown(in text: [UInt8], of shape: Shape) -> Unknown? {
    (try? JSONText(text)).flatMap { unknown(in: $0, 0, shape, "") }
  }

  private static func unknown(
    in json: JSONText, _ index: Int, _ shape: Shape, _ object: String
  ) -> Unknown? {
    guard !shape.fields.isEmpty else { return nil }
    for (number, child) in json.children(of: index).enumerated() {
      var (inner, path) = (shape, "\(object)[\(number)]")
      if let token = child.name {
        let name = json.string(token)
        guard let known = shape.fields[name] else {
          return (name, json.tokens[token].range, object, shape.names)
        }
        inner = known
        path = (object.isEmpty ? "" : "\(object).") + String(decoding: name, as: UTF8.self)
      }
      if let unknown = unknown(in: json, child.value, inner, path) { return unknown }
    }
    return nil
  }
}
