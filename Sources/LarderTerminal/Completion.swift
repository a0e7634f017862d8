/// The candidates for the word at the cursor.
package struct Completion: Equatable, Sendable {
  package struct Candidate: Equatable, Sendable {
    /// The text to insert, with quotes; ends in a space if the word is complete.
    package let insertion: String

    /// The text in the list.
    package let label: String

    package init(_ insertion: String, label: String? = nil) {
      self.insertion = insertion
      self.label = label ?? insertion
    }
  }

  /// The byte of the line at which the word begins; a candidate replaces the bytes up to the cursor.
  package let start: Int

  package let candidates: [Candidate]

  /// There are more candidates than these.
  package let isCut: Bool

  package init(from start: Int, _ candidates: [Candidate], isCut: Bool = false) {
    self.start = start
    self.candidates = candidates
    self.isCut = isCut
  }

  package static let none = Completion(from: 0, [])

  /// The longest text all candidates begin with.
  ///
  /// Compared by scalar: the editor counts scalars, and two keys may part inside a grapheme.
  var commonPrefix: String {
    guard let first = candidates.first?.insertion.unicodeScalars else { return "" }
    let shared = candidates.dropFirst().reduce(first[...]) { shared, candidate in
      let length = zip(shared, candidate.insertion.unicodeScalars).prefix { $0 == $1 }.count
      return shared.prefix(length)
    }
    return String(shared)
  }
}
