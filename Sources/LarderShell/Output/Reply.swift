/// What a command answers, before it is known how that is written.
package struct Reply: Sendable, Hashable {
  package enum Body: Sendable, Hashable {
    /// A list: an array in JSON. Each row has a cell for each column.
    case rows([Column], [[Cell]])
    /// One thing: an object in JSON.
    case object([Column], [Cell])
    /// Exactly these bytes in every mode.
    case bytes([UInt8])
    /// Lines that are the same in every mode, such as help.
    case text(String)
  }

  package let body: Body
  /// What a person sees in place of the body; if empty, the body as a table.
  package let sentences: [SafeText]
  /// What a person sees below it, such as the way to the rest of a list.
  package let notes: [SafeText]
  /// All data columns also where output is plain.
  package let isLong: Bool

  package init(
    _ body: Body, sentences: [SafeText] = [], notes: [SafeText] = [], isLong: Bool = false
  ) {
    self.body = body
    self.sentences = sentences
    self.notes = notes
    self.isLong = isLong
  }
}
