/// The answer of a command. The output mode decides how the answer is written, so most commands do not know this mode.
package struct Reply: Sendable {
  package indirect enum Body: Sendable {
    /// A list, which is an array in JSON. Each row has a cell for each column.
    case rows([Column], [[Cell]])
    /// The facts of one thing, which are an object in JSON.
    case object([Column], [Cell])
    /// Bytes that are the same in every mode.
    case bytes([UInt8])
    /// Lines that are the same in every mode, such as help.
    case text(String)
    case chart([(label: String, count: Int)])
    case parts([Body])
  }

  package let body: Body
  /// The bodies for modes that do not use `body`: for example, plain output may have fewer facts than a table.
  package let others: [OutputMode: Body]
  /// Sentences that a person sees instead of the body. If empty, a person sees the body as a table.
  package let sentences: [SafeText]
  /// Notes that a person sees below the answer, such as how to see the rest of a list.
  package let notes: [SafeText]
  /// Whether plain output has all data columns, and a table has its columns for `--long`.
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

  /// The reply about one thing. `plain` has the fields of plain output; if nil, plain output has all fields.
  package init(
    _ fields: KeyValuePairs<Column, Cell>, plain: KeyValuePairs<Column, Cell>? = nil,
    sentences: [SafeText] = []
  ) {
    let line = plain.map { [OutputMode.plain: Body.rows($0.map(\.key), [$0.map(\.value)])] }
    self.init(
      .object(fields.map(\.key), fields.map(\.value)), in: line ?? [:], sentences: sentences)
  }
}
