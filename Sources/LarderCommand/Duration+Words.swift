extension Duration {
  /// `1.24 s`, `3.1 ms`
  var words: String {
    let milliseconds = self / .milliseconds(1)
    return milliseconds >= 1000
      ? "\(Self.rounded(milliseconds / 1000, to: 100)) s"
      : "\(Self.rounded(milliseconds, to: 10)) ms"
  }

  private static func rounded(_ number: Double, to parts: Double) -> Double {
    (number * parts).rounded() / parts
  }
}
