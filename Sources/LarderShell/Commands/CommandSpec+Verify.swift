import Larder

extension CommandSpec {
  static let verify = CommandSpec(
    "verify", aliases: ["check"], .store, .reads,
    "Checks the store; exit code 1 if it finds a fault.",
    options: [.flag("--deep", "also decode every value, as its codec says")],
    examples: [
      Example("verify", "every record, checksum, index and count"),
      Example("verify --deep", "and whether JSON is JSON"),
    ],
    run: verifyStore)

  private static func verifyStore(_ call: Invocation, in session: Session) throws -> Outcome {
    let found = try session.store.verify()
    var faults = found.faults.map { Fault($0) }
    if call.has("--deep") { faults += try Fault.undecodable(in: session) }
    try session.answer(FaultReport(found, faults).reply(for: session.presentation))
    return faults.isEmpty ? .done : .told(1)
  }
}
