/// What reading a line came to, at the prompt and from a pipe alike.
package enum LineResult: Equatable, Sendable {
  /// A line without its end. Bytes from a pipe are as they came: NUL, CR and broken UTF-8 included.
  case line([UInt8])

  /// ^C was pressed: what had been typed is dropped and nothing else is.
  case interrupted

  /// ^D on an empty line, or the end of the input.
  case end
}
