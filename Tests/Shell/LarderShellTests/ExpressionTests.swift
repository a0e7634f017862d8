import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct ExpressionTests {
  private func passes(_ expression: String, _ json: String) throws -> Bool {
    let parsed = try Word(bytes(expression), isBare: false, at: 0..<expression.utf8.count + 2)
      .expression(stockholm, Variables())
    var evaluator = QueryEvaluator(now: stockholm.now) {}
    var input = QueryInput()
    input.key = bytes("a key")
    input.size = json.utf8.count
    input.tags = ["red", "blue"]
    input.written = UnixTime(milliseconds: stockholm.now.milliseconds - 3_600_000)
    input.expires = UnixTime(milliseconds: stockholm.now.milliseconds + 600_000)
    input.response = (404, [(bytes("Cache-Control"), bytes("max-age=5"))])
    return try evaluator.passes(parsed, input, bytes(json).span)
  }

  private static let set =
    #"{"name":"Hogwarts Castle","year":2018,"price":9.5,"parts":[{"n":1},{"n":7}],"odd name":null,"done":true,"big":9007199254740993,"e":"\u00e9\n"}"#

  @Test(arguments: [
    ".year = 2018", ".year == 2018.0", ".year >= 1999 and .year < 2019", "not .year < 2000",
    ".year != 2017", ".name ~ \"Castle\"", ".name ~ \"(?i)castle$\"", ".name !~ 'Burg'",
    ".year in (2017, 2018)", ".year not in (1, 2)", "\"red\" in tags", ".parts[].n = 7",
    ".parts[1].n = 7", ".parts[-2].n = 1", ".\"odd name\" = null", ".\"odd name\" is null",
    "exists .\"odd name\"", "not exists .nope", ".nope = null", ".done", ".done is bool",
    ".parts is array", ". is object", "length(.parts) = 2", "lower(.name) = \"hogwarts castle\"",
    "number(\"12\") = 12", "string(.year) = \"2018\"", "type(.price) = \"number\"",
    ".big = 9007199254740993", ".big != 9007199254740992", ".e = \"\\u00e9\\n\"",
    "size > 10 and size < 1kB", "ttl < 1h", "age >= 1h", "written > \"monday\"",
    "expires < \"midnight\"", "status in (404, 410)", "header.cache-control ~ \"max-age\"",
    "key = \"a key\"", ".year = 1 or .price > 9 and .done", "(.year = 1 or .done) and .price = 9.5",
    ".parts[0] = .parts[0]", "true", "not null",
  ])
  func `an expression holds`(expression: String) throws {
    #expect(try passes(expression, Self.set), "\(expression)")
  }

  @Test(arguments: [
    ".year < 2000", ".year = \"2018\"", ".name > 5", ".nope", ".nope > 1", ".nope < 1",
    ".name ~ \"castle\"", ".year ~ \"2\"", "pinned", ".parts[5].n = 1", "exists .parts[5]",
    "\"green\" in tags", "ttl < 1m", "written > \"now\"", ".done and .nope", "not .done",
    "status = 200", "etag = \"x\"",
  ])
  func `an expression does not hold`(expression: String) throws {
    #expect(try !passes(expression, Self.set), "\(expression)")
  }

  @Test(arguments: [
    ".a = 18446744073709551615", ".a != 18446744073709551614", ".a > 9223372036854775807",
    ".b > .c", ".c < .b", ".b > .d", ".c = .d", ".h > .a", "-1 > .l", ".h is number",
  ])
  func `numbers compare by their exact values`(expression: String) throws {
    let numbers =
      #"{"a":18446744073709551615,"b":9007199254740993,"c":9007199254740992,"d":9007199254740992.0,"h":1e400,"l":-1e400}"#
    #expect(try passes(expression, numbers), "\(expression)")
  }

  @Test func `a value that is not JSON has null paths only`() throws {
    for text in ["", "{\"year\":2018", "plain text", "{\"year\":2018} x", "[1,]", "01"] {
      #expect(try passes(".year = null", text), "\(text)")
      #expect(try !passes("exists .year", text), "\(text)")
    }
  }

  @Test(arguments: [("length(", 98), ("not ", 99)])
  func `no expression nests too deep`(part: String, depth: Int) throws {
    let text = String(repeating: part, count: 5000)
    let error = try error {
      _ = try Word(bytes(text), isBare: false, at: 10..<12 + text.utf8.count)
        .expression(stockholm, Variables())
    }
    #expect(error.message.description == "the expression is nested too deep")
    #expect(error.range?.lowerBound == 11 + depth * part.utf8.count)
  }

  @Test func `any bytes are answered`() throws {
    var random = SeededRNG()
    let pieces = [
      ".", ".a", "[", "]", "[]", "0", "-1", "\"", "'", "(", ")", " and ", " or ", "not ", "~", "=",
      "<", ">=", "in ", "is ", "null", "exists ", ":x", "1h", ",", "\u{F6}", "\\", "length(",
    ]
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 0...12, using: &random))
        .map { _ in pieces.randomElement(using: &random)! }.joined()
      do throws(ShellError) {
        _ = try Word(bytes(text), isBare: false, at: 0..<text.utf8.count + 2)
          .expression(stockholm, Variables())
      } catch {
        #expect(error.code == .badExpression, "LARDER_SEED=\(random.seed): \(text)")
      }
    }
  }
}
