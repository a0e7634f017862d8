import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Signals that ask the process to end. While this object waits for them, they do not end the process by themselves.
struct Interruptions {
  /// One element for each signal.
  let signals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  init(by numbers: [Int32] = [SIGINT, SIGTERM]) {
    let (signals, continuation) = AsyncStream<Void>.makeStream()
    self.signals = signals
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
  }

  /// Ends the wait for signals.
  func cancel() { for source in sources { source.cancel() } }
}
