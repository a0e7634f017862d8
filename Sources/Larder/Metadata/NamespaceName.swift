/// The rule for names of namespaces, and the error for a name that has none.
enum NamespaceName {
  /// The most bytes that a name has.
  static let longest = 100

  /// Throws unless `name` is a possible name.
  static func validate(_ name: String) throws(LarderError) {
    let isPossible =
      !name.isEmpty && name.utf8.count <= longest
      && name.unicodeScalars.allSatisfy { scalar in
        !scalar.properties.isWhitespace && scalar != "@"
          && scalar.properties.generalCategory != .control
      }
    if !isPossible {
      throw LarderError(
        .invalidArgument, "\"\(name)\" cannot name a namespace",
        hint: "use 1 to \(longest) bytes without spaces, @ and control characters")
    }
  }

  /// The error of a request that needs a namespace which does not exist.
  static func absent(_ name: String) -> LarderError {
    LarderError(
      .noSuchNamespace, "there is no namespace \(name)",
      hint: "see which there are with namespaces()")
  }
}
