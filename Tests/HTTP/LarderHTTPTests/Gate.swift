/// Holds tasks back until a test opens it.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func wait() async {
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  /// Opens the gate, and then waits until the task is cancelled.
  func openAndStall() async throws -> Never {
    open()
    try await Task.sleep(for: .seconds(1_000_000))
    fatalError("nobody has cancelled this")
  }
}
