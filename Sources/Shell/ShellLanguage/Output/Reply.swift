/// The answer of a command, independent of its form.
package struct Reply: Sendable, Hashable {
  package enum Body: Sendable, Hashable {
    /// A list: an array in JSON. Each row has a cell for each column.
    case rows([Column], [[Cell]])
    /// One thing: an object in JSON.
    case object([Column], [Cell])
    /// These bytes in every mode.
    case bytes([UInt8])
    /// The same lines in every mode, such as help.
    case text(String)
  }

  package let body: Body
  /// Sentences that a person sees instead of the body; if empty, the body as a table.
  package let sentences: [SafeText]
  /// Notes that a person sees below, such as how to see the rest of a list.
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

  /// One thing, by its fields.
  package init(_ fields: KeyValuePairs<Column, Cell>, sentences: [SafeText] = []) {
    self.init(.object(fields.map(\.key), fields.map(\.value)), sentences: sentences)
  }
}
