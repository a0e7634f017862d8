/// The answer of a command. The form of output decides how it is written; no command knows it.
package struct Reply: Sendable, Hashable {
  package indirect enum Body: Sendable, Hashable {
    /// A list: an array in JSON. Each row has a cell for each column.
    case rows([Column], [[Cell]])
    /// One thing: an object in JSON.
    case object([Column], [Cell])
    /// These bytes in every mode.
    case bytes([UInt8])
    /// The same lines in every mode, such as help.
    case text(String)
    /// Numbers with a bar each, as wide as the terminal.
    case chart(BarChart)
    /// One below the other.
    case parts([Body])
  }

  package let body: Body
  /// The body in forms that have one of their own: lines of plain output are cut by scripts, and a person reads tables.
  package let others: [OutputMode: Body]
  /// Sentences that a person sees instead of the body; if empty, the body as a table.
  package let sentences: [SafeText]
  /// Notes that a person sees below, such as how to see the rest of a list.
  package let notes: [SafeText]
  /// All data columns also where output is plain.
  package let isLong: Bool

  package init(
    _ body: Body, in others: [OutputMode: Body] = [:], sentences: [SafeText] = [],
    notes: [SafeText] = [], isLong: Bool = false
  ) {
    self.body = body
    self.others = others
    self.sentences = sentences
    self.notes = notes
    self.isLong = isLong
  }

  /// One thing, by its fields.
  ///
  /// - Parameter plain: The fields of its line in plain output; nil for all of them.
  package init(
    _ fields: KeyValuePairs<Column, Cell>, plain: KeyValuePairs<Column, Cell>? = nil,
    sentences: [SafeText] = []
  ) {
    let line = plain.map { [OutputMode.plain: Body.rows($0.map(\.key), [$0.map(\.value)])] }
    self.init(
      .object(fields.map(\.key), fields.map(\.value)), in: line ?? [:], sentences: sentences)
  }
}
