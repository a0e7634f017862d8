extension Duration {
  /// A lock timeout that only a defect reaches, for tests in which a thread keeps the writer lock on purpose.
  package static let ample = Duration.seconds(600)
}
