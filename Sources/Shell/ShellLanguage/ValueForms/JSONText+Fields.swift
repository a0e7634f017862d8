extension JSONText {
  /// The names of an object's own fields; empty for another value, and for text that is not JSON.
  package static func names(of text: [UInt8]) -> [String] {
    (try? JSONText(text))?.fields()?.map { String(decoding: $0.name, as: UTF8.self) } ?? []
  }

  /// The paths of fields: one or two names, such as `a.b`, or `a[].b` in an array; maybe twice. Empty if `text` is no object.
  package static func paths(of text: [UInt8]) -> [String] {
    (try? JSONText(text))?.paths(in: 0, "") ?? []
  }

  private func paths(in index: Int, _ prefix: String) -> [String] {
    (fields(of: index) ?? []).flatMap { field -> [String] in
      guard QueryToken.isIdentifier(field.name) else { return [] }
      let path = prefix + String(decoding: field.name, as: UTF8.self)
      guard prefix.isEmpty else { return [path] }
      let isArray = firstByte(of: field.value) == UInt8(ascii: "[")
      let inner = isArray ? children(of: field.value).map(\.value) : [field.value]
      return [path] + inner.flatMap { paths(in: $0, path + (isArray ? "[]." : ".")) }
    }
  }

  package typealias Field = (name: [UInt8], value: Int)

  /// The fields of the object at a token, each with the index of the token of its value. Nil for a value that is not an object.
  package func fields(of index: Int = 0) -> [Field]? {
    guard firstByte(of: index) == UInt8(ascii: "{") else { return nil }
    return children(of: index).compactMap { child -> Field? in
      child.name.map { (name: string($0), value: child.value) }
    }
  }

  /// The first name that an object has twice, with the range of the second name; nil without such a name.
  package var repeatedName: (name: [UInt8], range: Range<Int>)? {
    var names: [Set<[UInt8]>] = []
    for (index, token) in tokens.enumerated() {
      switch token.kind {
      case .value: break
      case .open: names.append([])
      case .close: names.removeLast()
      case .name:
        let name = string(index)
        guard names[names.count - 1].insert(name).inserted else { return (name, token.range) }
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

  /// The first field that is not in the shape. The elements of an array have the same shape as the array.
  package func unknown(in index: Int = 0, of shape: Shape, _ object: String = "") -> Unknown? {
    guard !shape.fields.isEmpty else { return nil }
    for (position, child) in children(of: index).enumerated() {
      var (inner, path) = (shape, "\(object)[\(position)]")
      if let token = child.name {
        let name = string(token)
        guard let known = shape.fields[name] else {
          return (name, tokens[token].range, object, shape.names)
        }
        inner = known
        path = (object.isEmpty ? "" : "\(object).") + String(decoding: name, as: UTF8.self)
      }
      if let unknown = unknown(in: child.value, of: inner, path) { return unknown }
    }
    return nil
  }
}
