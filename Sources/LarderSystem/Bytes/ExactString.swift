/// A string that equals another one only if both have the same bytes, as the names and tags in a store.
///
/// Swift's own strings are equal, too, if Unicode holds them for the same text, such as an accented letter that is one scalar or two.
package struct ExactString: Hashable, Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }

  package static func == (left: ExactString, right: ExactString) -> Bool {
    left.string.utf8.elementsEqual(right.string.utf8)
  }

  // Strings with the same bytes have the same hash.
  package func hash(into hasher: inout Hasher) { hasher.combine(string) }
}
