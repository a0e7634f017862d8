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
    var looked = 0
    let verified = try session.withSteps("checking", unit: Wording.records) { shouldContinue in
      try session.store.verify { done, all in
        looked = done
        return shouldContinue(done, all)
      }
    }
    guard let found = verified else {
      throw ShellError(
        .interrupted,
        "interrupted: checked \(Wording.records(looked)), which says nothing of the rest", hint: nil
      )
    }
    var faults = found.faults.map { Inconsistency($0) }
    if call.has("--deep") { faults += try Inconsistency.undecodable(in: session) }
    try session.answer(FaultReport(found, faults).reply(for: session.presentation))
    return faults.isEmpty ? .done : .told(1)
  }
}
