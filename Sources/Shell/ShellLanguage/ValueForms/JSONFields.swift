package enum JSONFields {
  private static let deepest = 2

  /// The paths of fields: one or two names without indexes and quotes, such as `a.b`. Empty if `value` is not an object.
  package static func names(of value: [UInt8]) -> [String] {
    var names: [String] = []
    let failure = JSONGrammar.failure(of: value.span) { bytes, index throws(JSONError) in
      try addNames(bytes, &index, depth: 0, "", to: &names)
    }
    return failure == nil ? names : []
  }

  package typealias Field = (name: [UInt8], value: Range<Int>)

  /// The fields of an object; nil for a value that is not an object.
  package static func fields(of text: [UInt8]) throws(JSONText.ParseError) -> [Field]? {
    guard String(validating: text, as: UTF8.self) != nil else {
      throw JSONText.ParseError(reason: "not UTF-8", offset: 0)
    }
    var fields: [Field]?
    let failure = JSONGrammar.failure(of: text.span) { bytes, index throws(JSONError) in
      guard index < bytes.count, bytes[index] == UInt8(ascii: "{") else {
        return try JSONGrammar.value(bytes, &index, depth: 0)
      }
      var found: [Field] = []
      try JSONGrammar.parts(bytes, &index, depth: 0) { bytes, name, index throws(JSONError) in
        let start = index
        try JSONGrammar.value(bytes, &index, depth: 1)
        if let name { found.append((JSONLookup.string(bytes, name), start..<index)) }
      }
      fields = found
    }
    if let failure { throw JSONText.ParseError(failure) }
    return fields
  }

  /// The names of an object's own fields; empty for another value.
  package static func all(of text: [UInt8]) -> [String] {
    ((try? fields(of: text)) ?? nil)?.map { String(decoding: $0.name, as: UTF8.self) } ?? []
  }

  /// - Parameter path: The path of the value with a final dot. Nil if the path needs an index or quotes.
  private static func addNames(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int, _ path: String?,
    to names: inout [String]
  ) throws(JSONError) {
    guard let path, depth < deepest, JSONGrammar.opens(bytes, index),
      bytes[index] == UInt8(ascii: "{")
    else { return try JSONGrammar.value(bytes, &index, depth: depth) }
    try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, name, index throws(JSONError) in
      let name = name.map { JSONLookup.string(bytes, $0) }.flatMap {
        QueryToken.isIdentifier($0) ? path + String(decoding: $0, as: UTF8.self) : nil
      }
      if let name { names.append(name) }
      try addNames(bytes, &index, depth: depth + 1, name.map { $0 + "." }, to: &names)
    }
  }

  /// A name that an object has twice, with the range of its second occurrence. Nil without such a name, or for invalid JSON.
  package static func repeated(in text: [UInt8]) -> (name: [UInt8], range: Range<Int>)? {
    var repeated: Range<Int>?
    let failure = JSONGrammar.failure(of: text.span) { bytes, index throws(JSONError) in
      try findRepeated(bytes, &index, depth: 0, &repeated)
    }
    return failure == nil ? repeated.map { (JSONLookup.string(text.span, $0), $0) } : nil
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

  /// The first field that is not in the shape. The elements of an array have the same shape as the array.
  package static func unknown(in text: [UInt8], of shape: Shape) -> Unknown? {
    var unknown: Unknown?
    // Ignores an error of the JSON text: an unknown name before the error is still reported.
    _ = JSONGrammar.failure(of: text.span) { bytes, index throws(JSONError) in
      try findUnknown(bytes, &index, depth: 0, shape, "", &unknown)
    }
    return unknown
  }

  private static func findUnknown(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int, _ shape: Shape?, _ object: String,
    _ unknown: inout Unknown?
  ) throws(JSONError) {
    guard let shape, !shape.fields.isEmpty, JSONGrammar.opens(bytes, index) else {
      return try JSONGrammar.value(bytes, &index, depth: depth)
    }
    var count = 0
    try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, name, index throws(JSONError) in
      var inner: Shape? = shape
      var path = "\(object)[\(count)]"
      if let range = name {
        let name = JSONLookup.string(bytes, range)
        inner = shape.fields[name]
        if inner == nil, unknown == nil {
          unknown = (name, range, object, shape.names)
        }
        path = (object.isEmpty ? "" : "\(object).") + String(decoding: name, as: UTF8.self)
      }
      count += 1
      try findUnknown(bytes, &index, depth: depth + 1, inner, path, &unknown)
    }
  }

  private static func findRepeated(
    _ bytes: Span<UInt8>, _ index: inout Int, depth: Int, _ repeated: inout Range<Int>?
  ) throws(JSONError) {
    guard JSONGrammar.opens(bytes, index) else { return try JSONGrammar.scalar(bytes, &index) }
    var names: Set<[UInt8]> = []
    try JSONGrammar.parts(bytes, &index, depth: depth) { bytes, name, index throws(JSONError) in
      if let name, !names.insert(JSONLookup.string(bytes, name)).inserted {
        repeated = repeated ?? name
      }
      try findRepeated(bytes, &index, depth: depth + 1, &repeated)
    }
  }
}
