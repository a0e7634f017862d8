extension Store {
  /// A named part of a store with rules of its own.
  ///
  /// It is a view: making one makes nothing in the store, and it stays right when the namespace is cleared, renamed or
  /// removed by any process.
  public struct Namespace: Sendable {
    public let store: Store
    let handle: NamespaceHandle

    public var name: String { handle.name }

    var engine: StoreEngine { store.engine }

    public static let longestName = 100

    /// Throws unless `name` is 1 to 100 bytes without white space, `@` and control characters.
    static func validate(_ name: String) throws(LarderError) {
      let isPossible =
        !name.isEmpty && name.utf8.count <= longestName
        && name.unicodeScalars.allSatisfy { scalar in
          !scalar.properties.isWhitespace && scalar != "@"
            && scalar.properties.generalCategory != .control
        }
      if !isPossible {
        throw LarderError(
          .invalidArgument, "\"\(name)\" cannot name a namespace",
          hint: "use 1 to \(longestName) bytes without spaces, @ and control characters")
      }
    }
  }
}
