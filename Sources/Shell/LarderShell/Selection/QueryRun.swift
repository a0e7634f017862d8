import Larder
import ShellLanguage

/// The queries of one command. These queries share an evaluator, and notes that the command prints at its end.
final class QueryRun {
  private var evaluator: QueryEvaluator
  var passed = 0
  private var valuesOfCBOR = 0
  /// The purpose of the first evaluation. Only this purpose counts, so an entry with several purposes counts once.
  private var counted: Purpose?

  enum Purpose { case test, order, column }

  /// Called often while a value is tested. An error that `pause` throws ends the test.
  let pause: () throws -> Void
  /// Counts the entries whose values this program cannot read. If nil, such a value is an error.
  var unreadable: UnreadableValues?

  init(now: UnixTime, pause: @escaping () throws -> Void) {
    self.pause = pause
    evaluator = QueryEvaluator(now: now, pause: pause)
  }

  func passes(_ expression: Expression, _ entry: Store.Entry, _ value: Span<UInt8>) throws -> Bool {
    let facts = EntryFacts(entry)
    return try evaluating(.test, entry, value) { try evaluator.passes(expression, facts, $0) }
  }

  /// Tests an expression on the facts of something that is not a stored entry.
  func passes(_ expression: Expression, _ facts: any QueryFacts) throws -> Bool {
    evaluator.begin(counting: false)
    return try evaluator.passes(expression, facts, Span())
  }

  /// The values of several operands as columns. An operand with `[]` gives a list of its elements, or null if there are none.
  func columns(
    _ operands: [QueryOperand], _ entry: Store.Entry, _ value: Span<UInt8>
  ) -> [QueryValue] {
    let all = allValues(operands, for: .column, entry, value, missing: nil)
    return zip(operands, all).map { operand, values in
      operand.takesEach && !values.isEmpty ? .list(values) : values.first ?? .null
    }
  }

  /// All values of several operands. The entry counts once. If an operand with `[]` finds no element, its value is `missing`.
  func allValues(
    _ operands: [QueryOperand], for purpose: Purpose, _ entry: Store.Entry, _ value: Span<UInt8>,
    missing: QueryValue? = .null
  ) -> [[QueryValue]] {
    let facts = EntryFacts(entry)
    return evaluating(purpose, entry, value) { value in
      operands.map { evaluator.all($0, facts, value, missing: $0.takesEach ? missing : .null) }
    }
  }

  /// Passes the readable form of a value to `body`. If the evaluator counts a CBOR value as not JSON, counts the value as CBOR.
  private func evaluating<Result>(
    _ purpose: Purpose, _ entry: Store.Entry, _ value: Span<UInt8>,
    _ body: (Span<UInt8>) throws -> Result
  ) rethrows -> Result {
    counted = counted ?? purpose
    evaluator.begin(counting: counted == purpose)
    let before = evaluator.valuesNotJSON
    defer {
      if evaluator.valuesNotJSON > before, DecodedValue.isCBOR(value, entry.codec) {
        valuesOfCBOR += 1
      }
    }
    return try DecodedValue.withReadable(value, entry.codec, body)
  }

  /// The notes for standard error after the command.
  var notes: [SafeText] {
    var notes: [SafeText] = []
    func add(_ count: Int, _ predicate: String) {
      guard count > 0 else { return }
      let all = Wording.count(evaluator.values, "value", "values")
      notes.append(
        "note: \(Wording.count(count)) of \(all) \(count == 1 ? "is" : "are") \(predicate)")
    }
    add(evaluator.valuesNotJSON - valuesOfCBOR, "not JSON")
    add(valuesOfCBOR, DecodedValue.unshownCBOR)
    add(evaluator.valuesTooDeep, JSONText.tooDeep)
    if passed == 0, let missed = evaluator.missedField {
      let suggestion = missed.suggestion.map { "; did you mean \($0)?" } ?? ""
      notes.append("note: no value has the field \(missed.path.text)\(suggestion)")
    }
    return notes
  }
}
