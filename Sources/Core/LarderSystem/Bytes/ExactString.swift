/// A string that equals another string only if both have the same bytes; the store compares names and tags in this way. Swift's
/// own strings are also equal if they are the same text in Unicode: an accented letter can have one scalar or two.
package struct ExactString: Hashable, Sendable {
  package let string: String

  @inlinable
  package init(_ string: String) { self.string = string }

  @inlinable
  package static func == (left: ExactString, right: ExactString) -> Bool {
    let (left, right) = (left.string.utf8, right.string.utf8)
    // Each write compares names, so the comparison must be fast: one call compares all bytes of two spans.
    let isEqual = unsafe left.withContiguousStorageIfAvailable { left in
      unsafe right.withContiguousStorageIfAvailable { right in
        unsafe left.span.elementsEqual(right.span)
      }
    }
    return (isEqual ?? nil) ?? left.elementsEqual(right)
  }

  // Strings with the same bytes have the same hash, so the string's own hash agrees with this `==`.
  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(string) }
}

extension String {
  package func isExactly(_ other: String?) -> Bool {
    other.map { ExactString(self) == ExactString($0) } ?? false
  }
}
