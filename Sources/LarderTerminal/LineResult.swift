/// The result of reading a line, at the prompt or from a pipe.
package enum LineResult: Equatable, Sendable {
  /// A line without its end. Bytes from a pipe are as they came: NUL, CR and broken UTF-8 included.
  case line([UInt8])

  /// ^C was pressed: the typed text is dropped.
  case interrupted

  /// ^D on an empty line, or the end of the input.
  case end
}
